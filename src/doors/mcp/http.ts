/** MCP over HTTP, stateless: the HTTP door has already found out who asks and checked host and origin. */
import {
  type AuthInfo,
  createMcpHandler,
  type McpRequestContext,
  type McpServer,
  type McpServerFactory,
  type McpServerOptions,
  type ServerEventBus,
} from '@modelcontextprotocol/server'
import type { Engine } from '../../engine/engine.ts'
import { isHolderName } from '../../model/partition.ts'
import type { Viewer } from '../../model/viewer.ts'
import type { Catalog } from '../../ops/catalog.ts'
import { isListening, listenOverHttp } from './live/http-listen.ts'
import { makeServer } from './server.ts'
import type { ServerOptions } from './server-options.ts'
import { makeTools, type Tool } from './tools/tools.ts'

/** `remote`: whether the limits of requesters apply. */
type Answering = (request: Request, viewer: Viewer, remote: boolean) => Promise<Response>

/** `?lens=<name>` offers that lens's tools. Throws `unknown_lens`. */
export function mcpOverHttp(engine: Engine, catalog: Catalog): Answering {
  const lenses = engine.lenses.map(lens => lens.name)
  const sets = new Map<string | undefined, readonly Tool[]>()
  const toolsOf = (lens: string | undefined): readonly Tool[] => {
    const tools = sets.get(lens) ?? makeTools(catalog, lens, lenses)
    sets.set(lens, tools)
    return tools
  }
  const make = (options: ServerOptions, { era }: Pick<McpRequestContext, 'era'>): McpServer =>
    makeServer(engine, toolsOf(options.lens), options, era === 'modern' ? TELLING_CHANGES : {})
  const serve = overHttp(make)
  return (request, viewer, remote) => {
    // Before there is a server: an unknown lens is a wrong address.
    toolsOf(lensOf(request))
    if (!isListening(request)) return serve(request, viewer, remote)
    const authInfo = authInfoOf(request, viewer, remote)
    return listenOverHttp(engine, factoryOf(make), request, optionsOf(authInfo), authInfo)
  }
}

/** A listener's stream is a request of its own; the older revision would need a session to tell changes in. */
const TELLING_CHANGES: McpServerOptions = { capabilities: { resources: { subscribe: true } } }

type Make = (options: ServerOptions, context: Pick<McpRequestContext, 'era'>) => McpServer

/** Servers for requests, one each. `bus` brings what open subscriptions are told. */
export function overHttp(make: Make, bus?: ServerEventBus): Answering {
  const handler = createMcpHandler(factoryOf(make), bus === undefined ? {} : { bus })
  return (request, viewer, remote) => handler.fetch(request, { authInfo: authInfoOf(request, viewer, remote) })
}

function factoryOf(make: Make): McpServerFactory {
  return context => make(optionsOf(context.authInfo), context)
}

function authInfoOf(request: Request, viewer: Viewer, remote: boolean): AuthInfo {
  const extra = { viewer: viewer.id, remote, lens: lensOf(request) }
  return { token: '', clientId: viewer.id, scopes: [], extra }
}

function optionsOf(authInfo: AuthInfo | undefined): ServerOptions {
  const { viewer: id, remote, lens } = authInfo?.extra ?? {}
  if (typeof id !== 'string' || !isHolderName(id)) throw new Error('invariant broken: a request without a viewer')
  return { viewer: { id }, lens: typeof lens === 'string' ? lens : undefined, remote: remote === true }
}

function lensOf(request: Request): string | undefined {
  return new URL(request.url).searchParams.get('lens') ?? undefined
}

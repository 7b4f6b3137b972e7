/** MCP over HTTP, stateless: the HTTP door has already found out who asks and checked host and origin. */
import {
  createMcpHandler,
  type McpRequestContext,
  type McpServer,
  type ServerEventBus,
} from '@modelcontextprotocol/server'
import type { Engine } from '../../engine/engine.ts'
import { isHolderName } from '../../model/partition.ts'
import type { Viewer } from '../../model/viewer.ts'
import type { Catalog } from '../../ops/catalog.ts'
import { makeServer } from './server.ts'
import type { ServerOptions } from './server-options.ts'
import { makeTools, type Tool } from './tools/tools.ts'

/** `?lens=<name>` offers that lens's tools. Throws `unknown_lens`. */
export function mcpOverHttp(engine: Engine, catalog: Catalog): (request: Request, viewer: Viewer) => Promise<Response> {
  const lenses = engine.lenses.map(lens => lens.name)
  const sets = new Map<string | undefined, readonly Tool[]>()
  const toolsOf = (lens: string | undefined): readonly Tool[] => {
    const tools = sets.get(lens) ?? makeTools(catalog, lens, lenses)
    sets.set(lens, tools)
    return tools
  }
  const serve = overHttp(options => makeServer(engine, toolsOf(options.lens), options))
  return (request, viewer) => {
    // Before there is a server: an unknown lens is a wrong address.
    toolsOf(lensOf(request))
    return serve(request, viewer)
  }
}

/** Servers for requests, one each. `bus` brings what open subscriptions are told. */
export function overHttp(
  make: (options: ServerOptions) => McpServer,
  bus?: ServerEventBus,
): (request: Request, viewer: Viewer) => Promise<Response> {
  const factory = ({ authInfo }: McpRequestContext): McpServer => {
    const { viewer: id, remote, lens } = authInfo?.extra ?? {}
    if (typeof id !== 'string' || !isHolderName(id)) throw new Error('invariant broken: a request without a viewer')
    return make({ viewer: { id }, lens: typeof lens === 'string' ? lens : undefined, remote: remote === true })
  }
  const handler = createMcpHandler(factory, bus === undefined ? {} : { bus })
  return (request, viewer) => {
    const extra = { viewer: viewer.id, remote: request.headers.has('authorization'), lens: lensOf(request) }
    return handler.fetch(request, { authInfo: { token: '', clientId: viewer.id, scopes: [], extra } })
  }
}

function lensOf(request: Request): string | undefined {
  return new URL(request.url).searchParams.get('lens') ?? undefined
}

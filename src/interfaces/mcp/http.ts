/**
 * MCP over HTTP, without sessions. The HTTP interface has already authenticated the requester and checked host and origin of the request.
 */
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
import { isListening, listenOverHttp } from './live.ts'
import { makeServer } from './server.ts'
import { oneLens } from './stdio.ts'
import type { ServerOptions } from './tool-call.ts'
import { makeTools, type Tool, type ToolChoice } from './tools.ts'

/** Function that answers an HTTP request to `/mcp`. `remote`: whether the requester is subject to limits. */
type Answering = (request: Request, viewer: Viewer, remote: boolean) => Promise<Response>

/** Maximum number of sets of tools in the cache. A server object is created for each request, and most requests use the same tools. */
const MAX_SETS = 50

/**
 * Returns a function that answers requests to `/mcp`. The URL parameters `?lens=<name>` (repeatable), `?tools=<names>` and
 * `?detail=concise` have the meaning of the flags of `querent mcp`; the returned function throws if a lens or tool does not exist.
 */
export function mcpOverHttp(engine: Engine, catalog: Catalog): Answering {
  const lenses = engine.lenses.map(lens => lens.name)
  const sets = new Map<string, readonly Tool[]>()
  const toolsOf = (choice: ToolChoice): readonly Tool[] => {
    const key = JSON.stringify(choice)
    const tools = sets.get(key) ?? makeTools(catalog, choice, lenses)
    if (sets.size < MAX_SETS) sets.set(key, tools)
    return tools
  }
  const make: Make = ({ choice, ...options }, { era }) =>
    makeServer(engine, toolsOf(choice), options, era === 'modern' ? NOTIFYING : {})
  const serve = overHttp(make)
  return (request, viewer, remote) => {
    // The chosen tools are checked before a server is created, because an unknown lens means that the URL itself is wrong.
    toolsOf(chosenBy(request).choice)
    if (!isListening(request)) return serve(request, viewer, remote)
    const authInfo = authInfoOf(request, viewer, remote)
    return listenOverHttp(engine, factoryOf(make), request, optionsOf(authInfo), authInfo)
  }
}

/**
 * Option that lets a server notify clients about changed resources. Only used for streams that a client opened to listen; the older
 * revision of MCP would need a session for notifications.
 */
const NOTIFYING: McpServerOptions = { capabilities: { resources: { subscribe: true } } }

type Make = (options: Chosen & ServerOptions, context: Pick<McpRequestContext, 'era'>) => McpServer

/** Answers HTTP requests with an MCP server created for each of them. `bus` delivers change notifications to a client that listens. */
export function overHttp(make: Make, bus?: ServerEventBus): Answering {
  const handler = createMcpHandler(factoryOf(make), bus === undefined ? {} : { bus })
  return (request, viewer, remote) => handler.fetch(request, { authInfo: authInfoOf(request, viewer, remote) })
}

function factoryOf(make: Make): McpServerFactory {
  return context => make(optionsOf(context.authInfo), context)
}

function authInfoOf(request: Request, viewer: Viewer, remote: boolean): AuthInfo {
  const extra = { viewer: viewer.id, remote, ...chosenBy(request) }
  return { token: '', clientId: viewer.id, scopes: [], extra }
}

function optionsOf(authInfo: AuthInfo | undefined): Chosen & ServerOptions {
  // The cast is safe: `authInfoOf` made this object for the same request.
  const { viewer: id, remote, choice, concise } = (authInfo?.extra ?? {}) as Partial<Chosen> & Record<string, unknown>
  if (typeof id !== 'string' || !isHolderName(id) || choice === undefined) {
    throw new Error('invariant broken: a request without a viewer')
  }
  return { viewer: { id }, choice, concise, lens: oneLens(choice), remote: remote === true }
}

interface Chosen {
  readonly choice: ToolChoice
  readonly concise?: boolean | undefined
}

function chosenBy(request: Request): Chosen {
  const { searchParams } = new URL(request.url)
  const tools = searchParams.getAll('tools').flatMap(names => names.split(','))
  const choice = { lenses: searchParams.getAll('lens'), tools: tools.filter(name => name !== '') }
  return { choice, concise: searchParams.get('detail') === 'concise' }
}

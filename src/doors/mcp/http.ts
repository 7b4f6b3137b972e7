/** MCP over HTTP, stateless: the HTTP door has already found out who asks and checked host and origin. */
import { createMcpHandler } from '@modelcontextprotocol/server'
import type { Engine } from '../../engine/engine.ts'
import { isHolderName } from '../../model/partition.ts'
import type { Viewer } from '../../model/viewer.ts'
import type { Catalog } from '../../ops/catalog.ts'
import { makeServer } from './server.ts'
import { makeTools } from './tools.ts'

export function mcpOverHttp(engine: Engine, catalog: Catalog): (request: Request, viewer: Viewer) => Promise<Response> {
  const tools = makeTools(catalog, undefined, [])
  const handler = createMcpHandler(({ authInfo }) => {
    const id = authInfo?.extra?.['viewer']
    if (typeof id !== 'string' || !isHolderName(id)) throw new Error('invariant broken: a request without a viewer')
    return makeServer(engine, tools, { viewer: { id }, lens: undefined, remote: authInfo?.extra?.['remote'] === true })
  })
  return (request, viewer) => {
    const extra = { viewer: viewer.id, remote: request.headers.has('authorization') }
    return handler.fetch(request, { authInfo: { token: '', clientId: viewer.id, scopes: [], extra } })
  }
}

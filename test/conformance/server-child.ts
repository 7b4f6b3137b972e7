/** A server of the product on a home, at an address it prints; with `fixtures` also what the conformance suites call by name. */
import { InMemoryServerEventBus } from '@modelcontextprotocol/server'
import { openEngine } from '../../src/engine/open.ts'
import { serveHttp } from '../../src/interfaces/http/server.ts'
import { mcpOverHttp, overHttp } from '../../src/interfaces/mcp/http.ts'
import { makeServer } from '../../src/interfaces/mcp/server.ts'
import { makeTools } from '../../src/interfaces/mcp/tools.ts'
import { makeCatalog } from '../../src/ops/catalog.ts'
import { addAskingFixtures, verifyState } from './asking-fixtures.ts'
import { addFixtures } from './fixtures.ts'

const [home, kind] = process.argv.slice(2)
const engine = await openEngine({ home, background: false, embedder: 'none' })
const catalog = makeCatalog(engine)
const tools = makeTools(catalog, {}, [])
const bus = new InMemoryServerEventBus()
const settings = {
  capabilities: { logging: {}, tools: { listChanged: true }, prompts: { listChanged: true } },
  requestState: { verify: verifyState },
}
const withFixtures = overHttp(options => {
  const server = makeServer(engine, tools, options, settings)
  addFixtures(server, bus)
  addAskingFixtures(server)
  return server
}, bus)
const mcp = kind === 'fixtures' ? withFixtures : mcpOverHttp(engine, catalog)

const ending = new AbortController()
process.once('SIGTERM', () => ending.abort())
await serveHttp(engine, catalog, { host: '127.0.0.1', port: 0, tokens: undefined, mcp }, ending.signal, url => {
  process.stdout.write(`${url}/mcp\n`)
})
await engine.close()

/**
 * The HTTP interface over the home of 100,000 entries, in a process of its own, as `querent serve` runs it; only the embedder is a
 * stand-in, as in every measurement of large stores. `node --expose-gc server.ts <home>` sends its address; then
 * it answers `look` with its memory and its processor time, and `floor` with the kernel's floor.
 */
import { type Embedder, modelKey } from '../../../src/embed/embedder.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { openEngine } from '../../../src/engine/open.ts'
import type { KernelVectorIndex } from '../../../src/index/vectors.ts'
import { serveHttp } from '../../../src/interfaces/http/server.ts'
import { mcpOverHttp } from '../../../src/interfaces/mcp/http.ts'
import { LOCAL_OWNER } from '../../../src/model/viewer.ts'
import { makeCatalog } from '../../../src/ops/catalog.ts'
import { percentile, timed } from '../report.ts'
import { heldOut, openStandIn } from '../stand-in.ts'
import type { Look } from './serving.ts'

const [home = ''] = process.argv.slice(2)

const embedder = await openStandIn()
const engine = await openEngine({ home, embedder, background: true })
const catalog = makeCatalog(engine)
const options = { host: '127.0.0.1', port: 0, tokens: undefined, mcp: mcpOverHttp(engine, catalog) }
const end = new AbortController()
process.on('disconnect', () => end.abort())
process.on('message', asked => process.send?.(asked === 'floor' ? floor(engine, embedder) : look()))
await serveHttp(engine, catalog, options, end.signal, url => process.send?.(url))
await engine.close()
process.exit(0)

function look(): Look {
  const { user, system } = process.cpuUsage()
  globalThis.gc?.()
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage()
  return { rss, heapUsed, arrayBuffers, cpuMs: (user + system) / 1000 }
}

/** All sign-code distances, over everything, on the engine's own index; milliseconds. */
function floor(engine: Engine, embedder: Embedder): number {
  const host = engine.host('default')
  const kernel = host.index(`vectors-${modelKey(embedder.model)}`) as KernelVectorIndex
  const everything = { partitions: host.accessScope(LOCAL_OWNER).partitions }
  return percentile(
    [0, 1, 2].map(at => timed(() => kernel.sweepDistances(heldOut(at), everything))),
    0.5,
  )
}

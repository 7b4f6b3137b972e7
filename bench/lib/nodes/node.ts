/**
 * One node of several, in a process of its own: `node node.ts <number> <beliefs> <member>` makes its store, tells its address,
 * and answers `look` with the processor time that it has used, in milliseconds.
 */
import { writeFileSync } from 'node:fs'
import { modelKey } from '../../../src/embed/embedder.ts'
import { openEngine } from '../../../src/engine/open.ts'
import { serveHttp } from '../../../src/interfaces/http/server.ts'
import { makeCatalog } from '../../../src/ops/catalog.ts'
import { tempFolder } from '../../../test/support/temp-folder.ts'
import { openStandIn } from '../stand-in.ts'
import { fillNode } from './fill.ts'

const [number = '0', count = '0', member = ''] = process.argv.slice(2)

using folder = tempFolder()
// It is asked as often as it can answer.
writeFileSync(folder.file('config.json'), JSON.stringify({ lenses: { beliefs: { answers_per_minute: 1_000_000 } } }))
const embedder = await openStandIn()
const engine = await openEngine({ home: folder.path, embedder, background: false })
fillNode(engine, modelKey(embedder.model), Number(number), Number(count), member)
const end = new AbortController()
process.on('disconnect', () => end.abort())
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.((user + system) / 1000)
})
const options = { host: '127.0.0.1', port: 0, tokens: undefined }
await serveHttp(engine, makeCatalog(engine), options, end.signal, url => process.send?.(url))
await engine.close()

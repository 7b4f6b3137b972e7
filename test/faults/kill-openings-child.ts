/**
 * `node kill-openings-child.ts <folder> <first>`: opens homes that were never opened until it is killed. `open <n>` before each,
 * `did <n>` when it was written to and closed.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openEngine } from '../../src/engine/open.ts'
import { openToyEmbedder } from '../support/toy-embedder.ts'
import { ENTRIES } from './kill-openings.ts'
import { say } from './say.ts'

const [, , folder = '', first = '0'] = process.argv
// The code of the lenses is loaded before the first kill may fall.
await (await openEngine({ store: 'memory', embedder: 'none', background: false })).close()
for (let number = Number(first); ; number++) {
  const home = join(folder, `home-${number}`)
  mkdirSync(home, { recursive: true })
  say(`open ${number}`)
  const engine = await openEngine({ home, embedder: openToyEmbedder() })
  await engine.put({ entries: Array.from({ length: ENTRIES }, (_, at) => ({ id: `new${at}`, content: `rain ${at}` })) })
  await engine.close()
  say(`did ${number}`)
}

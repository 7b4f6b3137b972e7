/**
 * `node kill-openings-child.ts <folder> <first>`: opens homes that were never opened until it is killed: new ones, and
 * copies of store files of every released schema. `open <n>` before each, `did <n>` when it was written to and closed.
 */
import { writeSync } from 'node:fs'
import { openEngine } from '../../src/engine/open.ts'
import { openToyEmbedder } from '../support/toy-embedder.ts'
import { layOut, writeAll } from './kill-openings-acts.ts'

const [, , folder = '', first = '0'] = process.argv
// The code of the lenses is loaded before the first kill may fall.
await (await openEngine({ store: 'memory', embedder: 'none', background: false })).close()
for (let number = Number(first); ; number++) {
  const home = layOut(folder, number)
  say(`open ${number}`)
  const engine = await openEngine({ home, embedder: openToyEmbedder() })
  await writeAll(engine)
  await engine.close()
  say(`did ${number}`)
}

/** Synchronously, so that a line that is out tells of something that happened before. */
function say(line: string): void {
  writeSync(1, `${line}\n`)
}

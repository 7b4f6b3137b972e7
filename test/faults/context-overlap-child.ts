/**
 * `node context-overlap-child.ts <home> <most pause in ms> <seed> [edit]`: one index run that sleeps at each step, on a
 * store that it makes where there is none; says its result. Started by context-overlap.test.ts.
 */
import { openContext } from '../../src/openings/context.ts'
import { seededUniform } from '../support/seeded.ts'

const [home, most = '0', seed = '1'] = process.argv.slice(2)
const random = seededUniform(Number(seed))
const cell = new Int32Array(new SharedArrayBuffer(4))
await using sys = await openContext({ home, create: true, embedder: 'none', background: false })
const { result, errors } = await sys.call('/context/index', {}, ({ phase }) => {
  if (phase !== 'wait') Atomics.wait(cell, 0, 0, random() * Number(most))
})
process.stdout.write(`${JSON.stringify({ result, errors })}\n`)

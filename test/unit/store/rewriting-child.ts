/** A process that writes texts until its input ends, and checks what it wrote. */
import { setImmediate as breathe } from 'node:timers/promises'
import { openSqliteStore } from '../../../src/store/sqlite-store.ts'
import { seededUniform } from '../../support/seeded.ts'
import { Rewriting } from './rewriting.ts'

const [file = '', seed = '1'] = process.argv.slice(2)
const store = openSqliteStore({ file })
const rewriting = new Rewriting(store, seededUniform(Number(seed)), `writer${seed}-`)
let acts = 0
let isEnding = false
process.once('message', () => {
  isEnding = true
})
const wrong = new Set<string>()
while (!isEnding) {
  await rewriting.run(1)
  if (++acts % 50 === 0) for (const id of rewriting.wrong()) wrong.add(id)
  await breathe()
}
for (const id of rewriting.wrong()) wrong.add(id)
store.close()
process.send?.({ acts, gone: rewriting.gone, wrong: [...wrong] }, () => process.disconnect())

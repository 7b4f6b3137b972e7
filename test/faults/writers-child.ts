/**
 * `node writers-child.ts <file> <number>`: writes one transaction after the other until its input ends, then prints
 * `waits <JSON list>`: how long each waited for its turn, ms. Says `locked` for one that was refused.
 */
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { draftOf, lineChunks } from '../support/entries.ts'

const [, , file = '', number = '0'] = process.argv
/** An agent that writes all the time leaves the others this much between two of its writes. */
const BETWEEN_MS = 1
const store = openSqliteStore({ file })
const waits: number[] = []
let isReported = false
const input = createInterface({ input: process.stdin })
input.once('line', () => {
  isReported = true
})
input.once('close', () => process.exit(1))
writeSync(1, 'ready\n')
for (let at = 0; !isReported; at++) {
  const asked = performance.now()
  try {
    await store.writeWhenFree(at, writer => {
      waits.push(performance.now() - asked)
      const draft = draftOf({ id: `${number} ${at % 50}`, content: `one ${at}\ntwo` })
      writer.put(draft, lineChunks(draft))
    })
  } catch (error) {
    writeSync(1, `locked ${(error as { code: string }).code} after ${Math.round(performance.now() - asked)}\n`)
  }
  await new Promise(resolve => setTimeout(resolve, BETWEEN_MS))
}
writeSync(1, `waits ${JSON.stringify(waits.map(wait => Math.round(wait * 1e3) / 1e3))}\n`)
store.close()
process.exit(0)

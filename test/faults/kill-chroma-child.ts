/**
 * `node kill-chroma-child.ts <file> <first act> <seconds late>`: takes acts until it is killed. Before each act a line
 * `act <n>`, after it `did <n>`, and `part` for each part of a run that was committed.
 */
import { writeSync } from 'node:fs'
import { openHistory } from './kill-chroma-acts.ts'

const [, , file = '', first = '0', late = '0'] = process.argv
const history = await openHistory(file)
for (let act = Number(first); ; act++) {
  say(`act ${act}`)
  await history.take(act, act === Number(first) ? Number(late) : 0, () => say('part'))
  say(`did ${act}`)
}

/** Synchronously, so that a line that is out tells of something that happened before. */
function say(line: string): void {
  writeSync(1, `${line}\n`)
}

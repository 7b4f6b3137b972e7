/** `node kill-beliefs-child.ts <file> <first act>`: takes acts until it is killed; `act <n>` before each, `did <n>` after it. */
import { writeSync } from 'node:fs'
import { openHistory } from './kill-beliefs-acts.ts'

const [, , file = '', first = '0'] = process.argv
const history = await openHistory(file)
for (let act = Number(first); ; act++) {
  say(`act ${act}`)
  await history.take(act)
  say(`did ${act}`)
}

/** Synchronously, so that a line that is out tells of something that happened before. */
function say(line: string): void {
  writeSync(1, `${line}\n`)
}

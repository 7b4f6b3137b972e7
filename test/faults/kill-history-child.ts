/**
 * `node kill-history-child.ts <beliefs or chroma> <file> <first act> <seconds late>`: takes acts until it is killed. Before each act a
 * line `act <n>`, after it `did <n>`, and `part` for each part of it that was committed where more is to come.
 */
import { say } from './say.ts'

const [, , lens = '', file = '', first = '0', late = '0'] = process.argv
interface History {
  take(act: number, late?: number, report?: () => void): Promise<void>
}
const history: History =
  lens === 'chroma'
    ? await (await import('./kill-chroma-acts.ts')).openHistory(file)
    : await (await import('./kill-beliefs-acts.ts')).openHistory(file)
for (let act = Number(first); ; act++) {
  say(`act ${act}`)
  await history.take(act, act === Number(first) ? Number(late) : 0, () => say('part'))
  say(`did ${act}`)
}

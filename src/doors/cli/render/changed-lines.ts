/** Two texts side by side: the lines that differ, between the ones both begin and end with. */
import { printable } from '../../../base/printable.ts'

/** `- ` before what goes, `+ ` before what comes. */
export function changedLines(before: string, after: string): string {
  const old = linesOf(before)
  const fresh = linesOf(after)
  let start = 0
  while (start < Math.min(old.length, fresh.length) && old[start] === fresh[start]) start += 1
  let end = 0
  const most = Math.min(old.length, fresh.length) - start
  while (end < most && old[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end += 1
  const gone = old.slice(start, old.length - end).map(line => `- ${printable(line)}\n`)
  const come = fresh.slice(start, fresh.length - end).map(line => `+ ${printable(line)}\n`)
  return [...gone, ...come].join('')
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/)
}

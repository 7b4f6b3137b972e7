/** Which table or fenced code goes over a place of a chunk, seen from the chunk alone, as Markdown and Org write them. */
import { closingOf, unmarked } from './blocks.ts'

const OPENING = /^[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(?:`{3,}[^`]*|~{3,}.*|#\+begin_\w.*)$/i
/** The second row of a table. */
const DELIMITERS = /^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-*:?[ \t]*)*$/
const MAY_HAVE_BLOCKS = /```|~~~|\||#\+begin_/i
/** A longer line is no row of a table that is worth repeating. */
const MAX_LINE = 1_000

/**
 * The line that opens the fence, or the two lines of the header of the table, whose lines begin before `at` and go on there; empty
 * where nothing is open. `lead` is what is open at the beginning of the text.
 *
 * @example openBlockAt('```js\nlet a\nlet b\n```', 12) // '```js'
 */
export function openBlockAt(text: string, at: number, lead = ''): string {
  if (lead === '' && !MAY_HAVE_BLOCKS.test(text)) return ''
  let open = lead
  let before = ''
  for (let start = 0; start < Math.min(at, text.length); ) {
    const next = text.indexOf('\n', start)
    const end = next < 0 ? text.length : next
    const line = end - start > MAX_LINE ? '' : text.slice(start, end).trimEnd()
    if (open === '') open = openedBy(line, before)
    else if (isEnd(line, closingOf(open))) open = ''
    before = line
    start = end + 1
  }
  return open
}

function openedBy(line: string, before: string): string {
  if (OPENING.test(line)) return unmarked(line)
  return before.includes('|') && line.includes('|') && DELIMITERS.test(line) ? `${unmarked(before)}\n${line}` : ''
}

/** A fence is closed by as many signs or more, alone in their line; a table by a line that is no row. */
function isEnd(line: string, closing: string): boolean {
  if (closing === '') return !line.includes('|')
  const [signs, sign] = [withoutMarks(line), withoutMarks(closing)]
  if (signs.toLowerCase() === sign.toLowerCase()) return true
  return signs.startsWith(sign) && signs.replaceAll(sign.charAt(0), '') === ''
}

function withoutMarks(line: string): string {
  return line.replace(/^[ \t>]+/, '')
}

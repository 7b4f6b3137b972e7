/** The words of an identifier: `parseQuery`, `parse_query`, `HTTPServer`, `0xD020`. */
import { classOf, IGNORED, LOWER, MARK, SEPARATOR, UNDERSCORE, UPPER, widthAt } from './character-class.ts'

export function isHex(text: string, start: number, end: number): boolean {
  return text[start] === '0' && /^0[xX][\da-fA-F]+$/.test(text.slice(start, end))
}

/** More words than this, or a longer run: no identifier but encoded data, which stays in one piece. */
const MAX_WORDS_IN_IDENTIFIER = 12
const MAX_IDENTIFIER_LENGTH = 80

/** Starts and ends of the words of an identifier, in turn. */
export function cutsOf(text: string, start: number, end: number): number[] {
  const cuts: number[] = []
  let from = -1
  let before = SEPARATOR
  for (let at = start; at < end; at += widthAt(text, at)) {
    const kind = classOf(text, at)
    if (kind === UNDERSCORE) {
      if (from >= 0) cuts.push(from, at)
      from = -1
    } else if (from < 0) {
      from = at
    } else if (kind === UPPER && (before !== UPPER || beginsWord(text, at, end))) {
      cuts.push(from, at)
      from = at
    }
    if (kind !== MARK && kind !== IGNORED) before = kind
  }
  if (from >= 0) cuts.push(from, end)
  const tooMany = cuts.length > 2 * MAX_WORDS_IN_IDENTIFIER || end - start > MAX_IDENTIFIER_LENGTH
  return tooMany ? [start, end] : cuts
}

/** Whether the capital at `at`, after others, begins a word: the S of HTTPServer, but not the L of URLs. */
function beginsWord(text: string, at: number, end: number): boolean {
  const next = at + widthAt(text, at)
  if (next >= end || classOf(text, next) !== LOWER) return false
  const isPlural = text[next] === 's' && (next + 1 >= end || (classOf(text, next + 1) & (LOWER | MARK)) === 0)
  return !isPlural
}

/** One spelling for `parseQuery`, `parse_query` and `parse.query`; dots between digits stay. */
export function joinedTerm(text: string): string {
  return text.replaceAll(/_|(?<!\p{Nd})\.|\.(?!\p{Nd})/gu, '')
}

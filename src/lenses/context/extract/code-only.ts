/** The same text without what comments and strings say, for rules that look at words and brackets alone. */
import type { Language } from './concept.ts'

/** Stands for each character of a comment but its line feeds: white space to a pattern, and still told from a blank. */
export const COMMENT = '\u00a0'

/** `'\u{10ffff}'` with its quotes; what is longer is no character but two lifetimes. */
const MAX_RUST_CHARACTER = 13

interface Marks {
  /** Starts of comments that end with their line. */
  readonly line: readonly string[]
  readonly block: boolean
  /** Quotes of strings that may go over several lines, longest first. */
  readonly long: readonly string[]
}

const C: Marks = { line: ['//'], block: true, long: [] }
const MARKS: Partial<Record<Language, Marks>> = {
  typescript: { ...C, long: ['`'] },
  tsx: { ...C, long: ['`'] },
  javascript: { ...C, long: ['`'] },
  go: { ...C, long: ['`'] },
  php: { ...C, line: ['//', '#'] },
  python: { line: ['#'], block: false, long: ['"""', "'''"] },
  ruby: { line: ['#'], block: false, long: [] },
}

/**
 * Same length, same line feeds: comments become `COMMENT`, the inside of a string blanks. One pass, with no memory of what
 * nests in a template; for texts that a grammar could not read, where a guess that is off costs nothing but its use.
 */
export function codeOnly(text: string, language: Language): string {
  const { line, block, long } = MARKS[language] ?? C
  const parts: string[] = []
  let from = 0
  /** Everything up to `start` stays, what follows up to `end` becomes `blank`. */
  const cover = (start: number, end: number, blank: string): number => {
    parts.push(text.slice(from, start), text.slice(start, end).replace(/[^\n]/g, blank))
    from = end
    return end
  }
  const signs = /["'`/#]/g
  for (let found = signs.exec(text); found !== null; found = signs.exec(text)) {
    const at = found.index
    const quote = long.find(mark => text.startsWith(mark, at))
    if (quote !== undefined) {
      signs.lastIndex = cover(at + quote.length, endOfLong(text, at + quote.length, quote), ' ') + quote.length
    } else if (line.some(mark => text.startsWith(mark, at)))
      signs.lastIndex = cover(at, indexOr(text, '\n', at), COMMENT)
    else if (block && text.startsWith('/*', at)) signs.lastIndex = cover(at, indexOr(text, '*/', at + 2, 2), COMMENT)
    else if (found[0] === '"' || found[0] === "'") signs.lastIndex = coverString(text, at, language, cover)
  }
  parts.push(text.slice(from))
  return parts.join('')
}

/** Returns where to go on. One that does not end on its line, as an apostrophe or a lifetime, stays as it is. */
function coverString(
  text: string,
  start: number,
  language: Language,
  cover: (start: number, end: number, blank: string) => number,
): number {
  const quote = text[start]
  const isLifetime = language === 'rust' && quote === "'"
  const most = isLifetime ? Math.min(text.length, start + MAX_RUST_CHARACTER) : text.length
  for (let at = start + 1; at < most; at++) {
    const sign = text[at]
    if (sign === '\\') at++
    else if (sign === quote) return cover(start + 1, at, ' ') + 1
    else if (sign === '\n') return isLifetime ? start + 1 : at
  }
  return isLifetime ? start + 1 : most
}

function endOfLong(text: string, start: number, quote: string): number {
  for (let at = start; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text.startsWith(quote, at)) return at
  }
  return text.length
}

function indexOr(text: string, wanted: string, from: number, beyond = 0): number {
  const at = text.indexOf(wanted, from)
  return at < 0 ? text.length : at + beyond
}

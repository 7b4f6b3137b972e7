/** How many results a question asks for (CQ-088), in English and Spanish. */
import { BEGIN, END, NUMBER, numberOf } from './time/words.ts'

export interface FoundCount {
  /** 1..1000; null when the text asks for none: then the configured number applies. */
  readonly k: number | null
  readonly index: number
  readonly length: number
}

const MAX_K = 1_000

const THINGS =
  'results?|entry|entries|documents?|docs?|nodes?|items?|hits?|match(?:es)?|snippets?|' +
  'resultados?|entradas?|documentos?|notas?|nodos?|elementos?|coincidencias?|fragmentos?'

const COUNTS: readonly RegExp[] = [
  `(?:top|first|limit)\\s+(?<n>\\d+)`,
  `(?<n>\\d+)\\s+(?:${THINGS})`,
  // In words only where nothing else can be meant: `two items` may be what the question is about.
  `top\\s+(?<n>${NUMBER})`,
  `(?<n>${NUMBER})\\s+(?:results|entries|resultados|entradas)`,
  `(?:(?:los|las)\\s+)?(?<n>${NUMBER})\\s+primer[oa]s`,
  `(?:(?:los|las)\\s+)?primer[oa]s\\s+(?<n>${NUMBER})`,
  `l[ií]mite\\s+(?<n>\\d+)`,
].map(pattern => new RegExp(`${BEGIN}(?:${pattern})${END}`, 'iu'))

/** The leftmost; of those that begin at one place the longest. */
export function findCount(text: string): FoundCount | null {
  const matches = COUNTS.map(expression => expression.exec(text)).filter(match => match !== null)
  const [first] = matches.sort((a, b) => a.index - b.index || b[0].length - a[0].length)
  if (first === undefined) return null
  const n = numberOf(first.groups?.['n'] ?? '0')
  return { k: n === 0 ? null : Math.min(n, MAX_K), index: first.index, length: first[0].length }
}

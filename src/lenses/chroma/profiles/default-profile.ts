/**
 * The built-in profile: plain English or Spanish without a model and without a network. One time, one count, and every
 * assigned hashtag among the other words.
 */
import type { QueryParams } from '../model.ts'
import { BEGIN, END, NUMBER, numberOf } from './exact-time.ts'
import { type ParseContext, QueryProfile } from './query-profile.ts'
import { findTime } from './time.ts'

export class DefaultQueryProfile extends QueryProfile {
  override parseInput(text: string, context: ParseContext): QueryParams {
    const { hashtags, k, temporalRange } = readQuestion(text, context)
    return {
      hashtags: context.complete(hashtags),
      ...(k !== null && { k }),
      ...(temporalRange !== null && { temporalRange }),
    }
  }
}

export interface Question {
  /** Assigned tags named in the text, in its order. */
  readonly hashtags: readonly string[]
  readonly k: number | null
  readonly temporalRange: readonly [number, number] | null
}

/** The grammar by itself, for profiles that build on it (CQ-084). */
export function readQuestion(text: string, context: Pick<ParseContext, 'now' | 'tagsIn'>): Question {
  const time = findTime(text, context.now)
  const timeless = blanked(text, time)
  const count = findCount(timeless)
  return {
    hashtags: context.tagsIn(blanked(timeless, count)),
    k: count?.k ?? null,
    temporalRange: time && [time.period.start, time.period.end],
  }
}

function blanked(text: string, found: { readonly index: number; readonly length: number } | null): string {
  if (found === null) return text
  const { index, length } = found
  return text.slice(0, index) + ' '.repeat(length) + text.slice(index + length)
}

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

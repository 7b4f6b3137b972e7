/**
 * What nothing speaks for: no word of the question in it, and a meaning no nearer than that of any two texts. Such is not
 * an answer, and is neither shown nor counted as used, unless `any` is asked for.
 */
import type { Candidate } from '../model/candidate.ts'
import type { QueryContext } from './context.ts'
import type { Plan, Retrieval } from './stage.ts'

/** Cosine, at MiniLM's spread: two texts that have nothing to do with each other have 0 ± 0.13. */
const CHANCE = 0.1

export const NOTHING_SPEAKS = 'No word of the question is in it, and its meaning is no nearer than by chance.'

/** A question that insists on words is met by all that it brings, so there nothing is noise. */
export function dropsNoise({ query, mode, vector, parsed }: Plan): boolean {
  return !query.any && mode !== 'list' && vector !== null && parsed.must.length + parsed.phrases.length === 0
}

export function isNoise({ signals }: Candidate, context: QueryContext): boolean {
  const cosine = signals['meaning']
  const { words = 0, phrase, linked } = signals
  const hasWords = words > 0 || phrase !== undefined || linked !== undefined
  return cosine !== undefined && isByChance(cosine, context) && !hasWords
}

/** Whether going deeper could only bring noise. */
export function onlyNoiseIsLeft({ statistics }: Retrieval, context: QueryContext): boolean {
  const { wordsLast = 0, meaningLast } = statistics
  return wordsLast <= 0 && meaningLast !== undefined && isByChance(meaningLast, context)
}

function isByChance(cosine: number, { model }: QueryContext): boolean {
  return cosine * (model?.cosineScale ?? 1) <= CHANCE
}

/**
 * Second stage of a query, enrich: decides which phrases are required, makes the query's vector, and sets the weights of words and meaning.
 */
import { boostedVector, jointVector } from '../math/vector.ts'
import { QuerentError } from '../model/errors.ts'
import type { QueryContext } from './context.ts'
import { weightsOf } from './formula.ts'
import { GET_MODEL, isInUnknownLanguage } from './languages.ts'
import { withPhrasesThatHold } from './parse.ts'
import type { Plan } from './stage.ts'
import { inTime, isLate, lateError } from './time-limit.ts'

/**
 * Adds required phrases, vector and weights to a parsed query. Rejects with `embedder_failed` where only a search by meaning was requested
 * and there is no embedder.
 */
export async function enrich(parsed: Plan, context: QueryContext): Promise<Plan> {
  const plan = await context.turns.run(withPhrasesThatHold(parsed, context))
  if (plan.mode === 'list' || plan.mode === 'words') return plan
  // For a language that no model supports, vectors are noise, so a search by words alone is better.
  if (plan.mode === 'hybrid' && isInUnknownLanguage(plan, context)) {
    context.note({ code: 'other_language', message: `Words only: ${UNKNOWN_LANGUAGE}` })
    return { ...plan, mode: 'words', isUnembedded: true }
  }
  return withVector(plan, context)
}

/**
 * Adds required phrases, vector and weights to a parsed query of messages. Messages are full of names and numbers, and there vectors
 * improve results even in a language that the model does not support.
 */
export async function enrichInAnyLanguage(parsed: Plan, context: QueryContext): Promise<Plan> {
  const plan = await context.turns.run(withPhrasesThatHold(parsed, context))
  if (plan.mode === 'list' || plan.mode === 'words') return plan
  if (isInUnknownLanguage(plan, context)) {
    context.note({ code: 'other_language', message: `The verdict is by words: ${UNKNOWN_LANGUAGE}` })
  }
  return withVector(plan, context)
}

const UNKNOWN_LANGUAGE = `no model knows the language of the query. ${GET_MODEL}`

async function withVector(plan: Plan, context: QueryContext): Promise<Plan> {
  const vector = await questionVector(plan, context)
  if (vector === null || context.vectors === null) return wordsAlone(plan, context)
  const weights = weightsOf(plan, context)
  return { ...plan, vector, weights, facts: { ...plan.facts, weights } }
}

/** The vector of the query's text, moved towards each term with a boost above 1 and away from each with a boost below 1. */
async function questionVector(plan: Plan, context: QueryContext): Promise<Float32Array | null> {
  const { residual, boosts } = plan.parsed
  if (residual.trim() === '') return null
  const whole = await embedded(residual, context)
  if (whole === null || boosts.length === 0) return whole
  const parts: Parameters<typeof boostedVector>[1][number][] = []
  for (const { text, boost } of boosts) {
    const vector = await embedded(text, context)
    if (vector !== null) parts.push({ vector, factor: boost })
  }
  return boostedInSpaces(whole, parts, context.vectors?.dimensions ?? whole.length)
}

/**
 * Moves a vector by the query's boosted terms. Where it joins the vectors of two models, each part is moved separately; `dimensions` is the
 * length of the first part.
 */
function boostedInSpaces(
  whole: Float32Array,
  parts: Parameters<typeof boostedVector>[1],
  dimensions: number,
): Float32Array {
  if (whole.length === dimensions) return boostedVector(whole, parts)
  const moved = (from: number, to: number) => {
    const known = parts.filter(({ vector }) => vector.length >= to)
    return boostedVector(
      whole.subarray(from, to),
      known.map(({ vector, factor }) => ({ vector: vector.subarray(from, to), factor })),
    )
  }
  return jointVector(moved(0, dimensions), moved(dimensions, whole.length))
}

function wordsAlone(plan: Plan, context: QueryContext): Plan {
  if (plan.query.mode === 'meaning') {
    if (isLate(context)) throw lateError(context)
    const message = 'mode: meaning needs an embedder, and there is none; use mode words'
    throw new QuerentError('embedder_failed', message, { field: 'mode' })
  }
  // Distinguishes a vector that is missing only for now (time ran out, or a note says why embedding failed) from an engine without an
  // embedder: there the query can only be searched by words, and its vector does not count as missing.
  const isUnembedded = isLate(context) || context.notes.some(({ code }) => code === 'words_only')
  if (!isUnembedded) {
    context.note({ code: 'words_only', message: 'Answered by words only: there is no embedder.' })
  }
  return { ...plan, mode: 'words', isUnembedded }
}

/** The vector of a text; null when there is no embedder, or when time runs out before it is made: then only words are searched. */
function embedded(text: string, context: QueryContext): Promise<Float32Array | null> {
  return inTime(
    late => context.embed(text, late),
    context.deadline,
    () =>
      context.note({ code: 'meaning_late', message: 'The query was not embedded in time: answered by words only.' }),
  )
}

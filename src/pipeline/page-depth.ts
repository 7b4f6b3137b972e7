/**
 * Depth of retrieval, that is how many entries each search (by words, by meaning) returns: how many candidates a page needs, which ones
 * cannot reach the page, and repeating retrieval with more depth.
 */

import type { Candidate } from '../model/candidate.ts'
import type { EntryKey } from '../model/entry.ts'
import { LEG_DEPTH } from '../model/limits.ts'
import type { Query } from '../model/query.ts'
import type { QueryContext } from './context.ts'
import type { Plan, Retrieval, Scoring, Stages } from './stage.ts'

/**
 * Number of candidates ranked in addition to those of the page, in case some were deleted meanwhile; if more than these were deleted,
 * retrieval is repeated deeper.
 */
export const SPARE = 5

/**
 * Number of entries that each search (by words, by meaning) returns for a page at first: at least `LEG_DEPTH`, and a quarter more than the
 * page shows. How that was chosen: docs/decisions/009.
 */
export function firstDepth(query: Query): number {
  return query.after?.depth ?? Math.max(LEG_DEPTH, Math.ceil(1.25 * query.limit))
}

/** Number of best candidates whose order must be exact: those of earlier pages, of this page, and a few to spare. */
export function neededFor(query: Query): number {
  return (query.after?.rank ?? 0) + query.limit + SPARE
}

/**
 * The lowest score with which a candidate can still reach the page. It is computed from `surely`: for some candidates, the score that each
 * certainly has at least. Minus infinity (no candidate is excluded) where results are not ordered by score alone, or where the first
 * retrieval was not enough.
 */
export function pageBar(surely: readonly number[], query: Query, depth: number): number {
  // No score is excluded where results are passages: a passage may score less than its entry, so the entries' scores do not tell which
  // passages reach the page.
  const isByScore = query.diversity >= 1 && !hasCaps(query) && query.group === 'entry'
  if (!isByScore || depth > firstDepth(query)) return Number.NEGATIVE_INFINITY
  return nthLargest(surely, neededFor(query))
}

/** Whether the query limits the number of results per collection or per origin. */
export function hasCaps({ perCollection, perOrigin }: Query): boolean {
  return perCollection !== null || perOrigin !== null
}

/**
 * Whether a page of a list (a query with conditions only) can start directly after the place where the previous page ended. Not where
 * results per collection or origin are limited, since items already shown count, nor where passages are listed, since a page may end inside
 * an entry: the list is then read from its beginning.
 */
export function isReadOn({ mode, query }: Plan): boolean {
  return mode === 'list' && !hasCaps(query) && query.group === 'entry'
}

function nthLargest(values: readonly number[], n: number): number {
  if (n >= values.length) return Number.NEGATIVE_INFINITY
  return Float64Array.from(values).sort()[values.length - n] as number
}

// Retrieval in rounds, each searching deeper than the one before. Results of a deeper round rank after all results of earlier rounds, even
// with a higher score, so the order is round, score, id. So pages neither repeat nor skip items, and the first page costs no more. Where
// the answer must be exact, there is a single round, which is repeated deeper.

/** Factor by which the depth grows from one retrieval round to the next. */
export const DEEPER = 4

export class Rounds {
  readonly #stages: Stages
  readonly #plan: Plan
  readonly #context: QueryContext
  /** All that each round of retrieval has found so far. Empty while only the first round was run. */
  readonly #rounds: Retrieval[] = []
  #roundOf: ReadonlyMap<EntryKey, number> = new Map()
  #last = -1

  constructor(stages: Stages, plan: Plan, context: QueryContext) {
    this.#stages = stages
    this.#plan = plan
    this.#context = context
  }

  /**
   * Runs one more retrieval round and returns the results of all rounds so far. The first call runs as many rounds as the previous pages of
   * the answer used.
   */
  async next(): Promise<Retrieval> {
    const { query } = this.#context
    this.#last = this.#last < 0 ? (query.after?.round ?? 0) : this.#last + 1
    if (this.#last === 0 || !hasRounds(this.#plan)) return this.#retrieve(this.#plan, this.#last)
    // Normally, retrieval leaves out entries that cannot reach the page. Here it keeps all of them, since a later round must know every
    // entry that an earlier round found.
    const whole: Plan = { ...this.#plan, query: { ...this.#plan.query, limit: Number.MAX_SAFE_INTEGER } }
    for (let round = this.#rounds.length; round <= this.#last; round++) {
      this.#rounds.push(await this.#retrieve(whole, round))
    }
    return this.#join()
  }

  /** Number of the last retrieval round, from 0; each round searches deeper than the one before. */
  get last(): number {
    return this.#last
  }

  /**
   * A function that adds to each scored candidate the number of the retrieval round that found it. The function keeps no reference to the
   * retrievals.
   */
  get marker(): (scoring: Scoring) => Scoring {
    return this.#rounds.length === 0 ? scoring => scoring : markedBy(this.#roundOf)
  }

  #retrieve(plan: Plan, round: number): Promise<Retrieval> {
    return this.#stages.retrieve(plan, firstDepth(this.#context.query) * DEEPER ** round, this.#context)
  }

  /**
   * Joins the results of all rounds: each entry keeps the values of the round that found it first; the statistics are those of the first
   * round, except for the last scores that the searches reached.
   */
  #join(): Retrieval {
    const candidates: Candidate[] = []
    const roundOf = new Map<EntryKey, number>()
    for (const [round, retrieval] of this.#rounds.entries()) {
      for (const candidate of retrieval.candidates) {
        if (roundOf.has(candidate.entry)) continue
        roundOf.set(candidate.entry, round)
        candidates.push(candidate)
      }
    }
    this.#roundOf = roundOf
    const [first, last] = [this.#rounds[0], this.#rounds.at(-1)] as [Retrieval, Retrieval]
    const complete = this.#rounds.every(retrieval => retrieval.complete)
    return { ...last, candidates, statistics: joinedStatistics(first, last), complete }
  }
}

/**
 * Statistics of the first retrieval, except for the last scores that the searches by words and by meaning reached, which are those of the
 * last retrieval.
 */
export function joinedStatistics(first: Retrieval, last: Retrieval): Retrieval['statistics'] {
  const { wordsLast: _words, meaningLast: _meaning, ...fixed } = first.statistics
  return { ...last.statistics, ...fixed }
}

/** Adds to each scored candidate the number of its round, by which results are ordered before their score. */
function markedBy(roundOf: ReadonlyMap<EntryKey, number>): (scoring: Scoring) => Scoring {
  return scoring => ({
    ...scoring,
    scored: scoring.scored.map(one => ({ ...one, round: roundOf.get(one.entry) ?? 0 })),
  })
}

/**
 * Whether retrieval works in rounds: only for an approximate query that is not a list. A list starts after the place where the previous
 * page ended, and its order is always exact.
 */
export function hasRounds({ mode, query }: Plan): boolean {
  return query.approximate && mode !== 'list'
}

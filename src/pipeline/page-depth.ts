/** How deep retrieval goes: how many candidates a page needs, which cannot reach it, and asking again, deeper. */

import type { Candidate } from '../model/candidate.ts'
import type { EntryKey } from '../model/entry.ts'
import { LEG_DEPTH } from '../model/limits.ts'
import type { Query } from '../model/query.ts'
import type { QueryContext } from './context.ts'
import type { Plan, Retrieval, Scoring, Stages } from './stage.ts'

/** Ranked beyond the page, in case some of it are gone by now. When more are gone, retrieval goes deeper. */
export const SPARE = 5

/** Entries a leg that a page begins with: a quarter more than it shows; how that was chosen: docs/decisions/009. */
export function firstDepth(query: Query): number {
  return query.after?.depth ?? Math.max(LEG_DEPTH, Math.ceil(1.25 * query.limit))
}

/** As many of the best as must be known exactly. */
export function neededFor(query: Query): number {
  return (query.after?.rank ?? 0) + query.limit + SPARE
}

/**
 * The score below which nothing matters to the page, given scores that are surely reached. Nothing is known where the order
 * is not by score alone, or where a first retrieval was not enough.
 */
export function pageBar(surely: readonly number[], query: Query, depth: number): number {
  // A passage may score less than its entry does, so entries do not say how much a page of passages needs.
  const isByScore = query.diversity >= 1 && !hasCaps(query) && query.group === 'entry'
  if (!isByScore || depth > firstDepth(query)) return Number.NEGATIVE_INFINITY
  return nthLargest(surely, neededFor(query))
}

/** Whether a collection or an origin may have only so many. */
export function hasCaps({ perCollection, perOrigin }: Query): boolean {
  return perCollection !== null || perOrigin !== null
}

/**
 * Whether a list is read on from where the page before ended. With caps it is read from the beginning, since what was shown
 * counts; so it is where passages are listed, since a page may end inside an entry.
 */
export function isReadOn({ mode, query }: Plan): boolean {
  return mode === 'list' && !hasCaps(query) && query.group === 'entry'
}

function nthLargest(values: readonly number[], n: number): number {
  if (n >= values.length) return Number.NEGATIVE_INFINITY
  return Float64Array.from(values).sort()[values.length - n] as number
}

// Retrieval, deeper each time. A deeper one may bring entries that score more than what earlier pages have shown: where
// the answer need not be exact, such stand behind all that was brought before them. The order is then round, score, id,
// so pages neither repeat nor skip, and the first costs no more for it. An exact answer has one round, asked deeper.

/** How much deeper each further retrieval goes. */
export const DEEPER = 4

export class Rounds {
  readonly #stages: Stages
  readonly #plan: Plan
  readonly #context: QueryContext
  /** What each round brought, whole; empty while one is enough. */
  readonly #rounds: Retrieval[] = []
  #roundOf: ReadonlyMap<EntryKey, number> = new Map()
  #last = -1

  constructor(stages: Stages, plan: Plan, context: QueryContext) {
    this.#stages = stages
    this.#plan = plan
    this.#context = context
  }

  /** What the rounds so far and one more bring; the first time as many as the pages before have reached. */
  async next(): Promise<Retrieval> {
    const { query } = this.#context
    this.#last = this.#last < 0 ? (query.after?.round ?? 0) : this.#last + 1
    if (this.#last === 0 || !hasRounds(this.#plan)) return this.#retrieve(this.#plan, this.#last)
    // What cannot reach this page must still be known to belong to an earlier round.
    const whole: Plan = { ...this.#plan, query: { ...this.#plan.query, limit: Number.MAX_SAFE_INTEGER } }
    for (let round = this.#rounds.length; round <= this.#last; round++) {
      this.#rounds.push(await this.#retrieve(whole, round))
    }
    return this.#join()
  }

  /** The last one, from 0. */
  get last(): number {
    return this.#last
  }

  /** What marks the candidates of `next` with the rounds that brought them. Keeps nothing but these. */
  get marker(): (scoring: Scoring) => Scoring {
    return this.#rounds.length === 0 ? scoring => scoring : markedBy(this.#roundOf)
  }

  #retrieve(plan: Plan, round: number): Promise<Retrieval> {
    return this.#stages.retrieve(plan, firstDepth(this.#context.query) * DEEPER ** round, this.#context)
  }

  /** Scores are made from the numbers of the round that brought the entry, and from the statistics of the first, but for how far the legs came. */
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

/** Those of the first retrieval, but for how far the legs came. */
export function joinedStatistics(first: Retrieval, last: Retrieval): Retrieval['statistics'] {
  const { wordsLast: _words, meaningLast: _meaning, ...fixed } = first.statistics
  return { ...last.statistics, ...fixed }
}

/** Tells each candidate's round, by which it is ranked first. */
function markedBy(roundOf: ReadonlyMap<EntryKey, number>): (scoring: Scoring) => Scoring {
  return scoring => ({
    ...scoring,
    scored: scoring.scored.map(one => ({ ...one, round: roundOf.get(one.entry) ?? 0 })),
  })
}

/** A list is read on from where the page before ended, and is exact anyway. */
export function hasRounds({ mode, query }: Plan): boolean {
  return query.approximate && mode !== 'list'
}

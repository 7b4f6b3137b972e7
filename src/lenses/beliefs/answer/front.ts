/**
 * The order of results where that is not the total order: the lists of several sources become one (BQ-127 to BQ-129), and diversity
 * picks inside hard limits (BQ-084, BQ-085, BQ-131). It is fixed for the answer as a whole, so its pages and pieces are parts
 * of one list, whatever their size.
 */
import { compareText } from '../../../base/compare.ts'
import { StepPace, type Steps } from '../../../base/turns.ts'
import { type Choice, choose, type Group } from '../../../math/mmr.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { likenessBy, vectorsOf } from '../embedding.ts'
import { twelveDecimals } from '../measures/ranking-weights.ts'
import { type MergeStrategy, SCOPE_KINDS } from '../model.ts'
import type { Evaluation } from '../query/evaluation.ts'
import { byOrder, type Picked, type ScoredBelief, unspread } from '../ranking/scored.ts'
import type { CheckedWarning } from '../schema/filters.ts'
import type { CheckedDiversity, CheckedOptions } from '../schema/query.ts'
import type { TimeLimit } from '../time-limit.ts'

/** Beliefs that are merged, and picked from. */
export const POOL = 1_000

/** The page of the options, as the query finds it. */
export function* pickPage(
  evaluation: Evaluation,
  options: Pick<CheckedOptions, 'offset' | 'limit' | 'diversity' | 'mergeStrategy'>,
): Steps<readonly Picked[]> {
  const { offset, limit } = options
  return (yield* beginningOf(evaluation, yield* frontOf(evaluation, options), offset + limit)).slice(offset)
}

/** The first k for which `holds`. */
export function* beginningOf(
  evaluation: Evaluation,
  front: Front | null,
  k: number,
  holds: (entry: EntryKey) => boolean = () => true,
): Steps<readonly Picked[]> {
  const { entries } = evaluation.view.columns.arrays
  if (front === null) return evaluation.best(k, null, row => holds(entries[row] as EntryKey)).map(unspread)
  return yield* front.next(k, { holds: ({ entry }) => holds(entry), time: evaluation.view.time })
}

/** Null: results stand in the total order. */
export function* frontOf(
  evaluation: Evaluation,
  { diversity, mergeStrategy }: Pick<CheckedOptions, 'diversity' | 'mergeStrategy'>,
): Steps<Front | null> {
  const keepsOrder = mergeStrategy !== 'rerank'
  if (!diversity.enabled && !keepsOrder) return null
  const best = keepsOrder ? evaluation.bestOfEach(POOL).flat().sort(byOrder) : evaluation.best(POOL)
  yield
  const pool = merged(mergeStrategy, best).slice(0, POOL)
  const ranks = new Map(best.map(({ entry }, at) => [entry, at + 1]))
  if (!diversity.enabled) return new Front(pool, ranks, null)
  return new Front(pool, ranks, spreadOf(evaluation, keepsOrder ? { ...diversity, lambda: 1 } : diversity, pool))
}

/** `results` in the total order. */
export function merged(strategy: MergeStrategy, results: readonly ScoredBelief[]): readonly ScoredBelief[] {
  switch (strategy) {
    case 'rerank':
      return results
    case 'interleave':
      return interleaved(bySource(results))
    case 'waterfall':
      return SCOPE_KINDS.flatMap(kind => results.filter(({ source }) => source.kind === kind))
  }
}

/** Local, then federations by id, then network nodes by id, this one first. */
function bySource(results: readonly ScoredBelief[]): readonly (readonly ScoredBelief[])[] {
  const lists = new Map<string, ScoredBelief[]>()
  for (const result of results) {
    const name = nameOf(result)
    const list = lists.get(name)
    if (list === undefined) lists.set(name, [result])
    else list.push(result)
  }
  return [...lists].sort(([a], [b]) => compareText(a, b)).map(([, list]) => list)
}

function nameOf({ source: { kind, id } }: ScoredBelief): string {
  return `${SCOPE_KINDS.indexOf(kind)} ${id ?? ''}`
}

/** The best of each in turn; a source that has no more is skipped. */
function interleaved(sources: readonly (readonly ScoredBelief[])[]): readonly ScoredBelief[] {
  const longest = Math.max(0, ...sources.map(list => list.length))
  return Array.from({ length: longest }, (_, at) => sources.flatMap(list => list[at] ?? [])).flat()
}

/** Diversity, with all that its picks rest on: what changes later changes none of them. */
export type Spread = Pick<CheckedDiversity, 'lambda' | 'minDistance' | 'maxPerHolder' | 'maxPerDomain'> & {
  /** By place in the pool. */
  readonly domains: (place: number) => readonly string[]
  /** Raw cosine of two of the pool, by their places. */
  readonly likeness: (a: number, b: number) => number
}

function spreadOf({ view }: Evaluation, diversity: CheckedDiversity, pool: readonly ScoredBelief[]): Spread {
  const needsVectors = diversity.minDistance !== null || diversity.lambda < 1
  const domains = pool.map(({ row }) => view.columns.domainsOf(row))
  return {
    ...diversity,
    domains: place => domains[place] as readonly string[],
    likeness: likenessBy(needsVectors ? vectorsOf(view, pool) : []),
  }
}

interface NextRequest {
  /** The one behind which they follow; absent: from the beginning. */
  readonly after?: (scored: ScoredBelief) => boolean
  readonly holds: (scored: ScoredBelief) => boolean
  /** Of the requester now. */
  readonly time?: TimeLimit | undefined
}

/** Items that are compared with those picked in one step: some milliseconds at most. */
const COMPARED_AT_ONCE = 16

/** Picked as far as it was asked for: to pick all of a pool takes the time of half its square in cosines. */
export class Front {
  /** Places in the total order, from 1. */
  readonly ranks: ReadonlyMap<EntryKey, number>
  readonly #pool: readonly ScoredBelief[]
  readonly #spread: Spread | null
  #picked: readonly Picked[] = []
  /** Of `#picked`: there are no more. */
  #isAll = false

  /** `spread` null: the order is that of the pool. */
  constructor(pool: readonly ScoredBelief[], ranks: ReadonlyMap<EntryKey, number>, spread: Spread | null) {
    this.ranks = ranks
    this.#pool = pool
    this.#spread = spread
    if (spread !== null) return
    this.#picked = pool.map(unspread)
    this.#isAll = true
  }

  /** BQ-084: in a federation without holders the limit counts the federation, not its members. */
  get warnings(): readonly CheckedWarning[] {
    const most = this.#spread?.maxPerHolder ?? null
    if (most === null) return []
    const hidden = (list: readonly ScoredBelief[]) =>
      Map.groupBy(
        list.filter(({ holder }) => holder === null),
        ({ source }) => source.id ?? '',
      )
    const picked = hidden(this.#picked.map(({ scored }) => scored))
    const isCut = ([federation, all]: [string, readonly ScoredBelief[]]) =>
      all.length > most && picked.get(federation)?.length === most
    return [...hidden(this.#pool)]
      .filter(isCut)
      .map(([federation]) => federation)
      .sort()
      .map(federation => ({
        code: 'federation_limited',
        message: `max_per_holder counts the federation ${federation} as one holder, since it shows none: there are more of its beliefs.`,
      }))
  }

  /** At most `count` for which `holds`. */
  *next(count: number, { after, holds, time }: NextRequest): Steps<readonly Picked[]> {
    for (let k = Math.max(count, this.#picked.length); ; k *= 2) {
      const picked = yield* this.#first(k, time)
      const from = after === undefined ? 0 : picked.findIndex(({ scored }) => after(scored)) + 1
      const isFound = after === undefined || from > 0
      const found = isFound ? picked.slice(from).filter(({ scored }) => holds(scored)) : []
      if (found.length >= count || this.#isAll) return found.slice(0, count)
    }
  }

  *#first(k: number, time: TimeLimit | undefined): Steps<readonly Picked[]> {
    if (this.#isAll || this.#picked.length >= k || this.#spread === null) return this.#picked
    const { lambda } = this.#spread
    const likest = new Float64Array(this.#pool.length)
    const steps = choose(choiceOf(this.#pool, this.#spread, k, likest))
    const pace = new StepPace(COMPARED_AT_ONCE)
    let step = steps.next(false)
    for (; step.done !== true; step = steps.next(false)) {
      time?.check()
      if (pace.isOver(1)) yield
    }
    const places = step.value
    this.#picked = places.map(place => ({
      scored: this.#pool[place] as ScoredBelief,
      penalty: 0 - (1 - lambda) * (likest[place] as number),
    }))
    this.#isAll = places.length < k
    return this.#picked
  }
}

/** `likest` receives, by place, the highest likeness to those picked before, at least 0. */
function choiceOf(
  pool: readonly ScoredBelief[],
  { lambda, minDistance, maxPerHolder, maxPerDomain, domains, likeness }: Spread,
  limit: number,
  likest: Float64Array,
): Choice {
  const compare = (picked: number, place: number) => {
    const like = Math.max(0, likeness(picked, place))
    likest[place] = Math.max(likest[place] as number, like)
    return like
  }
  return {
    count: pool.length,
    limit,
    lambda,
    score: place => (pool[place] as ScoredBelief).final,
    likeness: compare,
    groups: place => {
      const { holder, source } = pool[place] as ScoredBelief
      const groups: Group[] = []
      // The holders that a federation does not show are all its own.
      if (maxPerHolder !== null) groups.push({ name: `holder ${holder ?? ` ${source.id}`}`, cap: maxPerHolder })
      if (maxPerDomain === null) return groups
      return [...groups, ...[...new Set(domains(place))].map(name => ({ name: `domain ${name}`, cap: maxPerDomain }))]
    },
    ...(minDistance !== null && {
      admits: (place, picked) => {
        // Below 1 it was compared with all of them.
        if (lambda === 1) for (const one of picked) compare(one, place)
        // Rounded: 1 - 0.8 is to be 0.2.
        return twelveDecimals(1 - (likest[place] as number)) >= minDistance
      },
    }),
  }
}

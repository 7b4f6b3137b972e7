/**
 * Fifth stage of a query, diversify: puts results in their total order and, where requested, limits the results of a group and prefers
 * results unlike those before.
 */
import { atOnce, type Steps } from '../base/turns.ts'
import { choose, type Group } from '../math/mmr.ts'
import { dot } from '../math/vector.ts'
import { byPlace, type Place, type Ranked, type Scored } from '../model/candidate.ts'
import type { ChunkKey } from '../model/entry.ts'
import type { Position } from '../model/query.ts'
import { stillVisible } from './access.ts'
import type { QueryContext } from './context.ts'
import { aroundDamage } from './many-rows.ts'
import { hasCaps, neededFor } from './page-depth.ts'
import type { Plan, Ranking, Scoring } from './stage.ts'

export function* diversify(scoring: Scoring, plan: Plan, context: QueryContext): Steps<Ranking> {
  const { query } = plan
  // For a query that only lists entries by conditions, the store returns the results in their final order, so they are not sorted here.
  const ordered = plan.mode === 'list' ? scoring.scored : inOrder(scoring.scored, context)
  let complete = true
  const isOver = () => {
    if (context.deadline.over) complete = false
    return !complete
  }
  if (query.diversity >= 1 && !hasCaps(query)) return { ranked: ranksOf(ordered), scoring, complete }
  const take = choiceOf(ordered, plan, context)
  // Choosing unlike results among all takes quadratic time, so only as many are chosen as the page needs; `more` chooses the rest.
  const ranked = yield* take(neededFor(query.diversity < 1 ? context.query : query), isOver)
  return { ranked, scoring, complete, more: () => atOnce(take(ordered.length, () => false)) }
}

/** Makes a function that chooses the first `limit` results, by score, difference from results before, and limits for groups. */
function choiceOf(
  ordered: readonly Scored[],
  plan: Plan,
  context: QueryContext,
): (limit: number, isOver: () => boolean) => Steps<readonly Ranked[]> {
  const { diversity } = plan.query
  const likeness = diversity < 1 ? likenessOf(ordered, context) : () => 0
  const groups = groupsOf(ordered, plan, context)
  return function* (limit, isOver) {
    const chosen = yield* choose({
      count: ordered.length,
      limit,
      lambda: diversity,
      score: (item: number) => (ordered[item] as Scored).score,
      likeness,
      groups,
      tier: item => roundOf(ordered[item] as Scored),
      isOver,
    })
    return ranksOf(chosen.map(item => ordered[item] as Scored))
  }
}

/**
 * Makes a function for the cosine of two results, from the vectors by which they were found; 0 where one has no vector. Vectors are read
 * for all results of one retrieval at a time.
 */
function likenessOf(ordered: readonly Scored[], context: QueryContext): (a: number, b: number) => number {
  const { vectors, reader } = context
  if (vectors === null) return () => 0
  const chunks = ordered.map(one => one.chunks['meaning'] ?? one.chunks['words'])
  /** Vectors of the results by index; null: the result has no vector; undefined: it was not read yet. */
  const byItem: (Float32Array | null | undefined)[] = new Array(ordered.length).fill(undefined)
  const readRound = (round: number) => {
    const items = [...ordered.keys()].filter(item => roundOf(ordered[item] as Scored) === round)
    const wanted = items.map(item => chunks[item]).filter(chunk => chunk !== undefined)
    const rows = reader.vectorsOnly(vectors.model, wanted)
    const byChunk = new Map(rows.map(({ chunk, vector }): [ChunkKey, Float32Array] => [chunk, vector]))
    for (const item of items) byItem[item] = byChunk.get(chunks[item] ?? -1) ?? null
  }
  const vectorOf = (item: number): Float32Array | null => {
    if (byItem[item] === undefined) readRound(roundOf(ordered[item] as Scored))
    return byItem[item] ?? null
  }
  return (a, b) => {
    const [left, right] = [vectorOf(a), vectorOf(b)]
    return left === null || right === null ? 0 : dot(left, right)
  }
}

function groupsOf(ordered: readonly Scored[], plan: Plan, context: QueryContext): (item: number) => readonly Group[] {
  const { perCollection, perOrigin } = plan.query
  if (perCollection === null && perOrigin === null) return () => []
  const identities = context.reader.identities(ordered.map(one => one.entry))
  const byKey = new Map(identities.map(identity => [identity.key, identity]))
  return item => {
    const identity = byKey.get((ordered[item] as Scored).entry)
    if (identity === undefined) return []
    const groups: Group[] = []
    if (perCollection !== null) groups.push({ name: `collection ${identity.collection}`, cap: perCollection })
    if (perOrigin !== null && identity.origin !== null) {
      groups.push({ name: `origin ${identity.origin}`, cap: perOrigin })
    }
    return groups
  }
}

function ranksOf(ordered: readonly Scored[]): readonly Ranked[] {
  return ordered.map((scored, at) => rankedAs(scored, at + 1))
}

function rankedAs(scored: Scored, rank: number): Ranked {
  const { entry, passage, source, signals, chunks, related, score, lifted, order, tie, round } = scored
  return { entry, passage, source, signals, chunks, related, score, lifted, order, tie, round, rank }
}

// Sorts scored candidates into the one total order of results. Ids are read only where candidates have equal scores.

/** The number by which a candidate is ranked, descending: its `order`, or else its score. */
export function orderOf(scored: Scored): number {
  return scored.order ?? scored.score
}

/**
 * Number, from 0, of the retrieval that found the candidate. A query retrieves again, each time more candidates, when a page needs more.
 */
export function roundOf({ round }: Scored): number {
  return round ?? 0
}

/**
 * Candidates sorted by the total order, best first. Among those with equal scores, entries and passages that have been deleted or hidden
 * since come last.
 */
export function inOrder(scored: readonly Scored[], context: Viewing): readonly Scored[] {
  const sorted = [...scored].sort(byOrder)
  const tied = sorted.filter((one, at) => {
    return isTie(one, sorted[at - 1]) || isTie(one, sorted[at + 1])
  })
  if (tied.length === 0) return sorted
  const place = placesOf(tied, context)
  return sorted.sort((a, b) => byOrder(a, b) || byPlace(place(a), place(b)))
}

/**
 * The `most` highest-ranking candidates by the total order, returned unsorted. Ids are read only for candidates that tie with the last of
 * them.
 */
export function firstInOrder(scored: readonly Scored[], most: number, context: Viewing): readonly Scored[] {
  if (scored.length <= most) return scored
  const last = [...scored].sort(byOrder)[most - 1]
  if (last === undefined) return []
  const before = scored.filter(one => byOrder(one, last) < 0)
  const tied = scored.filter(one => byOrder(one, last) === 0)
  return [...before, ...inOrder(tied, context).slice(0, most - before.length)]
}

/** The candidates that rank after the given position. `ranked` must be sorted by the total order. */
export function behind<T extends Scored>(ranked: readonly T[], after: Position, context: Viewing): readonly T[] {
  const distance = (one: T) =>
    roundOf(one) - after.round || after.order - orderOf(one) || (after.tie ?? 0) - (one.tie ?? 0)
  const notBefore = ranked.filter(one => distance(one) >= 0)
  const tied = notBefore.filter(one => distance(one) === 0)
  if (tied.length === 0) return notBefore
  const place = placesOf(tied, context)
  return notBefore.filter(one => distance(one) > 0 || byPlace(place(one), after) > 0)
}

/** Returns whole numbers, since a fraction would allocate an object in memory at each comparison. */
function byOrder(a: Scored, b: Scored): number {
  if (roundOf(a) !== roundOf(b)) return roundOf(a) - roundOf(b)
  const first = orderOf(a)
  const second = orderOf(b)
  if (first !== second) return first < second ? 1 : -1
  return a.tie === b.tie ? 0 : (b.tie ?? 0) - (a.tie ?? 0)
}

function isTie(one: Scored, other: Scored | undefined): boolean {
  return other !== undefined && byOrder(one, other) === 0
}

/** The part of a query's context on which the order of candidates with equal scores depends: the store, and what the viewer may see now. */
export type Viewing = Pick<QueryContext, 'reader' | 'look'>

/**
 * Makes a function that gives what determines a candidate's position in the total order, with the id that its entry has now. A hidden entry
 * is treated like a deleted one, because it must not affect which candidates come first.
 */
export function placesOf(scored: readonly Scored[], context: Viewing): (one: Scored) => Place {
  const { reader } = context
  const accessScope = context.look()
  const entries = [...new Set(scored.map(({ entry }) => entry))]
  const visible = reader.identities(entries).filter(identity => stillVisible(identity, accessScope))
  const identities = new Map(visible.map(identity => [identity.key, identity]))
  const passages = scored.flatMap(({ entry, passage }) => (identities.has(entry) ? (passage ?? []) : []))
  const chunks = passages.length === 0 ? [] : aroundDamage(reader, () => reader.chunks(passages))
  const ordinals = new Map(chunks.map(({ key, ordinal }) => [key, ordinal]))
  return one => {
    const { id, holder } = identities.get(one.entry) ?? GONE
    const place: Place = { order: orderOf(one), id, holder, ...(one.tie !== undefined && { tie: one.tie }) }
    if (one.passage === undefined) return place
    return { ...place, passage: (ordinals.get(one.passage) ?? Number.MAX_SAFE_INTEGER - 1) + 1 }
  }
}

/**
 * Stands for the id of a deleted or hidden entry: it sorts after every id. The second access check will remove the entry from the answer.
 */
const GONE = { id: '\u{10ffff}', holder: '' }

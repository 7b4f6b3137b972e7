/** Fifth stage: the total order, and, where asked for, caps for groups and spread over unlike entries. */
import { atOnce, type Steps } from '../base/turns.ts'
import { choose, type Group } from '../math/mmr.ts'
import { dot } from '../math/vector.ts'
import type { Ranked, Scored } from '../model/candidate.ts'
import type { ChunkKey } from '../model/entry.ts'
import type { QueryContext } from './context.ts'
import { inOrder, roundOf } from './order.ts'
import { hasCaps, neededFor } from './page-depth.ts'
import type { Plan, Ranking, Scoring } from './stage.ts'

export function* diversify(scoring: Scoring, plan: Plan, context: QueryContext): Steps<Ranking> {
  const { query } = plan
  // A list comes from the store in its order.
  const ordered = plan.mode === 'list' ? scoring.scored : inOrder(scoring.scored, context)
  let complete = true
  const isOver = () => {
    if (context.deadline.over) complete = false
    return !complete
  }
  if (query.diversity >= 1 && !hasCaps(query)) return { ranked: ranksOf(ordered), scoring, complete }
  const take = choiceOf(ordered, plan, context)
  // Spreading everything takes time with its square, so a request for more than the page spreads what the page needs.
  const ranked = yield* take(neededFor(query.diversity < 1 ? context.query : query), isOver)
  return { ranked, scoring, complete, more: () => atOnce(take(ordered.length, () => false)) }
}

/** So many of them in the order of choice. */
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

/** Cosine of what the entries were found by; 0 where one has no vector. Vectors are read a round at a time. */
function likenessOf(ordered: readonly Scored[], context: QueryContext): (a: number, b: number) => number {
  const { vectors, reader } = context
  if (vectors === null) return () => 0
  const chunks = ordered.map(one => one.chunks['meaning'] ?? one.chunks['words'])
  /** By item; null where there is none, absent before its round was read. */
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

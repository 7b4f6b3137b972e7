/** Fifth stage: the total order, and, where asked for, caps for groups and spread over unlike entries. */

import { choose, type Group } from '../math/mmr.ts'
import { dot } from '../math/vector.ts'
import type { Ranked, Scored } from '../model/candidate.ts'
import type { EntryKey } from '../model/entry.ts'
import type { QueryContext } from './context.ts'
import { inOrder } from './order.ts'
import { hasCaps, neededFor } from './page-bounds.ts'
import type { Plan, Ranking, Scoring } from './stage.ts'

export function diversify(scoring: Scoring, plan: Plan, context: QueryContext): Ranking {
  const { query } = plan
  const identify = (keys: readonly EntryKey[]) => context.reader.identities(keys)
  // A list comes from the store in its order.
  const ordered = plan.mode === 'list' ? scoring.scored : inOrder(scoring.scored, identify)
  const isPlain = query.diversity >= 1 && !hasCaps(query)
  const chosen = isPlain ? ordered : chosenFrom(ordered, plan, context)
  return { ranked: chosen.map((scored, at) => rankedAs(scored, at + 1)), scoring }
}

function chosenFrom(ordered: readonly Scored[], plan: Plan, context: QueryContext): readonly Scored[] {
  const { query } = plan
  const likeness = query.diversity < 1 ? likenessOf(ordered, context) : () => 0
  const groups = groupsOf(ordered, plan, context)
  const chosen = choose({
    count: ordered.length,
    limit: neededFor(query),
    lambda: query.diversity,
    score: item => (ordered[item] as Scored).score,
    likeness,
    groups,
  })
  return chosen.map(item => ordered[item] as Scored)
}

/** Cosine of what the entries were found by; 0 where one has no vector. */
function likenessOf(ordered: readonly Scored[], context: QueryContext): (a: number, b: number) => number {
  const { vectors, reader } = context
  if (vectors === null) return () => 0
  const chunks = ordered.map(one => one.chunks['meaning'] ?? one.chunks['words'])
  const found = reader.vectorsOnly(
    vectors.model,
    chunks.filter(chunk => chunk !== undefined),
  )
  const byChunk = new Map(found.map(row => [row.chunk, row.vector]))
  const rows = chunks.map(chunk => (chunk === undefined ? undefined : byChunk.get(chunk)))
  return (a, b) => {
    const [left, right] = [rows[a], rows[b]]
    return left === undefined || right === undefined ? 0 : dot(left, right)
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

function rankedAs(scored: Scored, rank: number): Ranked {
  const { entry, source, signals, chunks, score, components, order, round } = scored
  return { entry, source, signals, chunks, score, components, order, round, rank }
}

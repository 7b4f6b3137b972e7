/**
 * Ranking while some passages have no vector. Two rules; neither applies where all passages in scope have vectors.
 *
 * 1. A passage without a vector gets the cosine that is expected of passages whose words score as much:
 *
 *        expected = base + 0.45·(share of the best BM25)
 *        base     = mean of (cosine - 0.45·share) over the best entries by words that are embedded, and 2 with 0.2
 *
 *    Example: two embedded entries with shares 1 and 0.6 and cosines 0.75 and 0.57 leave 0.30 each, so the base is
 *    (0.30 + 0.30 + 0.2 + 0.2) / 4 = 0.25, and a passage with a share of 0.8 has 0.25 + 0.36 = 0.61.
 *
 * 2. An entry that is among the first three by words alone, and may be among the first three once all passages have vectors, is among the
 * first three now (QE-007).
 *
 * How the numbers were chosen: docs/decisions/014.
 */
import { Bitset } from '../base/bitset.ts'
import type { Hit, SearchScope } from '../index/contract.ts'
import { type Candidate, itemKey, type Scored } from '../model/candidate.ts'
import type { ChunkKey, EntryKey } from '../model/entry.ts'
import { type Explanation, leaf, node } from '../model/explanation.ts'
import { LEG_DEPTH } from '../model/limits.ts'
import { stillVisible } from './access.ts'
import type { QueryContext } from './context.ts'
import { inOrder } from './diversify.ts'
import type { Plan } from './stage.ts'

/**
 * Slope of the expected cosine of a passage without a vector, over its BM25 as a share of the best BM25. Cosines in this file are on the
 * scale of the MiniLM embedding model (`cosineScale`) unless said otherwise.
 */
const SLOPE = 0.45
export const USUAL_BASE = 0.2
/** In the mean that gives the base of the expected cosine, the default of 0.2 counts as much as this number of entries. */
const USUAL_WEIGHT = 2

/** Number of best results by words alone that stay at the top while some passages have no vector. */
export const KEPT_BY_WORDS = 3

function wordShare(bm: number, bmTop: number): number {
  return bmTop > 0 ? bm / bmTop : 0
}

/** The cosine expected of a passage without a vector, from its BM25 `bm` and the best BM25 `bmTop`, on MiniLM's scale. */
export function expectedCosine(bm: number, bmTop: number, base: number): number {
  return base + SLOPE * wordShare(bm, bmTop)
}

/**
 * The base of the expected cosine of passages without a vector: a mean over the best entries by words, computed from their cosines. `hits`:
 * the best entries by words, best first. `known`: entries whose cosine is computed already.
 */
export function expectedBase(
  hits: readonly Hit[],
  known: readonly Hit[],
  plan: Plan,
  scope: SearchScope,
  { vectors, model }: QueryContext,
): number {
  const best = hits.slice(0, LEG_DEPTH)
  const bmTop = best[0]?.score ?? 0
  const cosines = new Map(known.map(hit => [hit.entry, hit.score]))
  const others = best.map(({ entry }) => entry).filter(entry => !cosines.has(entry))
  const scored = plan.vector === null ? [] : vectors?.score(plan.vector, others, scope, plan.query.approximate)
  for (const { entry, score } of scored ?? []) cosines.set(entry, score)
  let sum = USUAL_WEIGHT * USUAL_BASE
  let weight = USUAL_WEIGHT
  for (const { entry, chunk, score } of best) {
    const cosine = cosines.get(entry)
    if (cosine === undefined || vectors?.has(entry, scope, chunk) !== true) continue
    sum += cosine * (model?.cosineScale ?? 1) - SLOPE * wordShare(score, bmTop)
    weight++
  }
  return sum / weight
}

/**
 * For candidates whose best passage by words has no vector: adds the signal `expected`, the cosine that such a passage usually has, on the
 * scale of the embedding model.
 */
export function withExpected(
  candidates: readonly Candidate[],
  { bmTop = 0, expectedBase: base }: Readonly<Record<string, number>>,
  scope: SearchScope,
  { vectors, model }: QueryContext,
): readonly Candidate[] {
  if (base === undefined) return candidates
  return candidates.map(candidate => {
    const { entry, chunks, signals } = candidate
    const { words: bm = 0 } = signals
    if (bm <= 0 || vectors?.has(entry, scope, chunks['words'] as ChunkKey) === true) return candidate
    const expected = expectedCosine(bm, bmTop, base) / (model?.cosineScale ?? 1)
    return { ...candidate, signals: { ...signals, expected } }
  })
}

/**
 * Two other scores of a candidate, besides the one by which it is ranked. A score is null where the candidate would not be ranked by it.
 */
export interface OtherScores {
  /** Score that the candidate would have by words alone; null: it contains no query word. */
  readonly byWords: (scored: Scored) => number | null
  /** Score computed with only the vectors that exist: exact where every passage of the entry has a vector, otherwise a lower bound. */
  readonly byKnown: (scored: Scored) => number | null
}

/**
 * While some passages have no vector: moves entries that are among the first three by words alone into the first three results, by raising
 * their score just enough (score component `partly_embedded`). An entry all of whose passages have vectors is not raised where three others
 * certainly score higher. Where results are passages, passages are raised instead. `absent`: deleted or hidden entries, which are not
 * counted.
 */
export function keepFirstByWords(
  scored: readonly Scored[],
  of: OtherScores,
  absent: ReadonlySet<EntryKey>,
  context: QueryContext,
): readonly Scored[] {
  const there = scored.filter(({ entry }) => !absent.has(entry))
  const first = (by: (one: Scored) => number | null) => {
    const rated = there.flatMap(one => {
      const score = by(one)
      return score === null ? [] : [{ ...one, score }]
    })
    return inOrder(rated, context).slice(0, KEPT_BY_WORDS)
  }
  const firstKnown = new Set(first(of.byKnown).map(itemKey))
  const isKept = (one: Scored) => firstKnown.has(itemKey(one)) || !isEmbedded(one, context)
  const kept = new Set(first(of.byWords).filter(isKept).map(itemKey))
  const ranked = inOrder(there, context)
  const others = ranked.filter(one => !kept.has(itemKey(one)))
  const next = others[KEPT_BY_WORDS - kept.size]
  if (next === undefined) return scored
  const low = ranked.slice(ranked.indexOf(next)).filter(one => kept.has(itemKey(one)))
  // The smallest difference that double-precision numbers can represent at this score.
  const step = Math.max(Math.abs(next.score) * Number.EPSILON, Number.MIN_VALUE)
  const lifted = new Map(low.map((one, at) => [itemKey(one), next.score + step * (low.length - at)]))
  return scored.map(one => {
    const score = lifted.get(itemKey(one))
    if (score === undefined) return one
    return { ...one, score, lifted: score - one.score }
  })
}

/** Explanation of the score of a raised entry; it also contains the entry's score before raising. */
export function explainKept(tree: Explanation, { score, lifted }: Scored): Explanation {
  if (lifted === undefined) return tree
  const note = 'not everything is embedded yet: it is among the first three by words and stays there'
  return node('score', 'max', [{ ...tree, label: 'own score' }, leaf('just above the next', score, note)])
}

/** Those of the given entries that the viewer may no longer see, or that were deleted, although the indexes still contain them. */
export function absentAmong(entries: readonly EntryKey[], context: QueryContext): ReadonlySet<EntryKey> {
  const accessScope = context.look()
  const identities = context.reader.identities(entries)
  const visible = new Set(identities.filter(one => stillVisible(one, accessScope)).map(({ key }) => key))
  return new Set(entries.filter(entry => !visible.has(entry)))
}

/**
 * Whether all passages of a candidate have vectors. Uses the indexes, not the store: the store may have changed by the time when the order
 * of later pages is computed.
 */
function isEmbedded({ entry, passage }: Candidate, { words, vectors, accessScope }: QueryContext): boolean {
  if (passage !== undefined) return vectors?.has(entry, { partitions: accessScope.partitions }, passage) === true
  const scope = { partitions: accessScope.partitions, allow: Bitset.of([entry]) }
  return vectors !== null && vectors.count(scope) >= words.count(scope)
}

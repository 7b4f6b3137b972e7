/**
 * A page that was worked out and not yet shown, and whether it is about its text (BQ-027, BQ-043): answered, weak, or
 * nothing relevant, and what that rests on.
 */
import type { Instant } from '../../../base/clock.ts'
import type { Steps } from '../../../base/turns.ts'
import { K1 } from '../../../math/bm25.ts'
import { type Bars, evidence, evidenceByWords, WORD_BARS, withoutWords } from '../../../math/evidence.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { ENOUGH_EMBEDDED, judgeEvidence } from '../../../pipeline/verdict.ts'
import type { ShowView } from '../access/show.ts'
import type { ExplanationWorld } from '../explain/explained.ts'
import { contentWords } from '../matching/literal.ts'
import type { Coverage, QueryResult } from '../model.ts'
import type { Evaluation } from '../query/evaluation.ts'
import type { Picked, ScoredBelief } from '../ranking/scored.ts'
import { type TrustFound, type TrustWorld, trustFound } from '../ranking/trust-found.ts'
import type { CheckedWarning } from '../schema/filters.ts'
import type { Front, SettledConflict } from './front.ts'

export interface Verdict {
  readonly verdict: NonNullable<QueryResult['verdict']>
  /** Null where it is answered. */
  readonly reason: string | null
  readonly by: NonNullable<QueryResult['verdict_by']>
  /** Where nothing is relevant, what came closest. */
  readonly nearest: readonly ScoredBelief[]
}

/** Candidates whose words are counted. */
const MAX_READ = 10
/** BM25 of a word that occurs once in a text of mean length, as a share of the most that it can come to. */
const ONE_OCCURRENCE = 1 / (1 + K1)

/** Null in list mode. */
export function* verdictOf(evaluation: Evaluation): Steps<Verdict | null> {
  const { question, understood, inScope } = evaluation
  if (question.semantic === null || understood.meaning.by === 'nothing') return null
  const by = basisOf(evaluation)
  if (evaluation.matches.count === 0) {
    const nearest = evaluation.nearest()
    return { verdict: 'nothing_relevant', reason: nothingNear(evaluation, nearest, by), by, nearest }
  }
  const { best, share } = yield* strongest(evaluation)
  const held = Math.round(share * contentWords(question.semantic.base).length)
  const coverage = share * ONE_OCCURRENCE
  const calibration = evaluation.state.host.embedder?.model.calibration ?? null
  const judged = (found: number, bars: Bars) => judgeEvidence(found, bars, inScope.count, () => false)
  if (by === 'words') return { ...judged(evidenceByWords(coverage, held), WORD_BARS), by, nearest: [] }
  if (calibration === null) return { verdict: 'answered', reason: null, by, nearest: [] }
  const bars = held > 0 ? calibration : withoutWords(calibration)
  return { ...judged(evidence(best, coverage, 1, calibration.wordShare), bars), by, nearest: [] }
}

/** With few vectors, or none of the text, it rests on words. */
function basisOf({ understood, pending, inScope }: Evaluation): Verdict['by'] {
  const isByWords = understood.meaning.by === 'words' || pending > (1 - ENOUGH_EMBEDDED) * inScope.count
  return isByWords ? 'words' : pending > 0 ? 'both' : 'meaning'
}

function nothingNear({ floor }: Evaluation, [first]: readonly ScoredBelief[], by: Verdict['by']): string {
  if (first === undefined) return 'No belief that you may see meets the conditions of the query.'
  if (by === 'words') return 'No belief that you may see holds enough of the words of the text.'
  const [found, needed] = [first.cosine ?? 0, floor ?? -1].map(cosine => cosine.toFixed(2))
  return `No belief that you may see is near the text: the nearest has a cosine of ${found}, and ${needed} is needed.`
}

/** The highest cosine of a candidate, and the largest share of the words that one of the nearest holds. */
function* strongest(evaluation: Evaluation): Steps<{ readonly best: number; readonly share: number }> {
  const { cosines, matches, view } = evaluation
  const nearest = [...(cosines ?? [])].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, MAX_READ)
  const rows = nearest.map(([entry]) => view.columns.rowOf(entry as EntryKey)).filter(row => matches.has(row))
  const shares = yield* evaluation.wordShares(Int32Array.from(rows))
  return { best: nearest[0]?.[1] ?? 0, share: Math.max(0, ...shares.values()) }
}

export interface Draft {
  readonly picked: readonly Picked[]
  /** Results that stand before it. */
  readonly passed: number
  /** All that match. */
  readonly total: number
  /** Whether more are near enough to the text than may be candidates. */
  readonly isCut: boolean
  /** Null in list mode. */
  readonly verdict: Verdict | null
  readonly asOf: Instant
  readonly world: ExplanationWorld
  /** What explanations rest on, by entry; empty where none are wanted. */
  readonly grounds: ReadonlyMap<EntryKey, Ground>
  readonly warnings: readonly CheckedWarning[]
  readonly federations: readonly string[]
  /** Of the whole answer; empty where conflicts are not settled. */
  readonly settled: readonly SettledConflict[]
  /** Where other nodes were asked. */
  readonly nodes?: NodesTold | undefined
}

/** What an answer tells of the nodes that were asked for it. */
export interface NodesTold {
  readonly coverage: Coverage
  readonly errors: QueryResult['errors']
  /** Whether they were asked longer ago than they should have been. */
  readonly isStale: boolean
  /** Whether no more can match than what was counted. */
  readonly isExact: boolean
  /** Which of them have more than they were asked for: told at the end of the list. */
  readonly cut: readonly CheckedWarning[]
}

interface DraftParts extends Pick<Draft, 'picked' | 'passed' | 'total' | 'isCut' | 'verdict' | 'warnings' | 'nodes'> {
  /** What was scored, as of the moment of the order. */
  readonly scoredBy: ExplanationWorld & Omit<TrustWorld, 'view'>
  readonly front: Pick<Front, 'leftOut' | 'ranks' | 'conflicts'> | null
  readonly isExplained: boolean
}

/** `view`: that of the page, which may be later than the order's. */
export function draftOf(
  view: ShowView,
  { picked, passed, total, isCut, verdict, warnings, scoredBy, front, isExplained, nodes }: DraftParts,
): Draft {
  const { question, understood, asOf, state, trust, requester } = scoredBy
  const places = { passed: passed + (front?.leftOut ?? 0), ranks: front?.ranks ?? null }
  return {
    ...{ picked, passed, total, isCut, verdict, asOf, warnings },
    // No more of it than explanations need: a draft may outlive its evaluation.
    world: { question, understood, asOf, state },
    grounds: isExplained ? groundsOf({ trust, requester, view }, picked, places) : new Map(),
    federations: view.requester.federations,
    settled: front?.conflicts ?? [],
    nodes,
  }
}

interface Ground {
  /** From 1, in the total order. */
  readonly rank: number
  readonly trust: TrustFound
}

/**
 * By entry. `ranks`: places in the total order of those that were chosen from its front; `passed`: what stands before the
 * page of that order.
 */
function groundsOf(
  world: TrustWorld,
  picked: readonly Picked[],
  { passed, ranks }: { readonly passed: number; readonly ranks: ReadonlyMap<EntryKey, number> | null },
): ReadonlyMap<EntryKey, Ground> {
  return new Map(
    picked.map(({ scored }, at) => {
      const rank = ranks?.get(scored.entry) ?? passed + at + 1
      return [scored.entry, { rank, trust: trustFound(world, scored) }]
    }),
  )
}

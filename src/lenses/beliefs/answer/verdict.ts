/** Whether an answer is about its text (BQ-027, BQ-043): answered, weak, or nothing relevant, and what that rests on. */
import type { Steps } from '../../../base/turns.ts'
import { K1 } from '../../../math/bm25.ts'
import { type Bars, evidence, evidenceByWords, WORD_BARS, withoutWords } from '../../../math/evidence.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { ENOUGH_EMBEDDED, judgeEvidence } from '../../../pipeline/verdict.ts'
import { contentWords } from '../matching/literal.ts'
import type { QueryResult } from '../model.ts'
import type { Evaluation } from '../query/evaluation.ts'
import type { ScoredBelief } from '../ranking/scored.ts'

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

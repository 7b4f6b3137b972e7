/**
 * What an answer is worth: answered, weak, or nothing relevant. With an embedder whose numbers are calibrated, the best
 * evidence is held against a bar that grows with the number of passages. It sees a foreign subject, not a missing fact;
 * so the wording is "nothing on this subject", never "there is no such fact".
 */
import { evidence, evidenceBar } from '../math/evidence.ts'
import type { Verdict } from '../model/page.ts'
import { demands, withWords } from './conditions.ts'
import type { QueryContext } from './context.ts'
import type { Plan, Retrieval } from './stage.ts'

export interface Judgement {
  readonly verdict: Verdict
  readonly reason: string | null
}

/** Words alone: a best passage below this share of what the question could score is weak. */
const WEAK_COVERAGE = 0.15

const NO_WORD = 'None of the words of the question occur.'

const ANSWERED: Judgement = { verdict: 'answered', reason: null }

export function judge(retrieval: Retrieval, plan: Plan, context: QueryContext): Judgement {
  if (retrieval.candidates.length === 0) return judgeEmpty(retrieval, plan, context)
  if (plan.mode === 'list') return ANSWERED
  const { bestCosine } = retrieval.statistics
  if (bestCosine === undefined) return judgeWords(retrieval)
  return judgeEvidence(bestCosine, retrieval, plan, context)
}

/** Something was brought, but nothing speaks for any of it. */
export function judgeNoise(judgement: Judgement): Judgement {
  if (judgement.verdict === 'nothing_relevant') return judgement
  return nothing('No entry has a word of the question, or a meaning nearer to it than by chance.')
}

function judgeEmpty(retrieval: Retrieval, plan: Plan, context: QueryContext): Judgement {
  const unknown = demands(plan).find(({ operand }) => withWords(operand, null, context).size === 0)
  if (unknown !== undefined) return nothing(`No entry contains "${unknown.operand.text}".`)
  const isNarrowed = plan.filter !== null || retrieval.allow !== null
  if (isNarrowed) return nothing('Nothing fulfils the conditions of the question.')
  if (context.words.count({ partitions: context.sight.partitions }) === 0)
    return nothing('There is nothing to search yet.')
  return nothing(plan.mode === 'meaning' ? 'No passage has a vector yet.' : NO_WORD)
}

function judgeWords({ statistics }: Retrieval): Judgement {
  const { bmTop = 0, bmMax = 0 } = statistics
  if (bmTop === 0) return nothing(NO_WORD)
  const coverage = bmTop / bmMax
  if (coverage >= WEAK_COVERAGE) return ANSWERED
  return weak(`The best passage has little of what was asked (${percent(coverage)} of the words' weight).`)
}

function judgeEvidence(bestCosine: number, retrieval: Retrieval, plan: Plan, context: QueryContext): Judgement {
  const calibration = context.model?.calibration ?? null
  if (calibration === null) return ANSWERED
  const { bmTop = 0, bmMax = 0, rows = 0 } = retrieval.statistics
  const found = evidence(bestCosine, bmTop, bmMax, calibration.wordShare)
  const bar = evidenceBar(rows, calibration)
  if (found >= bar + calibration.weakMargin) return ANSWERED
  const numbers = `evidence ${found.toFixed(2)}, needed ${bar.toFixed(2)} among ${rows} passages`
  if (found >= bar) return weak(`Little speaks for these results (${numbers}).`)
  if (asksForWhatIsThere(retrieval, plan, context)) {
    return weak(`The words occur, but little else speaks for these results (${numbers}).`)
  }
  return nothing(`Nothing on this subject is known here (${numbers}).`)
}

/**
 * Why it cannot be said that nothing is known, however foreign the vectors look: the question's own demands are met; or
 * one passage has all of its words, since an identifier, a name or a number has little meaning to embed; or some passages
 * have no vector yet, and the words find something.
 */
function asksForWhatIsThere(retrieval: Retrieval, plan: Plan, context: QueryContext): boolean {
  if (demands(plan).length > 0) return true
  const { partitions } = context.sight
  const scope = retrieval.allow === null ? { partitions } : { partitions, allow: retrieval.allow }
  const { rows = 0, bmTopChunk } = retrieval.statistics
  if (bmTopChunk === undefined) return false
  if (judgeWords(retrieval) === ANSWERED && context.words.count(scope) > rows) return true
  const matches = context.words.explain(plan.terms, bmTopChunk, scope)
  return matches.length > 0 && matches.every(match => match.tf > 0)
}

function nothing(reason: string): Judgement {
  return { verdict: 'nothing_relevant', reason }
}

function weak(reason: string): Judgement {
  return { verdict: 'weak', reason }
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

/**
 * What an answer is worth: answered, weak, or nothing relevant. With an embedder whose numbers are calibrated, the best
 * evidence is held against a bar that grows with the number of passages. It sees a foreign subject, not a missing fact;
 * so the wording is "nothing on this subject", never "there is no such fact".
 */
import { evidence, evidenceBar } from '../math/evidence.ts'
import type { Verdict, VerdictBy } from '../model/page.ts'
import { demands, isAnywhere } from './conditions.ts'
import type { QueryContext } from './context.ts'
import type { Plan, Retrieval } from './stage.ts'

export interface Judgement {
  readonly verdict: Verdict
  readonly reason: string | null
  /** Absent where conditions alone decide. */
  readonly verdictBy?: VerdictBy | undefined
}

/** Words alone: a best passage below this share of what the question could score is weak. */
const WEAK_COVERAGE = 0.15
/** With fewer passages that have a vector, meaning has not seen enough to say that nothing is relevant. */
const ENOUGH_EMBEDDED = 0.9

const NO_WORD = 'None of the words of the question occur.'

const ANSWERED: Judgement = { verdict: 'answered', reason: null }

export function judge(retrieval: Retrieval, plan: Plan, context: QueryContext): Judgement {
  const isEmpty = retrieval.candidates.length === 0
  if (plan.mode === 'list') return isEmpty ? judgeEmpty(retrieval, plan, context, false) : ANSWERED
  const { bestCosine } = retrieval.statistics
  const isMissing = plan.isUnembedded === true || (plan.vector !== null && !isMostlyEmbedded(retrieval, context))
  if (bestCosine !== undefined && !isEmpty) {
    const byMeaning = judgeEvidence(bestCosine, retrieval, plan, context)
    if (byMeaning.verdict === 'answered' || !isMissing) return { ...byMeaning, verdictBy: 'meaning' }
  }
  const judged = isEmpty ? judgeEmpty(retrieval, plan, context, isMissing) : judgeWords(retrieval, isMissing)
  return { ...judged, verdictBy: bestCosine === undefined || isMissing ? 'words' : 'meaning' }
}

/** Something was brought, but nothing speaks for any of it. */
export function judgeNoise(judgement: Judgement): Judgement {
  if (judgement.verdict === 'nothing_relevant') return judgement
  return { ...judgement, ...nothing('No entry has a word of the question, or a meaning nearer to it than by chance.') }
}

/** Evidence, and what it is measured against. `rows`: passages that were compared by meaning, for the reason. */
export interface Measured {
  readonly evidence: number
  /** Below it nothing is relevant. */
  readonly bar: number
  /** From here on it is an answer. */
  readonly needed: number
  readonly rows: number
}

/** Compared as they are shown, in hundredths: so the figures of the reason agree with the verdict, and equal is enough. */
export function judgeMeasured({ evidence, bar, needed, rows }: Measured): Judgement {
  if (hundredths(evidence) >= hundredths(needed)) return ANSWERED
  const numbers = (limit: number) =>
    `evidence ${evidence.toFixed(2)}, needed ${limit.toFixed(2)} among ${rows} passages`
  if (hundredths(evidence) >= hundredths(bar)) return weak(`Little speaks for these results (${numbers(needed)}).`)
  return nothing(`Nothing on this subject is known here (${numbers(bar)}).`)
}

/** `isMissing`: meaning should have been asked too. Then words alone cannot say that nothing is known. */
function noWord(isMissing: boolean): Judgement {
  return isMissing ? weak(`${NO_WORD} Whether any passage has its meaning was not found out.`) : nothing(NO_WORD)
}

function isMostlyEmbedded({ statistics: { rows = 0 }, allow }: Retrieval, { words, sight }: QueryContext): boolean {
  const { partitions } = sight
  return rows >= ENOUGH_EMBEDDED * words.count(allow === null ? { partitions } : { partitions, allow })
}

function judgeEmpty(retrieval: Retrieval, plan: Plan, context: QueryContext, isMissing: boolean): Judgement {
  const unknown = demands(plan).find(({ operand }) => !isAnywhere(operand, context))
  if (unknown !== undefined) return nothing(`No entry contains "${unknown.operand.text}".`)
  const isNarrowed = plan.filter !== null || retrieval.allow !== null
  if (isNarrowed) return nothing('Nothing fulfils the conditions of the question.')
  if (context.words.count({ partitions: context.sight.partitions }) === 0)
    return nothing('There is nothing to search yet.')
  return plan.mode === 'meaning' ? weak('No passage has a vector yet.') : noWord(isMissing)
}

function judgeWords({ statistics }: Retrieval, isMissing = false): Judgement {
  const { bmTop = 0, bmMax = 0 } = statistics
  return bmTop === 0 ? noWord(isMissing) : judgeCoverage(bmTop / bmMax)
}

/** By words alone: the best passage's share of what the words of the question can score, 0 to 1. */
export function judgeCoverage(coverage: number): Judgement {
  if (hundredths(coverage) >= hundredths(WEAK_COVERAGE)) return ANSWERED
  const numbers = `${percent(coverage)} of the words' weight, needed ${percent(WEAK_COVERAGE)}`
  return weak(`The best passage has little of what was asked (${numbers}).`)
}

function judgeEvidence(bestCosine: number, retrieval: Retrieval, plan: Plan, context: QueryContext): Judgement {
  const calibration = context.model?.calibration ?? null
  if (calibration === null) return ANSWERED
  const { bmTop = 0, bmMax = 0, rows = 0 } = retrieval.statistics
  const found = evidence(bestCosine, bmTop, bmMax, calibration.wordShare)
  const bar = evidenceBar(rows, calibration)
  const judgement = judgeMeasured({ evidence: found, bar, needed: bar + calibration.weakMargin, rows })
  if (judgement.verdict !== 'nothing_relevant' || !asksForWhatIsThere(retrieval, plan, context)) return judgement
  const numbers = `evidence ${found.toFixed(2)}, needed ${bar.toFixed(2)} among ${rows} passages`
  return weak(`The words occur, but little else speaks for these results (${numbers}).`)
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

function hundredths(value: number): number {
  return Number(value.toFixed(2))
}

function percent(share: number): string {
  return `${(100 * share).toFixed(0)} %`
}

/**
 * What an answer is worth: answered, weak, or nothing relevant. The best evidence is compared with two bars that grow with
 * the number of passages: of the embedder's calibration, or of words alone. Evidence detects a foreign subject, not a
 * missing fact; so the wording is "nothing on this subject", never "there is no such fact".
 */

import type { SearchScope } from '../index/contract.ts'
import { type Bars, barAt, evidence, evidenceByWords, WORD_BARS, withoutWords } from '../math/evidence.ts'
import type { Candidate } from '../model/candidate.ts'
import type { ChunkKey, EntryKey } from '../model/entry.ts'
import type { Filter, Scalar } from '../model/filter.ts'
import type { Verdict, VerdictBy } from '../model/page.ts'
import { demands, isAnywhere } from './conditions.ts'
import type { QueryContext } from './context.ts'
import { foreignEntries, isInUnknownLanguage, nearestBars } from './languages.ts'
import { UNKNOWN_NOTES } from './parse.ts'
import type { Plan, Retrieval } from './stage.ts'

export interface Judgement {
  readonly verdict: Verdict
  readonly reason: string | null
  /** Absent where conditions alone decide. */
  readonly verdictBy?: VerdictBy | undefined
}

/** With fewer passages that have a vector, meaning has not seen enough to say that nothing is relevant. */
export const ENOUGH_EMBEDDED = 0.9

/** Collections named in a reason. */
const MAX_NAMED = 3
/** Collections that are named where an unknown one was. */
const MAX_COLLECTIONS = 10

const NO_WORD = 'None of the words of the query occur.'

const ANSWERED: Judgement = { verdict: 'answered', reason: null }

export function judge(retrieval: Retrieval, plan: Plan, context: QueryContext): Judgement {
  const isEmpty = retrieval.candidates.length === 0
  if (plan.mode === 'list') return isEmpty ? judgeEmpty(retrieval, plan, context, false) : ANSWERED
  const { bestCosine } = retrieval.statistics
  const isMissing = plan.isUnembedded === true || (plan.vector !== null && !isMostlyEmbedded(retrieval, context))
  if (bestCosine !== undefined && !isEmpty) {
    const byMeaning = judgeMeaning(bestCosine, retrieval, plan, context)
    if (byMeaning.verdict === 'answered' || !isMissing) return { ...byMeaning, verdictBy: 'meaning' }
  }
  const judged = isEmpty
    ? judgeEmpty(retrieval, plan, context, isMissing)
    : judgeWords(retrieval, plan, context, isMissing)
  if (retrieval.allow?.size === 0) return judged // by the filters
  return { ...judged, verdictBy: bestCosine === undefined || isMissing ? 'words' : 'meaning' }
}

/** Something was brought, but nothing speaks for any of it. */
export function judgeNoise(judgement: Judgement): Judgement {
  if (judgement.verdict === 'nothing_relevant') return judgement
  return {
    ...judgement,
    ...nothing('No entry contains a word of the query or is nearer to its meaning than by chance.'),
  }
}

/**
 * Compared as they are shown, in hundredths: so the figures of the reason agree with the verdict, and equal is enough.
 * `isForeign` is called where the evidence is below both bars: false keeps the answer weak.
 */
export function judgeEvidence(found: number, bars: Bars, rows: number, isForeign: () => boolean): Judgement {
  const [needed, least] = [barAt(rows, bars.answered), barAt(rows, bars.refused)]
  if (hundredths(found) >= hundredths(needed)) return ANSWERED
  const numbers = (bar: number) => `evidence ${found.toFixed(2)}, needed ${bar.toFixed(2)} among ${rows} passages`
  if (hundredths(found) >= hundredths(least) || !isForeign())
    return weak(`There is little evidence for these results (${numbers(needed)}).`)
  return nothing(`Nothing on this subject is known here (${numbers(least)}).`)
}

/** `isMissing`: meaning should have been asked too. Then words alone cannot say that nothing is known. */
function noWord(isMissing: boolean, plan: Plan, context: QueryContext): Judgement {
  // Of a language that no model knows, no model could find out more: as where there is no model. The note says so.
  const isNotFoundOut = isMissing && !isInUnknownLanguage(plan, context)
  return isNotFoundOut ? weak(`${NO_WORD} Passages were not compared by meaning.`) : nothing(NO_WORD)
}

function isMostlyEmbedded({ statistics: { rows = 0 }, allow }: Retrieval, context: QueryContext): boolean {
  return rows >= ENOUGH_EMBEDDED * context.words.count(scopeOf(allow, context))
}

function judgeEmpty(retrieval: Retrieval, plan: Plan, context: QueryContext, isMissing: boolean): Judgement {
  const unknown = demands(plan).find(({ operand }) => !isAnywhere(operand, context))
  if (unknown !== undefined) return nothing(`No entry contains "${unknown.operand.text}".`)
  const unnamed = plan.facts[UNKNOWN_NOTES] as readonly string[] | undefined
  if (unnamed !== undefined && retrieval.allow?.size === 0) {
    return nothing(`No note that you may see is called ${unnamed.map(name => `"${name}"`).join(' or ')}.`)
  }
  if (retrieval.allow?.size === 0) return nothing(unmetReason(plan.filter, context))
  if (context.words.count({ partitions: context.accessScope.partitions }) === 0)
    return nothing('There is nothing to search yet.')
  if (plan.mode === 'meaning') return weak('No passage has a vector yet.')
  return noWord(isMissing, plan, context)
}

/** Names collections that have no visible entry: one that is hidden reads as one that does not exist. */
function unmetReason(filter: Filter | null, { reader, accessScope }: QueryContext): string {
  const unknown = collectionsIn(filter).filter(
    value => reader.count(accessScope, { op: 'eq', field: 'collection', value }) === 0,
  )
  if (unknown.length === 0) return 'No entry matches these filters.'
  const named = unknown.slice(0, MAX_NAMED).map(name => JSON.stringify(name))
  const known = reader.collections(accessScope, MAX_COLLECTIONS).map(name => JSON.stringify(name))
  const others = known.length === 0 ? '' : ` There are entries in ${known.join(', ')}.`
  return `No visible entry is in the collection ${named.join(' or ')}.${others}`
}

/** Collections of which the filter requires one. */
function collectionsIn(filter: Filter | null): readonly Scalar[] {
  if (filter?.op === 'and') return filter.of.flatMap(collectionsIn)
  if (filter?.op === 'eq' && filter.field === 'collection') return [filter.value]
  return filter?.op === 'in' && filter.field === 'collection' ? filter.values : []
}

/** `isMissing`: meaning should have been asked too. Then words alone do not refuse. */
function judgeWords({ allow, statistics }: Retrieval, plan: Plan, context: QueryContext, isMissing = false): Judgement {
  const { bmTop = 0, bmMax = 0, bmTopChunk } = statistics
  if (bmTop === 0 || bmTopChunk === undefined) return noWord(isMissing, plan, context)
  const scope = scopeOf(allow, context)
  const matches = context.words.explain(plan.terms, bmTopChunk, scope)
  const held = matches.filter(({ tf }) => tf > 0).length
  // A passage that holds all the words is no foreign subject.
  const isForeign = () => !isMissing && held < matches.length && demands(plan).length === 0
  return judgeEvidence(evidenceByWords(bmTop / bmMax, held), WORD_BARS, context.words.count(scope), isForeign)
}

/** Where two models are asked, what each of them has found is held against its own bars, and the better verdict counts. */
function judgeMeaning(bestCosine: number, retrieval: Retrieval, plan: Plan, context: QueryContext): Judgement {
  const { model, second } = context
  if (model === null) return ANSWERED
  const { candidates } = retrieval
  // The second model may be used because of entries that the viewer may not see. These must not change the verdict.
  const foreign =
    second === undefined
      ? NONE_FOREIGN
      : foreignEntries(
          candidates.map(({ entry }) => entry),
          model,
          context,
        )
  if (foreign.size === 0) return judgeNearest(bestCosine, candidates, retrieval, plan, context)
  const compared = candidates.filter(({ signals }) => signals['meaning'] !== undefined)
  const judged = [false, true].flatMap(isForeign => {
    const of = compared.filter(({ entry }) => foreign.has(entry) === isForeign)
    if (of.length === 0) return []
    const best = Math.max(...of.map(({ signals }) => signals['meaning'] as number))
    return judgeNearest(best, of, retrieval, plan, context)
  })
  return VERDICTS.flatMap(verdict => judged.find(one => one.verdict === verdict) ?? [])[0] ?? ANSWERED
}

const NONE_FOREIGN: ReadonlySet<EntryKey> = new Set()
/** The best first. */
const VERDICTS: readonly Verdict[] = ['answered', 'weak', 'nothing_relevant']

/** `score`: of the nearest of these candidates, on the scale of the first model. */
function judgeNearest(
  score: number,
  of: readonly Candidate[],
  retrieval: Retrieval,
  plan: Plan,
  context: QueryContext,
): Judgement {
  const nearest = of.find(({ signals }) => signals['meaning'] === score)
  const { cosine, cosineScale, calibration, isAcross } = nearestBars(score, nearest?.entry, plan.query.text, context)
  if (calibration === null) return ANSWERED
  const { bmTop = 0, bmMax = 0, rows = 0 } = retrieval.statistics
  const scope = scopeOf(retrieval.allow, context)
  const words = {
    coverage: bmMax > 0 ? bmTop / bmMax : 0,
    held: heldIn(nearest?.chunks['meaning'], scope, plan, context),
    asked: context.words.weigh(plan.terms, scope).length,
  }
  // Between two languages it says nothing that no word is common.
  const bars = bmTop > 0 || isAcross ? calibration : withoutWords(calibration, cosineScale)
  const found = evidence(cosine, words, calibration)
  return judgeEvidence(found, bars, rows, () => !asksForWhatIsThere(retrieval, plan, context))
}

/** Words of the query that this passage holds. */
function heldIn(chunk: ChunkKey | undefined, scope: SearchScope, { terms }: Plan, { words }: QueryContext): number {
  return chunk === undefined ? 0 : words.explain(terms, chunk, scope).filter(({ tf }) => tf > 0).length
}

function scopeOf(allow: Retrieval['allow'], { accessScope: { partitions } }: QueryContext): SearchScope {
  return allow === null ? { partitions } : { partitions, allow }
}

/**
 * Why it cannot be said that nothing is known, however foreign the vectors look: the question's own demands are met; or
 * one passage has all of its words, since an identifier, a name or a number has little meaning to embed; or some passages
 * have no vector yet, and the words find something.
 */
function asksForWhatIsThere(retrieval: Retrieval, plan: Plan, context: QueryContext): boolean {
  if (demands(plan).length > 0) return true
  const scope = scopeOf(retrieval.allow, context)
  const { rows = 0, bmTopChunk } = retrieval.statistics
  if (bmTopChunk === undefined) return false
  if (context.words.count(scope) > rows && judgeWords(retrieval, plan, context) === ANSWERED) return true
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

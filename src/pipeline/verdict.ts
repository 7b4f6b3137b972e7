/**
 * Verdict on an answer: answered, weak, or nothing relevant. The best evidence is compared with two thresholds that rise with the number of
 * passages searched: the calibrated ones of the embedding model, or those for words alone. Evidence shows whether the query's subject
 * occurs, not whether a certain fact does; so the verdict says "nothing on this subject", never "there is no such fact".
 */

import type { SearchScope } from '../index/contract.ts'
import { type Bars, barAt, evidence, evidenceByWords, WORD_BARS, withoutWords } from '../math/evidence.ts'
import type { Candidate } from '../model/candidate.ts'
import type { ChunkKey, EntryKey } from '../model/entry.ts'
import type { Filter, Scalar } from '../model/filter.ts'
import type { Verdict, VerdictBy } from '../model/page.ts'
import { demands, isAnywhere } from './conditions.ts'
import type { QueryContext } from './context.ts'
import { foreignEntries, nearestBars } from './languages.ts'
import { UNKNOWN_NOTES } from './parse.ts'
import type { Plan, Retrieval } from './stage.ts'

export interface Judgement {
  readonly verdict: Verdict
  readonly reason: string | null
  /** Whether the verdict is based on words or on meaning; absent where only conditions decide. */
  readonly verdictBy?: VerdictBy | undefined
}

/** Share of passages that must have a vector before a low similarity in meaning can show that nothing is relevant. */
export const ENOUGH_EMBEDDED = 0.9

/** Largest number of requested collections that the reason of a verdict names. */
const MAX_NAMED = 3
/** Largest number of existing collections that a reason names where the requested collection is unknown. */
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
  if (retrieval.allow?.size === 0) return judged // The query's conditions alone excluded every entry, so the verdict is based neither on words nor on meaning.
  return { ...judged, verdictBy: bestCosine === undefined || isMissing ? 'words' : 'meaning' }
}

/** The verdict where entries were found but all of them are noise: nothing is relevant. */
export function judgeNoise(judgement: Judgement): Judgement {
  if (judgement.verdict === 'nothing_relevant') return judgement
  return {
    ...judgement,
    ...nothing('No entry contains a word of the query or is nearer to its meaning than by chance.'),
  }
}

/**
 * Compares evidence with the two thresholds. Both are rounded to hundredths, as displayed, so that the figures in the reason agree with the
 * verdict; an equal value reaches the threshold. `isForeign` is called only where the evidence is below both thresholds: if it returns
 * false, the verdict is weak instead of nothing relevant.
 */
export function judgeEvidence(found: number, bars: Bars, rows: number, isForeign: () => boolean): Judgement {
  const [needed, least] = [barAt(rows, bars.answered), barAt(rows, bars.refused)]
  if (hundredths(found) >= hundredths(needed)) return ANSWERED
  const numbers = (bar: number) => `evidence ${found.toFixed(2)}, needed ${bar.toFixed(2)} among ${rows} passages`
  if (hundredths(found) >= hundredths(least) || !isForeign())
    return weak(`There is little evidence for these results (${numbers(needed)}).`)
  return nothing(`Nothing on this subject is known here (${numbers(least)}).`)
}

/**
 * The verdict where no query word was found. `isMissing`: meaning should have been compared too and was not; then the verdict is weak,
 * since words alone cannot show that nothing is relevant.
 */
function noWord(isMissing: boolean): Judgement {
  return isMissing ? weak(`${NO_WORD} Passages were not compared by meaning.`) : nothing(NO_WORD)
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
  return noWord(isMissing)
}

/**
 * Reason for an empty result where conditions exclude every entry. Names required collections in which the viewer sees no entry; a hidden
 * collection looks like one that does not exist.
 */
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

/** Names of the collections to which the filter limits results; empty where it does not. */
function collectionsIn(filter: Filter | null): readonly Scalar[] {
  if (filter?.op === 'and') return filter.of.flatMap(collectionsIn)
  if (filter?.op === 'eq' && filter.field === 'collection') return [filter.value]
  return filter?.op === 'in' && filter.field === 'collection' ? filter.values : []
}

/**
 * The verdict by words. `isMissing`: meaning should have been compared too and was not; then the verdict is never "nothing relevant", since
 * words alone cannot show that.
 */
function judgeWords({ allow, statistics }: Retrieval, plan: Plan, context: QueryContext, isMissing = false): Judgement {
  const { bmTop = 0, bmMax = 0, bmTopChunk } = statistics
  if (bmTop === 0 || bmTopChunk === undefined) return noWord(isMissing)
  const scope = scopeOf(allow, context)
  const matches = context.words.explain(plan.terms, bmTopChunk, scope)
  const held = matches.filter(({ tf }) => tf > 0).length
  // Nothing relevant is only possible where the best passage lacks some of the query's words: a passage that contains all of them shows
  // that the subject occurs.
  const isForeign = () => !isMissing && held < matches.length && demands(plan).length === 0
  return judgeEvidence(evidenceByWords(bmTop / bmMax, held), WORD_BARS, context.words.count(scope), isForeign)
}

/**
 * The verdict by meaning. With two embedding models, the cosines of each are compared with the thresholds of that model, and the better
 * verdict counts.
 */
function judgeMeaning(bestCosine: number, retrieval: Retrieval, plan: Plan, context: QueryContext): Judgement {
  const { model, second } = context
  if (model === null) return ANSWERED
  const { candidates } = retrieval
  // Two models are considered only where a visible candidate needs the second one: it may be loaded because of entries that the viewer may
  // not see, which must not change the verdict.
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
/** All verdicts, best first. */
const VERDICTS: readonly Verdict[] = ['answered', 'weak', 'nothing_relevant']

/** The verdict by the nearest of these candidates. `score`: that candidate's cosine, on the scale of the first embedding model. */
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
  // Where no query word occurs in the store, the threshold for "nothing relevant" is raised; but not between two languages, since they
  // share few words anyway.
  const bars = bmTop > 0 || isAcross ? calibration : withoutWords(calibration, cosineScale)
  const found = evidence(cosine, words, calibration)
  return judgeEvidence(found, bars, rows, () => !asksForWhatIsThere(retrieval, plan, context))
}

/** Number of words of the query that the chunk contains. */
function heldIn(chunk: ChunkKey | undefined, scope: SearchScope, { terms }: Plan, { words }: QueryContext): number {
  return chunk === undefined ? 0 : words.explain(terms, chunk, scope).filter(({ tf }) => tf > 0).length
}

function scopeOf(allow: Retrieval['allow'], { accessScope: { partitions } }: QueryContext): SearchScope {
  return allow === null ? { partitions } : { partitions, allow }
}

/**
 * Whether the verdict "nothing relevant" is impossible, however low the cosines are. There are three cases. The query has required words,
 * so every result contains them. One passage contains all of the query's words. Words find a good answer while some passages have no vector
 * yet.
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

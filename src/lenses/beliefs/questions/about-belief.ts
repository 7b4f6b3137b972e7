/**
 * Finds beliefs that are similar to a given belief or contradict it, by a query with the given belief's vector in place of a text's vector.
 */
import type { Steps } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { type ShowView, shownHolder, sourceOfSeen } from '../access/show.ts'
import { listed } from '../answer/show-page.ts'
import {
  type Contradiction,
  type ContradictionDetector,
  detectorOf,
  MIN_SCORE,
  SAME_TOPIC,
  statementOf,
} from '../contradiction/heuristic.ts'
import type { DerivationChain, RankedBelief } from '../model.ts'
import { type Call, Evaluation } from '../query/evaluation.ts'
import { embeddedAs, understand } from '../query/understand.ts'
import { byOrder, NEAR, type ScoredBelief } from '../ranking/scored.ts'
import { currentOfKeys, derivationChain, notSeen, rowOfId, type SeenVersion, versionOfId } from '../record/read.ts'
import { type CheckedContext, type CheckedFilters, type CheckedWarning, NO_FILTER } from '../schema/filters.ts'
import { type CheckedScope, DEFAULT_TIMEOUT_MS } from '../schema/query.ts'
import type { CheckedContradictions, CheckedSimilar, contradictionsAnswer, similarAnswer } from '../schema/questions.ts'
import type { Value } from '../schema/values.ts'
import { type BeliefsState, vectorsOf } from '../state.ts'
import { TimeLimit } from '../time-limit.ts'

interface BeliefQuestion {
  readonly beliefId: string
  readonly context: CheckedContext
  readonly scope: CheckedScope
  readonly filters: readonly CheckedFilters[]
}

/** The belief with which others are compared. The requester may see it, but the query's scope may exclude it. */
interface Subject {
  readonly row: number
  readonly seen: SeenVersion
  /** Name of the belief's holder as the requester sees it; if the holder is hidden, a name made from the federation's id. */
  readonly holder: string
  /** Vector of the belief; null: it has none, so that no similar beliefs can be found. */
  readonly vector: Float32Array | null
}

/**
 * Evaluates a query about a given belief and passes the evaluation to `read`. Throws `not_found` for a belief that the requester may not
 * see, TIMEOUT when time has run out.
 */
async function askAbout<T>(
  state: BeliefsState,
  { beliefId, context, scope, filters }: BeliefQuestion,
  { requester, signal, machineTime }: Call,
  read: (evaluation: Evaluation, subject: Subject, warnings: readonly CheckedWarning[]) => T,
): Promise<T> {
  await state.load(signal)
  const time = new TimeLimit(DEFAULT_TIMEOUT_MS, signal, machineTime)
  const asOf = state.host.clock.now()
  const body = function* (view: ShowView): Steps<T> {
    time.check()
    const { columns } = view
    const row = rowOfId(view, columns.texts.idNumber(beliefId))
    const entry = columns.arrays.entries[row] as EntryKey
    const [seen] = row === -1 ? [] : currentOfKeys(view, [entry])
    if (seen === undefined) throw notSeen(view, beliefId)
    const vector = vectorsOf(view, [{ entry }])[0] ?? null
    const question = { semantic: null, filters, context, weights: context.weights, scope }
    const understood = understand(state, embeddedAs(vector), null, view.requester.accessScope)
    const evaluation = new Evaluation(state, view, question, understood, asOf)
    yield* evaluation.prepare()
    yield
    const source = view.requester.sourceOf(columns.arrays.partitions[row] as number, columns.holderOf(row))
    const shown = source === null ? null : shownHolder(view, columns.holderOf(row), source)
    const subject = { row, seen, holder: shown ?? ` ${source?.id}`, vector }
    return read(evaluation, subject, [...context.warnings, ...(vector === null ? [NO_VECTOR] : [])])
  }
  return state.lookInSteps(requester, body, time)
}

/** Number of results of the first vector search; it is multiplied by four until the search returns all beliefs that are near enough. */
const FIRST = 256

/** The matches whose raw cosine with the given belief is at least `least`, ordered by score, without the belief itself and its copies. */
function likeSubject(evaluation: Evaluation, subject: Subject, least: number): readonly ScoredBelief[] {
  const { matches, view, understood, requester } = evaluation
  const { meaning } = understood
  if (meaning.by !== 'vector' || matches.count === 0) return []
  const { columns } = view
  const { partitions } = requester.accessScope
  for (let k = FIRST; ; k *= 4) {
    view.time?.check()
    const hits = meaning.index.search({ vector: meaning.vector, k, partitions, allow: matches.bits })
    const isAll = hits.length < k || (hits.at(-1)?.score ?? 0) < least - NEAR
    if (!isAll) continue
    const near = hits.filter(({ score }) => score >= least - NEAR)
    const rows = near.map(({ entry }) => columns.rowOf(entry))
    return evaluation
      .scoresOf(rows)
      .filter(({ row, cosine }) => (cosine ?? -1) >= least && !isCopy(columns, row, subject.row))
      .sort(byOrder)
  }
}

function isCopy(columns: Evaluation['view']['columns'], row: number, of: number): boolean {
  const { ids, contents } = columns.arrays
  return row === of || ids[row] === ids[of] || contents[row] === contents[of]
}

const NO_VECTOR: CheckedWarning = {
  code: 'vectors_pending',
  message: 'The belief has no vector, so nothing can be compared with it by meaning.',
}

/** Finds beliefs on the topic of a given belief (BQ-172), ordered by score. */
export function similarTo(
  state: BeliefsState,
  asking: CheckedSimilar,
  call: Call,
): Promise<Value<typeof similarAnswer>> {
  return askAbout(state, { ...asking, filters: [] }, call, (evaluation, subject, warnings) => {
    const found = similarIn(evaluation, subject, asking)
    const page = found.slice(0, asking.limit)
    const similarity = new Map(page.map(({ id, cosine }) => [id, cosine]))
    return {
      belief_id: asking.beliefId,
      beliefs: listed(evaluation, page).map(each => ({ ...each, similarity: similarity.get(each.belief.id) ?? null })),
      total_count: found.length,
      warnings,
    }
  })
}

/**
 * Similar beliefs; unless `includeSameHolder`, without those of the given belief's holder. A pseudonym counts as a holder of its own; all
 * hidden holders of a federation count as one.
 */
function similarIn(
  evaluation: Evaluation,
  subject: Subject,
  { minSimilarity, includeSameHolder }: Pick<CheckedSimilar, 'minSimilarity' | 'includeSameHolder'>,
): readonly ScoredBelief[] {
  const found = likeSubject(evaluation, subject, minSimilarity)
  return includeSameHolder
    ? found
    : found.filter(({ holder, source }) => (holder ?? ` ${source.id}`) !== subject.holder)
}

/**
 * Maximum number of beliefs on one topic that are passed to the contradiction detector, highest scores first, because a detector may be
 * slow.
 */
const MAX_COMPARED = 1_000

interface Contradicting {
  readonly ranked: RankedBelief
  readonly contradiction: Contradiction
}

/** Finds beliefs that contradict a given belief (BQ-173), as far as the contradiction detector recognises them. */
export function contradictionsOf(
  state: BeliefsState,
  asking: CheckedContradictions,
  call: Call,
): Promise<Value<typeof contradictionsAnswer>> {
  const detector = detectorOf(state.host)
  const filters = asking.confidence.length === 0 ? [] : [{ ...NO_FILTER, confidence: asking.confidence }]
  return askAbout(state, { ...asking, filters }, call, (evaluation, subject, warnings) => {
    const found = contradicting(evaluation, subject, detector)
    return {
      belief_id: asking.beliefId,
      contradictions: found.slice(0, asking.limit).map(({ ranked, contradiction }) => ({
        ...ranked,
        contradiction: { type: contradiction.type, score: contradiction.score, text: contradiction.text },
      })),
      total_count: found.length,
      detector: { name: detector.name, note: detector.note },
      warnings,
    }
  })
}

/** Beliefs that contradict the given one, most certain contradiction first, then in order of score. */
function contradicting(
  evaluation: Evaluation,
  subject: Subject,
  detector: ContradictionDetector,
): readonly Contradicting[] {
  const near = likeSubject(evaluation, subject, SAME_TOPIC).slice(0, MAX_COMPARED)
  const { content, validFrom, validUntil, createdAt } = subject.seen.version
  const statement = { content, validFrom: validFrom ?? createdAt, validUntil }
  return listed(evaluation, near)
    .flatMap(ranked => {
      evaluation.view.time?.check()
      const contradiction = detector.detect(statement, statementOf(ranked.belief))
      return contradiction === null || contradiction.score <= MIN_SCORE ? [] : [{ ranked, contradiction }]
    })
    .sort((a, b) => b.contradiction.score - a.contradiction.score || a.ranked.rank - b.ranked.rank)
    .map(({ ranked, contradiction }, at) => ({ ranked: { ...ranked, rank: at + 1 }, contradiction }))
}

/** The derivation of a belief, given by id: the beliefs that it is based on, step by step (BQ-089, BQ-090). */
export async function derivationOf(
  state: BeliefsState,
  { beliefId, maxDepth }: { readonly beliefId: string; readonly maxDepth: number },
  { requester, signal, machineTime }: Call,
): Promise<DerivationChain> {
  await state.load(signal)
  const time = new TimeLimit(DEFAULT_TIMEOUT_MS, signal, machineTime)
  const body = (view: ShowView): DerivationChain => {
    const seen = versionOfId(view, beliefId, true)
    if (seen === undefined || sourceOfSeen(view, seen) === null) throw notSeen(view, beliefId)
    return derivationChain(view, seen.version, maxDepth, () => time.check())
  }
  return state.look(requester, body, time)
}

/**
 * The beliefs that an answer shows, in order. Without special options this is the total order (by score). If the place of a result depends
 * on other results, a front comes first: results merged from several sources or selected by diversity (BQ-084), with conflicts resolved as
 * the node is configured (BQ-174); behind a front that only resolves conflicts, the total order continues. The order is fixed once for the
 * whole answer, so that pages and pieces of any size are parts of one list.
 */
import type { Steps } from '../../../base/turns.ts'
import { K1 } from '../../../math/bm25.ts'
import { type Bars, evidence, evidenceByWords, WORD_BARS, withoutWords } from '../../../math/evidence.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { ENOUGH_EMBEDDED, judgeEvidence } from '../../../pipeline/verdict.ts'
import { showCurrent } from '../access/show.ts'
import { type Contradiction, detectorOf } from '../contradiction/heuristic.ts'
import { contentWords, foldContent, shareOfWords } from '../matching/operators.ts'
import type { QueryResult } from '../model.ts'
import type { Evaluation } from '../query/evaluation.ts'
import { byOrder, type Picked, type ScoredBelief, unspread } from '../ranking/scored.ts'
import type { CheckedWarning } from '../schema/filters.ts'
import type { CheckedOptions } from '../schema/query.ts'
import { type BeliefsState, vectorsOf } from '../state.ts'
import type { TimeLimit } from '../time-limit.ts'
import {
  type ConflictStrategy,
  diversely,
  findConflicts,
  limitWarnings,
  MAX_COMPARED,
  merged,
  POOL,
  settleConflicts,
} from './diversity.ts'

/** Two results of an answer that contradict each other, after the conflict was resolved. */
export interface SettledConflict {
  /** The two contradicting results: first the one that is shown first, or the only one shown. */
  readonly of: readonly [ScoredBelief, ScoredBelief]
  /**
   * Key of that one of the two contradicting results with which the conflict is reported: the later one if both are shown, otherwise the
   * one shown. The page that contains this result reports the conflict.
   */
  readonly with: EntryKey
  readonly contradiction: Contradiction
}

export function* pickPage(
  evaluation: Evaluation,
  options: Pick<CheckedOptions, 'offset' | 'limit' | 'diversity' | 'mergeStrategy'>,
): Steps<readonly Picked[]> {
  const { offset, limit } = options
  return (yield* beginningOf(evaluation, yield* frontOf(evaluation, options), offset + limit)).slice(offset)
}

/**
 * The first k results of an answer for which `holds` is true. `front`: the results at the answer's beginning whose order depends on each
 * other. The work pauses after each of these so that other work can run.
 */
export function* beginningOf(
  evaluation: Evaluation,
  front: Front | null,
  k: number,
  holds: (entry: EntryKey) => boolean = () => true,
): Steps<readonly Picked[]> {
  const behind = (count: number, end: ScoredBelief | null) => evaluation.best(count, end, holds).map(unspread)
  if (front === null) return behind(k, null)
  const first: Picked[] = []
  for (const picked of front.all(evaluation.view.time)) {
    if (holds(picked.scored.entry)) first.push(picked)
    if (first.length === k) return first
    yield
  }
  return front.end === null ? first : [...first, ...behind(k - first.length, front.end)]
}

/**
 * The front of an answer: the results at its beginning whose place depends on other results, because of merging, diversity or conflicts.
 * Null: there is none, and all results are in the order of their scores.
 */
export function* frontOf(
  evaluation: Evaluation,
  { diversity, mergeStrategy }: Pick<CheckedOptions, 'diversity' | 'mergeStrategy'>,
): Steps<Front | null> {
  const strategy = strategyOf(evaluation.state)
  const keepsOrder = mergeStrategy !== 'rerank'
  if (diversity.enabled || keepsOrder) {
    const best = keepsOrder ? evaluation.bestOfEach(POOL).flat().sort(byOrder) : evaluation.best(POOL)
    yield
    const limited = new Set<string>()
    const pool = merged(mergeStrategy, best).slice(0, POOL)
    const picks = diversity.enabled
      ? diversely(evaluation, diversity, { pool, keepsOrder, limited })
      : pool.map(unspread).values()
    const ranks = ranksOf(best)
    yield
    if (strategy === null) return new Front({ picks, ranks, end: null, conflicts: [], limited })
    const { list, conflicts } = settledList(evaluation, [...take(picks, MAX_COMPARED)], strategy)
    return new Front({ picks: joined(list, picks), ranks, end: null, conflicts, limited })
  }
  if (strategy === null) return null
  const best = evaluation.best(MAX_COMPARED)
  yield
  const { list, conflicts } = settledList(evaluation, best.map(unspread), strategy)
  const end = best.length < MAX_COMPARED ? null : (best.at(-1) as ScoredBelief)
  return new Front({ picks: list.values(), ranks: ranksOf(best), end, conflicts, leftOut: best.length - list.length })
}

/**
 * Text that identifies how contradictions between results are resolved and which detector finds them. It becomes part of the digest by
 * which an order of results is recognised. Empty if they are not resolved, which is the default.
 */
export function settlementOf(state: BeliefsState): string {
  const strategy = strategyOf(state)
  return strategy === null ? '' : ` ${strategy} ${detectorOf(state.host).name}`
}

type Settling = Exclude<ConflictStrategy, 'both_shown'>

interface FrontParts {
  readonly picks: Iterator<Picked>
  readonly ranks: ReadonlyMap<EntryKey, number>
  readonly end: ScoredBelief | null
  readonly conflicts: readonly SettledConflict[]
  readonly leftOut?: number
  readonly limited?: ReadonlySet<string>
}

/**
 * The front of an answer: results at its beginning whose order depends on each other, because of merging, diversity or conflicts. Each is
 * computed when it is first read, always from the state of the store at the start of the answer.
 */
export class Front {
  /** For each result, its rank in the order by score, from 1. */
  readonly ranks: ReadonlyMap<EntryKey, number>
  /**
   * Last of the results, ordered by score, from which the front was made (the reordered beginning of the answer). After the front, the
   * answer continues with the results that score lower than this one. Null: the front is the whole answer.
   */
  readonly end: ScoredBelief | null
  readonly conflicts: readonly SettledConflict[]
  /**
   * Number of results that were left out of the answer when the front (its reordered beginning) was made, because they contradict a better
   * one.
   */
  readonly leftOut: number
  readonly #limited: ReadonlySet<string>
  readonly #made: Picked[] = []
  readonly #more: Iterator<Picked>

  constructor({ picks, ranks, end, conflicts, leftOut = 0, limited = new Set() }: FrontParts) {
    this.#more = picks
    this.ranks = ranks
    this.end = end
    this.conflicts = conflicts
    this.leftOut = leftOut
    this.#limited = limited
  }

  /**
   * Warnings about the results selected so far for the front (the results at the beginning of an answer, selected by diversity or conflict
   * rules).
   */
  get warnings(): readonly CheckedWarning[] {
    return limitWarnings(this.#limited)
  }

  /**
   * Yields all results of this front (the selected results at the beginning of an answer), starting with the first. `time`: time limit of
   * the request that reads them.
   */
  *all(time?: TimeLimit): Generator<Picked> {
    for (let at = 0; ; at++) {
      if (at === this.#made.length) {
        time?.check()
        const next = this.#more.next()
        if (next.done === true) return
        this.#made.push(next.value)
      }
      yield this.#made[at] as Picked
    }
  }

  /**
   * Yields the results of this front (the selected beginning of an answer) that follow a given result; null: the given result is not in the
   * front.
   */
  *behind(isIt: (scored: ScoredBelief) => boolean, time?: TimeLimit): Steps<Generator<Picked> | null> {
    const all = this.all(time)
    for (let next = all.next(); next.done !== true; next = all.next()) {
      if (isIt(next.value.scored)) return all
      yield
    }
    return null
  }
}

export function settledList(
  evaluation: Evaluation,
  picked: readonly Picked[],
  strategy: Settling,
): { readonly list: readonly Picked[]; readonly conflicts: readonly SettledConflict[] } {
  const { view, question, state } = evaluation
  const entries = picked.map(({ scored }) => scored.entry)
  const shown = new Map(showCurrent(view, entries, question.scope).map(one => [one.entry, one.belief]))
  // All selected results match the query in this view of the store. Results that the requester may no longer see are left out, so no
  // conflict is reported with them.
  const list = picked.filter(({ scored }) => shown.has(scored.entry))
  const beliefs = list.flatMap(({ scored }) => shown.get(scored.entry) ?? [])
  const vectors = vectorsOf(
    view,
    list.map(({ scored }) => scored),
  )
  // This callback lets the search for conflicts run to its end or throw at the time limit: a search that stopped early would return a
  // different list of conflicts.
  const goesOn = () => {
    view.time?.check()
    return true
  }
  const conflicting = findConflicts(detectorOf(state.host), beliefs, vectors, { goesOn })
  const found = settleConflicts(list.length, conflicting, strategy)
  const at = (place: number) => (list[place] as Picked).scored
  const conflicts = found.conflicts.map(({ first, second, contradiction }): SettledConflict => {
    return { of: [at(first), at(second)], with: at(strategy === 'one_excluded' ? first : second).entry, contradiction }
  })
  const order = found.order.map(place => list[place] as Picked)
  return { list: order, conflicts: inOrder(conflicts, order) }
}

/** Sorts conflicts by the position of the result with which each conflict is reported. */
function inOrder(conflicts: readonly SettledConflict[], order: readonly Picked[]): readonly SettledConflict[] {
  const places = new Map(order.map(({ scored }, at) => [scored.entry, at]))
  const placeOf = (one: SettledConflict) => places.get(one.with) as number
  return [...conflicts].sort((a, b) => placeOf(a) - placeOf(b))
}

export function strategyOf({ settings }: BeliefsState): Settling | null {
  return settings.conflicts === 'both_shown' ? null : settings.conflicts
}

export function ranksOf(order: readonly ScoredBelief[]): ReadonlyMap<EntryKey, number> {
  return new Map(order.map(({ entry }, at) => [entry, at + 1]))
}

function* joined(first: Iterable<Picked>, then: Iterable<Picked>): Generator<Picked> {
  yield* first
  yield* then
}

/** Yields at most `count` elements of an iterator and leaves the iterator open, so that the remaining elements can be read later. */
function* take<T>(from: Iterator<T>, count: number): Generator<T> {
  for (let taken = 0; taken < count; taken++) {
    const next = from.next()
    if (next.done === true) return
    yield next.value
  }
}

// The verdict on an answer (BQ-027, BQ-043): that the query is answered, that the answer is weak, or that nothing relevant was found; and
// whether this was concluded from vectors, from words, or from both.

export interface Verdict {
  readonly verdict: NonNullable<QueryResult['verdict']>
  /** Why the answer is weak or has nothing relevant, as a sentence; null if the verdict is `answered`. */
  readonly reason: string | null
  readonly by: NonNullable<QueryResult['verdict_by']>
  /** The beliefs nearest to the query's text, listed only if nothing relevant was found. */
  readonly nearest: readonly ScoredBelief[]
}

/** Number of nearest candidates whose contents are searched for the query's words to find the verdict. */
const MAX_READ = 10
/**
 * BM25 score of a word that occurs once in a text of mean length, divided by the largest score that any number of occurrences can give: 1 /
 * (1 + k1).
 */
const ONE_OCCURRENCE = 1 / (1 + K1)

/** Computes the verdict on an answer from its evaluation; null if the query has no text, so that results are only filtered and listed. */
export function* verdictOf(evaluation: Evaluation): Steps<Verdict | null> {
  const { question, understood, scopeSize } = evaluation
  if (question.semantic === null || understood.meaning.by === 'nothing') return null
  const by = basisOf(evaluation)
  if (evaluation.total === 0) {
    const nearest = evaluation.nearest()
    return { verdict: 'nothing_relevant', reason: nothingNear(evaluation, nearest, by), by, nearest }
  }
  const { best, share } = yield* strongest(evaluation)
  const asked = contentWords(question.semantic.base).length
  const words = { coverage: share * ONE_OCCURRENCE, held: Math.round(share * asked), asked }
  const calibration = evaluation.state.host.embedder?.model.calibration ?? null
  const judged = (found: number, bars: Bars) => judgeEvidence(found, bars, scopeSize, () => false)
  if (by === 'words') return { ...judged(evidenceByWords(words.coverage, words.held), WORD_BARS), by, nearest: [] }
  if (calibration === null) return { verdict: 'answered', reason: null, by, nearest: [] }
  const bars = words.held > 0 ? calibration : withoutWords(calibration)
  return { ...judged(evidence(best, words, calibration), bars), by, nearest: [] }
}

/**
 * Whether the verdict is based on words, on meaning (vectors), or on both: on words if the query's text has no vector or too few beliefs in
 * scope have one.
 */
function basisOf({ understood, pending, scopeSize }: Evaluation): Verdict['by'] {
  const isByWords = understood.meaning.by === 'words' || pending > (1 - ENOUGH_EMBEDDED) * scopeSize
  return isByWords ? 'words' : pending > 0 ? 'both' : 'meaning'
}

function nothingNear({ floor }: Evaluation, [first]: readonly ScoredBelief[], by: Verdict['by']): string {
  if (first === undefined) return 'No belief that you may see meets the conditions of the query.'
  if (by === 'words') return 'No belief that you may see contains enough words of the text.'
  const [found, needed] = [first.cosine ?? 0, floor ?? -1].map(cosine => cosine.toFixed(2))
  return `No belief that you may see is near the text: the nearest has a cosine of ${found}, and ${needed} is needed.`
}

/**
 * The highest cosine between a candidate and the query's text, and the largest share (0 to 1) of the query's words that one of the nearest
 * candidates contains.
 */
function* strongest(evaluation: Evaluation): Steps<{ readonly best: number; readonly share: number }> {
  const { cosines, matches, remotes, view, question } = evaluation
  const all = [...(cosines ?? []), ...remotes.map(({ entry, cosine }) => [entry, cosine ?? 0] as const)]
  const nearest = all.sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, MAX_READ)
  const rows = nearest.map(([entry]) => view.columns.rowOf(entry)).filter(row => matches.has(row))
  const shares = yield* evaluation.wordShares(Int32Array.from(rows))
  const words = contentWords(question.semantic?.base ?? '')
  const ofRemotes = nearest.map(([entry]) =>
    shareOfWords(words, foldContent(view.remotes?.get(entry)?.belief.content ?? '')),
  )
  return { best: nearest[0]?.[1] ?? 0, share: Math.max(0, ...shares.values(), ...ofRemotes) }
}

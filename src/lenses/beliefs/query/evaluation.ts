/**
 * The evaluation of one query at one moment: the requester, the matches, and the score of each match. Pages, counts, facets and
 * explanations are derived from it. None of the data that it reads may change while it is in use.
 */
import type { Instant } from '../../../base/clock.ts'
import { TopK } from '../../../base/top-k.ts'
import { atOnce, type Steps } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { EnabledSources, Requester } from '../access/requester.ts'
import { FEDERATED, LOCAL, NETWORK, RowOrigins, type ShowView } from '../access/show.ts'
import { type Candidates, findCandidates, MAX_NEAREST, MAX_REPORTED } from '../matching/candidates.ts'
import { filterWorld, type RowTest, rowTests } from '../matching/filter.ts'
import { type Matches, scopeRequest } from '../matching/in-scope.ts'
import { contentWords, holdingAny, meetingOperators, shareOfWords, type TextOperators } from '../matching/operators.ts'
import {
  type Boundary,
  byCodeUnit,
  byOrder,
  compareBoundaries,
  copiesToDrop,
  copyGroups,
  finalOf,
  type RemoteLeg,
  type ScoredBelief,
  Scorer,
  trustColumns,
  trustQuestion,
} from '../ranking/scored.ts'
import type { CheckedFilters, CheckedWarning } from '../schema/filters.ts'
import { type CheckedQuery, NO_FLOOR } from '../schema/query.ts'
import type { BeliefsState } from '../state.ts'
import { TimeLimit } from '../time-limit.ts'
import type { HolderColumns, HolderTrust } from '../trust/holders.ts'
import { type Embedded, embedText, type Understood, understand } from './understand.ts'

/** Number of rows that are scored between two checks of the time limit, or between two pauses for other work: one or two milliseconds. */
const SCORED_AT_ONCE = 500

/** The matches of a query, with cosines, duplicates and other data found together with them. */
interface Found extends Omit<Candidates, 'cosines'> {
  /** Cosines of candidates to the query's text; null: nothing was compared with a text. */
  readonly cosines: Candidates['cosines'] | null
  /** Rows of candidates that were dropped as duplicates of another match (BQ-130). */
  readonly copies: ReadonlySet<number>
  /** Matching beliefs from other nodes, without duplicates of beliefs of this node. */
  readonly remotes: readonly ScoredBelief[]
}

const NOTHING_ELSE = {
  byWords: new Set<EntryKey>(),
  isCut: false,
  pending: 0,
  nearest: [],
  copies: new Set<number>(),
  remotes: [],
}

export class Evaluation {
  readonly state: BeliefsState
  readonly question: Question
  readonly understood: Understood
  readonly asOf: Instant
  readonly view: ShowView
  readonly trust: HolderTrust
  readonly trustColumns: HolderColumns
  readonly origins: RowOrigins
  readonly scorer: Scorer
  /** The matches and what was found with them; null: not computed yet. */
  #found: Found | null
  /** Filtered and scored results of other nodes; null: no other node was queried. */
  readonly #leg: RemoteLeg | null
  /** Scores of the matches, in the order of the matches; null: not computed yet. */
  #finals: Float64Array | null = null
  /** Beliefs in the requested sources that existed and were valid at the time of the query; null: not computed yet. */
  #inScope: Matches | null

  constructor(
    state: BeliefsState,
    view: ShowView,
    question: Question,
    understood: Understood,
    asOf: Instant,
    { earlier = null, leg = null }: { readonly earlier?: Earlier | null; readonly leg?: RemoteLeg | null } = {},
  ) {
    this.state = state
    this.#leg = leg
    this.view = view
    this.question = question
    this.understood = understood
    this.asOf = asOf
    const { context, weights, scope } = question
    const look = () => view.time?.check()
    this.trust = earlier?.trust ?? state.trust.trustOf(view.requester.id, trustQuestion(context), asOf, look)
    this.trustColumns = trustColumns(this.trust, view.columns)
    this.origins = new RowOrigins(view, scope)
    this.scorer = new Scorer({
      columns: view.columns,
      asOf,
      queryDomains: context.queryDomains,
      confidenceWeights: context.confidenceWeights,
      weights,
      decay: state.settings.decay,
      trust: this.trust,
      trustColumns: this.trustColumns,
      origins: this.origins,
    })
    this.#inScope = earlier?.matches ?? null
    this.#found = earlier && { ...NOTHING_ELSE, ...earlier }
  }

  /**
   * Beliefs in scope: in the requested sources, existing and valid at the time of the query; before filters, operators, the selection of
   * candidates and the removal of duplicates.
   */
  get inScope(): Matches {
    this.#inScope ??= this.state.scopes.of(scopeRequest(this.view, this.question, this.asOf))
    return this.#inScope
  }

  /** Matches among this node's beliefs; of several copies of a belief only one is included. */
  get matches(): Matches {
    return this.#all.matches
  }

  /** Matches from other nodes, ordered by score. */
  get remotes(): readonly ScoredBelief[] {
    return this.#all.remotes
  }

  /** Number of all matches, of this node and of other nodes. */
  get total(): number {
    return this.matches.count + this.remotes.length
  }

  /** Number of beliefs to which the filters are applied: those in scope on this node, and those received from other nodes. */
  get scopeSize(): number {
    return this.inScope.count + (this.#leg?.remotes.size ?? 0)
  }

  /** Cosines of candidates to the query's text, by entry key; null if the query has no text. */
  get cosines(): Candidates['cosines'] | null {
    return this.#all.cosines
  }

  /** Matches that have no vector and are compared with the text by their words. */
  get byWords(): ReadonlySet<EntryKey> {
    return this.#all.byWords
  }

  /** Whether more beliefs were near enough to the text than the maximum number of candidates, so that the farthest were left out. */
  get isCut(): boolean {
    return this.#all.isCut
  }

  /** Number of beliefs that pass filters and operators but have no vector yet, including those of other nodes. */
  get pending(): number {
    return this.#all.pending + (this.#leg?.pending ?? 0)
  }

  /** Rows of candidates that were dropped because another copy of the belief matches. */
  get copies(): ReadonlySet<number> {
    return this.#all.copies
  }

  /** If nothing matches, the beliefs nearest to the text, nearest first. */
  nearest(): readonly ScoredBelief[] {
    const own = this.#all.nearest.map(({ entry, cosine }) => {
      const row = this.view.columns.rowOf(entry)
      return this.scorer.score(row, this.inScope.sourceOf(row), cosine)
    })
    const leg = this.#leg?.nearest ?? []
    return leg.length === 0 ? own : [...own, ...leg].sort(byCosine).slice(0, MAX_REPORTED)
  }

  /** Lowest cosine to the text at which a belief can be a candidate; null: no minimum. */
  get floor(): number | null {
    const asked = this.question.minSimilarity ?? this.#usualFloor
    return asked === null || asked <= NO_FLOOR ? null : asked
  }

  /** If beliefs are compared by words, the minimum is 0; a belief must then share at least one word with the text. */
  get #usualFloor(): number | null {
    return this.understood.meaning.by === 'words' ? 0 : (this.understood.thresholds?.floor ?? null)
  }

  get #all(): Found {
    this.#found ??= atOnce(this.#find())
    return this.#found
  }

  /**
   * Computes the matches before they are requested. It pauses after every few hundred contents read or duplicates scored, so that other
   * work can run.
   */
  *prepare(): Steps<void> {
    this.#found ??= yield* this.#find()
  }

  get requester(): Requester {
    return this.view.requester
  }

  /** Warnings of this evaluation for the requester: missing calibration of the model, and missing vectors. */
  get warnings(): readonly CheckedWarning[] {
    const { understood, question, state, pending } = this
    const warnings: CheckedWarning[] = []
    const { semantic } = question
    if (semantic !== null && understood.meaning.by === 'vector') {
      const hasOperators = semantic.include.length + semantic.exclude.length > 0
      const isOpen = question.minSimilarity === null && this.#usualFloor === null
      if (isOpen || (hasOperators && understood.thresholds === null)) {
        const message = `The model ${state.host.embedder?.model.id} is not calibrated: no belief is dropped for its distance from the text, and + and - compare words only.`
        warnings.push({ code: 'not_calibrated', message })
      }
    }
    if (pending > 0) {
      const message = `${pending} of the beliefs that pass the filters have no vector yet: they are compared by words only.`
      warnings.push({ code: 'vectors_pending', message })
    }
    return warnings
  }

  /**
   * The first k matches in order of score for which `holds` returns true. `after`: position in this order, such as the last result of the
   * previous page, after which they begin; null: they begin with the best match.
   */
  best(
    k: number,
    after: Boundary | null = null,
    holds: (entry: EntryKey) => boolean = () => true,
  ): readonly ScoredBelief[] {
    const { entries } = this.view.columns.arrays
    const own = this.#bestOwn(k, after, row => holds(entries[row] as EntryKey))
    const isNext = (one: ScoredBelief) => (after === null || compareBoundaries(one, after) > 0) && holds(one.entry)
    const remotes = this.remotes.filter(isNext)
    return remotes.length === 0 ? own : [...own, ...remotes].sort(byOrder).slice(0, k)
  }

  #bestOwn(k: number, after: Boundary | null, holds: (row: number) => boolean): readonly ScoredBelief[] {
    const { rows } = this.matches
    const { finals } = this
    const top = new TopK<number>(k, (a, b) => this.#compare(a, b, finals))
    for (let place = 0; place < rows.length; place++) {
      if ((after === null || this.#isBehind(place, after)) && holds(rows[place] as number)) top.push(place)
    }
    return this.scoresOf(top.sorted().map(place => rows[place] as number))
  }

  /** Scores all matches before the best of them are requested, with pauses so that other work can run. */
  *rank(): Steps<Float64Array> {
    yield* this.prepare()
    const { rows, sources } = this.matches
    const cosineOf = this.#cosinesOf([...rows])
    const { weights } = this.question
    const finals = new Float64Array(rows.length)
    for (let place = 0; place < rows.length; place++) {
      if (place % SCORED_AT_ONCE === SCORED_AT_ONCE - 1) {
        this.view.time?.check()
        yield
      }
      const row = rows[place] as number
      finals[place] = finalOf(this.scorer.parts(row, sources[place] as number, cosineOf(row)), weights)
    }
    this.#finals ??= finals
    return this.#finals
  }

  /** Scores of the matches of this node, in the order of `matches`. */
  get finals(): Float64Array {
    return this.#finals ?? atOnce(this.rank())
  }

  /**
   * Lists of matches by source: the first k of the requester's own, of each federation, and of the public beliefs on this node; then all
   * matches of other nodes.
   */
  bestOfEach(k: number): readonly (readonly ScoredBelief[])[] {
    const { matches, origins, requester } = this
    const isOf = (number: number) => (row: number) => matches.sourceOf(row) === number
    const through = (federation: string) => (row: number) =>
      matches.sourceOf(row) === FEDERATED && origins.sourceOf(row, FEDERATED).id === federation
    const tests = [isOf(LOCAL), ...requester.federations.map(through), isOf(NETWORK)]
    return [...tests.map(test => this.#bestOwn(k, null, test)), this.remotes]
  }

  /** Scored beliefs for these rows, which must be among the matches. */
  scoresOf(rows: readonly number[]): readonly ScoredBelief[] {
    return this.#scoresAmong(this.matches, rows, this.#all)
  }

  #scoresAmong(matches: Matches, rows: readonly number[], found: Pick<Found, 'cosines' | 'byWords'>): ScoredBelief[] {
    const cosineOf = this.#cosinesOf(rows, found.cosines)
    const { entries } = this.view.columns.arrays
    return rows.map((row, at) => {
      if (at % SCORED_AT_ONCE === 0) this.view.time?.check()
      const isByWords = found.byWords.has(entries[row] as EntryKey)
      return this.scorer.score(row, matches.sourceOf(row), cosineOf(row), isByWords)
    })
  }

  /**
   * Returns a function that gives the cosine of a row to the text, known from the search or computed now; null if the query has no text.
   */
  #cosinesOf(rows: readonly number[], known = this.#all.cosines): (row: number) => number | null {
    const { meaning } = this.understood
    if (meaning.by === 'nothing') return () => null
    const { entries } = this.view.columns.arrays
    const { partitions } = this.requester.accessScope
    const entryOf = (row: number) => entries[row] as EntryKey
    if (known !== null) return row => known.get(entryOf(row)) ?? 0
    if (meaning.by === 'words') return row => meaning.shares.get(entryOf(row)) ?? 0
    const hits = meaning.index.score(meaning.vector, rows.map(entryOf), { partitions })
    const cosines = new Map(hits.map(({ entry, score }) => [entry, score]))
    return row => cosines.get(entryOf(row)) ?? 0
  }

  /**
   * Compares two matches, given by their positions in `matches`, by the order of results: score, then creation time, then id, then shown
   * holder.
   */
  #compare(a: number, b: number, finals: Float64Array): number {
    const { rows, sources } = this.matches
    const { columns } = this.view
    const [one, other] = [rows[a] as number, rows[b] as number]
    const shown = (row: number, place: number) => this.origins.holderShown(row, sources[place] as number) ?? ''
    return (
      (finals[b] as number) - (finals[a] as number) ||
      (columns.arrays.created[other] as number) - (columns.arrays.created[one] as number) ||
      byCodeUnit(columns.idOf(one), columns.idOf(other)) ||
      byCodeUnit(shown(one, a), shown(other, b))
    )
  }

  /**
   * Whether a match comes after a given position in the order of results, such as the last result of a page. Score, creation time and id
   * suffice for the comparison, because no two results of one query have the same id.
   */
  #isBehind(place: number, { final, createdAt, id }: Boundary): boolean {
    const { columns } = this.view
    const row = this.matches.rows[place] as number
    const created = columns.arrays.created[row] as number
    const order = final - (this.finals[place] as number) || createdAt - created || byCodeUnit(columns.idOf(row), id)
    return order > 0
  }

  /** Tests of rows for these filters. */
  testsOf(filters: readonly CheckedFilters[]): readonly RowTest[] {
    return filters.length === 0 ? [] : rowTests(filters, filterWorld(this))
  }

  /** The beliefs that meet the operators of the query's text. `only`: operators that replace those of the text. */
  *meetingOperators(matches: Matches, only: Partial<TextOperators> = {}): Steps<Matches> {
    const { semantic } = this.question
    if (semantic === null) return matches
    const { include, exclude } = this.understood
    const operators = { include, exclude, phrases: semantic.phrases, ...only }
    return yield* meetingOperators({ ...this.#operatorWorld, ...operators, matches })
  }

  get #operatorWorld() {
    const { thresholds, meaning } = this.understood
    return {
      columns: this.view.columns,
      contents: this.state.contents,
      thresholds,
      index: meaning.by === 'vector' ? meaning.index : null,
      accessScope: this.requester.accessScope,
      time: this.view.time,
    }
  }

  *#find(): Steps<Found> {
    const found = yield* this.#candidates()
    const dropped = yield* this.#copiesAmong(found)
    const copies = new Set([...dropped].flatMap(({ row }) => (row < 0 ? [] : [row])))
    const remotes = (this.#leg?.scored ?? []).filter(one => !dropped.has(one))
    return { ...found, copies, remotes, matches: found.matches.without(copies) }
  }

  *#candidates(): Steps<Omit<Found, 'copies' | 'remotes'>> {
    const { meaning } = this.understood
    const { minSimilarity, semantic } = this.question
    if (minSimilarity === undefined || meaning.by === 'nothing') {
      return { ...NOTHING_ELSE, matches: yield* this.#narrow(this.inScope), cosines: null }
    }
    const known = this.question.candidatesWith?.(this.floor) ?? null
    if (known !== null) return known
    const { include } = this.understood
    const holding =
      (semantic?.phrases.length ?? 0) > 0
        ? // This function selects the beliefs that literally contain a phrase or a required term. If the text has phrases, all given beliefs have already passed the operators and so contain every phrase, so all of them are selected.
          function* (matches: Matches): Steps<Matches> {
            yield
            return matches
          }
        : include.length > 0
          ? (matches: Matches) => holdingAny({ ...this.#operatorWorld, include, matches })
          : null
    return yield* findCandidates({
      columns: this.view.columns,
      partitions: this.requester.accessScope.partitions,
      meaning,
      scale: this.state.host.embedder?.model.cosineScale ?? 1,
      floor: this.floor,
      most: MAX_NEAREST,
      approximate: this.question.approximate === true,
      inScope: this.inScope,
      narrow: matches => this.#narrow(matches),
      holding,
      wordShares: matches => this.wordShares(matches.rows),
    })
  }

  /** For each row, given by its entry key: the share of the text's words that the belief contains, 0 to 1. */
  *wordShares(rows: Int32Array): Steps<ReadonlyMap<EntryKey, number>> {
    const shares = new Map<EntryKey, number>()
    const words = contentWords(this.question.semantic?.base ?? '')
    if (words.length === 0) return shares
    const { entries } = this.view.columns.arrays
    const count = (row: number, folded: string) => {
      shares.set(entries[row] as EntryKey, shareOfWords(words, folded))
    }
    yield* this.state.contents.each(rows, count, this.view.time?.reader())
    return shares
  }

  *#narrow(matches: Matches): Steps<Matches> {
    const passing = this.#passingFilters(matches)
    yield
    return yield* this.meetingOperators(passing)
  }

  #passingFilters(matches: Matches): Matches {
    const tick = this.view.time?.ticker()
    return this.testsOf(this.question.filters).reduce((left, test) => {
      if (tick === undefined) return left.where(test)
      return left.where((row, source) => {
        tick()
        return test(row, source)
      })
    }, matches)
  }

  /**
   * Finds which matches are to be dropped because a better copy of the same belief (equal id or equal content) is kept (BQ-130). Only
   * groups of such copies are scored for this, because most beliefs have none.
   */
  *#copiesAmong(found: Pick<Found, 'matches' | 'cosines' | 'byWords'>): Steps<ReadonlySet<ScoredBelief>> {
    const { matches } = found
    const groups = copyGroups(matches, this.view.columns, this.#leg)
    if (groups.length === 0) return new Set()
    const rows = [...new Set(groups.flatMap(group => group.rows))]
    const scored = new Map<number, ScoredBelief>()
    for (let at = 0; at < rows.length; at += SCORED_AT_ONCE) {
      yield
      const some = this.#scoresAmong(matches, rows.slice(at, at + SCORED_AT_ONCE), found)
      for (const each of some) scored.set(each.row, each)
    }
    yield
    const dropped = copiesToDrop(
      groups.map(({ same, rows: members, remotes }) => ({
        same,
        members: [...members.map(row => scored.get(row) as ScoredBelief), ...remotes],
      })),
      { byTier: this.question.byTier === true, requester: this.requester.id },
    )
    return dropped
  }
}

/** Comparator for sorting scored beliefs by their cosine to the text, highest first; ties by entry key. */
function byCosine(a: ScoredBelief, b: ScoredBelief): number {
  return (b.cosine ?? 0) - (a.cosine ?? 0) || a.entry - b.entry
}

/** The parts of a query that determine its matches and scores, without paging. */
export type Question = Pick<CheckedQuery, 'semantic' | 'filters' | 'context' | 'weights'> & {
  readonly scope: EnabledSources
  /**
   * Whether, of several copies of a belief, the one from the first tier is kept (own before federated before network) instead of the best
   * one (BQ-130).
   */
  readonly byTier?: boolean | undefined
  /**
   * Lowest raw cosine of a candidate; null: the default for the embedding model in use. Absent: candidates are not selected by their
   * nearness to the text.
   */
  readonly minSimilarity?: number | null | undefined
  /** Whether candidates may be selected, and their cosines computed, from 8-bit vectors (BQ-043). Default: false. */
  readonly approximate?: boolean | undefined
  /** Derives the candidates from an earlier search, without searching again. Null: a new search is needed. */
  readonly candidatesWith?: ((floor: number | null) => Candidates | null) | undefined
}

/** Result of an earlier evaluation of the query, from which it is evaluated again as of the earlier time (BQ-144). */
export interface Earlier {
  readonly trust: HolderTrust
  /** Matches of the earlier evaluation that still exist and are visible, with row numbers of the present view. */
  readonly matches: Matches
  /** Cosines to the text from the earlier evaluation, of these matches and possibly others; null if the query has no text. */
  readonly cosines: ReadonlyMap<EntryKey, number> | null
  /** Matches that had no vector at the time of the earlier evaluation. */
  readonly byWords: ReadonlySet<EntryKey>
  /** Matches from other nodes in the earlier evaluation. */
  readonly remotes: readonly ScoredBelief[]
}

// Evaluates queries for answers other than pages: counts, facets, explanations.

/** The requester of an operation's call, its cancellation signal, and its clock. */
export interface Call {
  /** Id of the agent for which the operation is called. */
  readonly requester: string
  readonly signal: AbortSignal
  /** Monotonic clock in milliseconds for time limits; absent: the machine's clock is used. */
  readonly machineTime?: (() => number) | undefined
}

/**
 * Evaluates a query and returns the result of `read`, which receives the evaluation with all matches; paging is left to the caller.
 * Everything is read from one state of the store.
 */
export function asked<T>(
  state: BeliefsState,
  query: CheckedQuery,
  call: Call,
  read: (evaluation: Evaluation, warnings: readonly CheckedWarning[]) => T,
): Promise<T> {
  return askedInSteps(state, query, call, function* (evaluation, warnings) {
    yield
    return read(evaluation, warnings)
  })
}

/** All warnings that belong in the answer to a query: from checking the query, from embedding its text, and from its evaluation. */
export function warningsOf(query: CheckedQuery, embedded: Embedded, evaluation: Evaluation): readonly CheckedWarning[] {
  return [...query.warnings, ...embedded.warnings, ...evaluation.warnings]
}

/**
 * Evaluates a query and runs `read` on the evaluation, with pauses during the evaluation and within `read` so that other work can run.
 * Everything is read from one state of the store.
 */
export async function askedInSteps<T>(
  state: BeliefsState,
  query: CheckedQuery,
  { requester, signal, machineTime }: Call,
  read: (evaluation: Evaluation, warnings: readonly CheckedWarning[]) => Steps<T>,
): Promise<T> {
  await state.load(signal)
  const time = new TimeLimit(query.options.timeoutMs, signal, machineTime)
  const embedded = await embedText(state, query.semantic, signal, time)
  const asOf = state.host.clock.now()
  const body = function* (view: ShowView): Steps<T> {
    time.check()
    const evaluation = yield* evaluateInSteps(state, view, query, embedded, asOf)
    return yield* read(evaluation, warningsOf(query, embedded, evaluation))
  }
  return state.lookInSteps(requester, body, time)
}

export function questionOf(query: CheckedQuery): Question {
  const { scope, minSimilarity, approximate, mergeStrategy } = query.options
  return { ...query, scope, minSimilarity, approximate, byTier: mergeStrategy === 'waterfall' }
}

/** Evaluates a query on one view of the store, as of one moment. `embedded`: the vectors computed before from the query's text. */
export function* evaluateInSteps(
  state: BeliefsState,
  view: ShowView,
  query: CheckedQuery,
  embedded: Embedded,
  asOf: Instant,
  leg: RemoteLeg | null = null,
  candidatesWith?: Question['candidatesWith'],
): Steps<Evaluation> {
  const understood = understand(state, embedded, query.semantic, view.requester.accessScope)
  const evaluation = new Evaluation(state, view, { ...questionOf(query), candidatesWith }, understood, asOf, { leg })
  yield* evaluation.prepare()
  return evaluation
}

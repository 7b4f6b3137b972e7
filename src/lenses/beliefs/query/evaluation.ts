/**
 * One query at one moment: the requester, the matches, and the score of each match. Everything else (a page, a count, facets, an
 * explanation) is derived from it. Nothing that it reads may change while it is used (`BeliefsState.lookInSteps`).
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

/** Number of rows that are scored between two checks of the time limit, or in one step: one or two milliseconds. */
const SCORED_AT_ONCE = 500

/** Matches of a query, with what is known of them. */
interface Found extends Omit<Candidates, 'cosines'> {
  /** Cosines of candidates; null: nothing was compared by meaning. */
  readonly cosines: Candidates['cosines'] | null
  /** Rows of candidates that were dropped as copies (BQ-130). */
  readonly copies: ReadonlySet<number>
  /** Remote beliefs that match, without those that are copies of beliefs of this node. */
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
  /** Matches; null: not computed yet. */
  #found: Found | null
  /** Results of other nodes; null: no other node was asked. */
  readonly #leg: RemoteLeg | null
  /** Scores of the matches, by position; null: not computed yet. */
  #finals: Float64Array | null = null
  /** Beliefs in scope; null: not computed yet. */
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

  /** Beliefs in scope, before filters, operators, the candidate step and the removal of copies. */
  get inScope(): Matches {
    this.#inScope ??= this.state.scopes.of(scopeRequest(this.view, this.question, this.asOf))
    return this.#inScope
  }

  /** Matches of this node; copies count once. */
  get matches(): Matches {
    return this.#all.matches
  }

  /** Matches from other nodes, in the total order. */
  get remotes(): readonly ScoredBelief[] {
    return this.#all.remotes
  }

  /** Number of all matches. */
  get total(): number {
    return this.matches.count + this.remotes.length
  }

  /** Number of beliefs that could match, before filters. */
  get scopeSize(): number {
    return this.inScope.count + (this.#leg?.remotes.size ?? 0)
  }

  /** Cosines of candidates; null in list mode. */
  get cosines(): Candidates['cosines'] | null {
    return this.#all.cosines
  }

  /** Matches without a vector, which are compared by their words. */
  get byWords(): ReadonlySet<EntryKey> {
    return this.#all.byWords
  }

  /** Whether more beliefs are near enough than the maximum number of candidates. */
  get isCut(): boolean {
    return this.#all.isCut
  }

  /** Number of beliefs that pass filters and operators and have no vector yet. */
  get pending(): number {
    return this.#all.pending + (this.#leg?.pending ?? 0)
  }

  /** Rows of candidates that are no matches because another copy is. */
  get copies(): ReadonlySet<number> {
    return this.#all.copies
  }

  /** The beliefs that came closest to the text, nearest first, if nothing matches. */
  nearest(): readonly ScoredBelief[] {
    const own = this.#all.nearest.map(({ entry, cosine }) => {
      const row = this.view.columns.rowOf(entry)
      return this.scorer.score(row, this.inScope.sourceOf(row), cosine)
    })
    const leg = this.#leg?.nearest ?? []
    return leg.length === 0 ? own : [...own, ...leg].sort(byCosine).slice(0, MAX_REPORTED)
  }

  /** Lowest cosine of a candidate; null: no limit. */
  get floor(): number | null {
    const asked = this.question.minSimilarity ?? this.#usualFloor
    return asked === null || asked <= NO_FLOOR ? null : asked
  }

  /** If beliefs are compared by words, there is no minimum except that they have a word in common. */
  get #usualFloor(): number | null {
    return this.understood.meaning.by === 'words' ? 0 : (this.understood.thresholds?.floor ?? null)
  }

  get #all(): Found {
    this.#found ??= atOnce(this.#find())
    return this.#found
  }

  /** Computes the matches in advance, in steps: some hundred contents that are read, or copies that are scored, per step. */
  *prepare(): Steps<void> {
    this.#found ??= yield* this.#find()
  }

  get requester(): Requester {
    return this.view.requester
  }

  /** Warnings for the requester. */
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

  /** The first k matches in the total order (from the beginning, or after a boundary) for which `holds` is true. */
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

  /** Scores all matches, in steps, before the best of them are requested. */
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

  /** Scores of the matches, by position. */
  get finals(): Float64Array {
    return this.#finals ?? atOnce(this.rank())
  }

  /** The first k matches of each source: the requester's own, each federation, the network; then those of all other nodes. */
  bestOfEach(k: number): readonly (readonly ScoredBelief[])[] {
    const { matches, origins, requester } = this
    const isOf = (number: number) => (row: number) => matches.sourceOf(row) === number
    const through = (federation: string) => (row: number) =>
      matches.sourceOf(row) === FEDERATED && origins.sourceOf(row, FEDERATED).id === federation
    const tests = [isOf(LOCAL), ...requester.federations.map(through), isOf(NETWORK)]
    return [...tests.map(test => this.#bestOwn(k, null, test)), this.remotes]
  }

  /** Scores of matches, by their row numbers. */
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

  /** Cosines of these rows, known ones or newly computed; null in list mode. */
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

  /** Like `byOrder`, for matches given by their positions. */
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

  /** Whether a match comes after a boundary. No two results of one query have the same id. */
  #isBehind(place: number, { final, createdAt, id }: Boundary): boolean {
    const { columns } = this.view
    const row = this.matches.rows[place] as number
    const created = columns.arrays.created[row] as number
    const order = final - (this.finals[place] as number) || createdAt - created || byCodeUnit(columns.idOf(row), id)
    return order > 0
  }

  /** The tests of these filters. */
  testsOf(filters: readonly CheckedFilters[]): readonly RowTest[] {
    return filters.length === 0 ? [] : rowTests(filters, filterWorld(this))
  }

  /** Matches that meet the operators of the text, or only those in `only`. */
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
        ? // A belief that passes the operators contains all phrases, so all matches are returned.
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
      inScope: this.inScope,
      narrow: matches => this.#narrow(matches),
      holding,
      wordShares: matches => this.wordShares(matches.rows),
    })
  }

  /** For each row, by entry key, the share of the text's words that it contains, 0 to 1. */
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

  /** Finds copies (BQ-130). Most beliefs have none, so only groups of rows with the same id or content are scored here. */
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

/** Comparator of scored beliefs: nearest to the text first. */
function byCosine(a: ScoredBelief, b: ScoredBelief): number {
  return (b.cosine ?? 0) - (a.cosine ?? 0) || a.entry - b.entry
}

/** A query without its paging. */
export type Question = Pick<CheckedQuery, 'semantic' | 'filters' | 'context' | 'weights'> & {
  readonly scope: EnabledSources
  /** Whether, of several copies, the one from the earliest tier is kept (BQ-130). */
  readonly byTier?: boolean | undefined
  /** Lowest raw cosine of a candidate; null: the default of the embedder in use. Absent: there is no candidate step. */
  readonly minSimilarity?: number | null | undefined
  /** Derives the result of a search over everything in scope from an earlier search. Null: a new search is needed. */
  readonly candidatesWith?: ((floor: number | null) => Candidates | null) | undefined
}

/** Result of an earlier evaluation, for one that continues as of the same time (BQ-144). */
export interface Earlier {
  readonly trust: HolderTrust
  /** Those of the earlier matches that still exist, with the rows of the view. */
  readonly matches: Matches
  /** Cosines of these matches and others; null in list mode. */
  readonly cosines: ReadonlyMap<EntryKey, number> | null
  /** Matches that had no vector at that time. */
  readonly byWords: ReadonlySet<EntryKey>
  /** Results that other nodes returned. */
  readonly remotes: readonly ScoredBelief[]
}

// Evaluations for answers other than pages: counts, facets, explanations.

/** The requester of a call, and when it is cancelled. */
export interface Call {
  /** Id of the requesting agent. */
  readonly requester: string
  readonly signal: AbortSignal
  /** Monotonic time in milliseconds, for time limits; absent: the machine's. */
  readonly machineTime?: (() => number) | undefined
}

/** Evaluates a query. `read` receives all matches, and its result is as of that moment. The caller does the paging. */
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

/** All warnings that belong on the answer to a query. */
export function warningsOf(query: CheckedQuery, embedded: Embedded, evaluation: Evaluation): readonly CheckedWarning[] {
  return [...query.warnings, ...embedded.warnings, ...evaluation.warnings]
}

/** Like `asked`, with a `read` function that runs in steps. */
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
  const { scope, minSimilarity, mergeStrategy } = query.options
  return { ...query, scope, minSimilarity, byTier: mergeStrategy === 'waterfall' }
}

/** Evaluates a query as of one moment; `embedded`: the vectors computed for its text before. */
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

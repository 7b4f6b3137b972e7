/**
 * One query against one moment: the requester, what matches, and how each match scores. Everything else (a page, a count,
 * facets, an explanation) is read off it. Nothing of what it reads may change while it is used (`BeliefsState.lookInSteps`).
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

/** Rows that are scored between two looks at the clock, or in one step: a millisecond or two. */
const SCORED_AT_ONCE = 500

/** What a query found. */
interface Found extends Omit<Candidates, 'cosines'> {
  /** Null: nothing was measured. */
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
  /** Null: not found yet. */
  #found: Found | null
  /** Null: no other node was asked. */
  readonly #leg: RemoteLeg | null
  /** Of the matches, by place; null: not scored yet. */
  #finals: Float64Array | null = null
  /** Null: not looked for yet. */
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

  /** Before filters, operators, candidates and copies. */
  get inScope(): Matches {
    this.#inScope ??= this.state.scopes.of(scopeRequest(this.view, this.question, this.asOf))
    return this.#inScope
  }

  /** Of this node's own; copies counted once. */
  get matches(): Matches {
    return this.#all.matches
  }

  /** Matches that other nodes gave, in the total order. */
  get remotes(): readonly ScoredBelief[] {
    return this.#all.remotes
  }

  /** All that match. */
  get total(): number {
    return this.matches.count + this.remotes.length
  }

  /** All that could match, before filters. */
  get scopeSize(): number {
    return this.inScope.count + (this.#leg?.remotes.size ?? 0)
  }

  /** Cosines of candidates; null in list mode. */
  get cosines(): Candidates['cosines'] | null {
    return this.#all.cosines
  }

  /** Those of the matches whose words stand in for a vector. */
  get byWords(): ReadonlySet<EntryKey> {
    return this.#all.byWords
  }

  /** Whether more are near enough than may be candidates. */
  get isCut(): boolean {
    return this.#all.isCut
  }

  /** Beliefs that pass filters and operators and have no vector yet. */
  get pending(): number {
    return this.#all.pending + (this.#leg?.pending ?? 0)
  }

  /** Rows of candidates that are no matches since others stand for them. */
  get copies(): ReadonlySet<number> {
    return this.#all.copies
  }

  /** Where nothing matches a text: what came closest to it, nearest first. */
  nearest(): readonly ScoredBelief[] {
    const own = this.#all.nearest.map(({ entry, cosine }) => {
      const row = this.view.columns.rowOf(entry)
      return this.scorer.score(row, this.inScope.sourceOf(row), cosine)
    })
    const leg = this.#leg?.nearest ?? []
    return leg.length === 0 ? own : [...own, ...leg].sort(byCosine).slice(0, MAX_REPORTED)
  }

  /** The lowest cosine of a candidate; null: there is no bound. */
  get floor(): number | null {
    const asked = this.question.minSimilarity ?? this.#usualFloor
    return asked === null || asked <= NO_FLOOR ? null : asked
  }

  /** Words have no floor but that there are some. */
  get #usualFloor(): number | null {
    return this.understood.meaning.by === 'words' ? 0 : (this.understood.thresholds?.floor ?? null)
  }

  get #all(): Found {
    this.#found ??= atOnce(this.#find())
    return this.#found
  }

  /** Finds the matches before they are asked for: a step for some hundred contents that are read and copies that are scored. */
  *prepare(): Steps<void> {
    this.#found ??= yield* this.#find()
  }

  get requester(): Requester {
    return this.view.requester
  }

  /** What a requester should know of the answer. */
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

  /** The first k in the total order, of all or of those behind a result, for which this holds. */
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

  /** Scores every match, in steps, before the best of them are asked for. */
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

  /** Of the matches, by place. */
  get finals(): Float64Array {
    return this.#finals ?? atOnce(this.rank())
  }

  /** The first k of each source: the requester's own, each federation, the network; then all of other nodes. */
  bestOfEach(k: number): readonly (readonly ScoredBelief[])[] {
    const { matches, origins, requester } = this
    const isOf = (number: number) => (row: number) => matches.sourceOf(row) === number
    const through = (federation: string) => (row: number) =>
      matches.sourceOf(row) === FEDERATED && origins.sourceOf(row, FEDERATED).id === federation
    const tests = [isOf(LOCAL), ...requester.federations.map(through), isOf(NETWORK)]
    return [...tests.map(test => this.#bestOwn(k, null, test)), this.remotes]
  }

  /** Scores of matches, by their rows. */
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

  /** Known ones, or looked up for these rows; null in list mode. */
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

  /** As `byOrder`, by places. */
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

  /** Of one query no two have the same id. */
  #isBehind(place: number, { final, createdAt, id }: Boundary): boolean {
    const { columns } = this.view
    const row = this.matches.rows[place] as number
    const created = columns.arrays.created[row] as number
    const order = final - (this.finals[place] as number) || createdAt - created || byCodeUnit(columns.idOf(row), id)
    return order > 0
  }

  /** What filters ask of a row. */
  testsOf(filters: readonly CheckedFilters[]): readonly RowTest[] {
    return filters.length === 0 ? [] : rowTests(filters, filterWorld(this))
  }

  /** Those that meet the operators of the text, or only these of them. */
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
        ? // All that pass hold them.
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

  /** By entry: the share of the words of the text that each of these rows holds, 0 to 1. */
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

  /** BQ-130: most have no copy, so only groups of rows with the same id or content are scored here. */
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

/** Nearest first. */
function byCosine(a: ScoredBelief, b: ScoredBelief): number {
  return (b.cosine ?? 0) - (a.cosine ?? 0) || a.entry - b.entry
}

/** What an answer is about, less its paging. */
export type Question = Pick<CheckedQuery, 'semantic' | 'filters' | 'context' | 'weights'> & {
  readonly scope: EnabledSources
  /** Whether of several copies the one from the earliest tier is kept (BQ-130). */
  readonly byTier?: boolean | undefined
  /** Lowest raw cosine of a candidate; null: the floor of the embedder in use. Absent: there is no candidate step. */
  readonly minSimilarity?: number | null | undefined
  /** What a search among all in scope would find, from what an earlier one found. Null: it must be searched. */
  readonly candidatesWith?: ((floor: number | null) => Candidates | null) | undefined
}

/** What an earlier evaluation came to, for one that goes on as of its moment (BQ-144). */
export interface Earlier {
  readonly trust: HolderTrust
  /** Those of its matches that are there still, by the view's rows. */
  readonly matches: Matches
  /** Of them and others; null in list mode. */
  readonly cosines: ReadonlyMap<EntryKey, number> | null
  /** Had no vector then. */
  readonly byWords: ReadonlySet<EntryKey>
  /** Of other nodes. */
  readonly remotes: readonly ScoredBelief[]
}

// Evaluations for answers that are not pages: counts, facets, explanations.

/** The requester of a call, and how long it waits. */
export interface Call {
  /** Id of the agent. */
  readonly requester: string
  readonly signal: AbortSignal
  /** Milliseconds of a clock that nobody can set, for time limits; absent: the machine's. */
  readonly machineTime?: (() => number) | undefined
}

/** `read` is given all that matches; what it returns is as of that moment. Paging is the caller's. */
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

/** What a requester should know of an answer. */
export function warningsOf(query: CheckedQuery, embedded: Embedded, evaluation: Evaluation): readonly CheckedWarning[] {
  return [...query.warnings, ...embedded.warnings, ...evaluation.warnings]
}

/** As `asked`, with a reading that pauses. */
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

/** A query as of one moment, with its matches; `embedded`: what its text came to before. */
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

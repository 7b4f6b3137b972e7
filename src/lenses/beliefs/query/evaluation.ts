/**
 * One query against one moment: who asks, what matches, and how each match scores. Everything else (a page, a count,
 * facets, an explanation) is read off it. Nothing of what it reads may change while it is used (`BeliefsState.lookInSteps`).
 */

import type { Instant } from '../../../base/clock.ts'
import { atOnce, type Steps, sortInSteps } from '../../../base/turns.ts'
import type { Requester } from '../access/requester.ts'
import { RowOrigins } from '../access/row-origins.ts'
import type { ShowView } from '../access/show.ts'
import { FEDERATED, LOCAL, NETWORK } from '../access/source-numbers.ts'
import { type RowTest, rowTests } from '../matching/filter.ts'
import { scopeRequest } from '../matching/in-scope.ts'
import type { Matches } from '../matching/matches.ts'
import { meetingOperators, type TextOperators } from '../matching/operators.ts'
import { best, exact, SCORED_AT_ONCE } from '../ranking/best.ts'
import { withoutVector } from '../ranking/by-vector.ts'
import type { BestRequest } from '../ranking/choice.ts'
import { copiesToDrop, copyGroups } from '../ranking/copies.ts'
import { type PriorOrder, priorOrderOf } from '../ranking/prior-order.ts'
import { byOrder, type ScoredBelief } from '../ranking/scored.ts'
import { Scorer } from '../ranking/scorer.ts'
import { trustColumns, trustQuestion } from '../ranking/trust-columns.ts'
import type { CheckedFilters } from '../schema/filters.ts'
import type { BeliefsState } from '../state.ts'
import type { HolderColumns, HolderTrust } from '../trust/holders.ts'
import { filterWorld } from './filter-world.ts'
import type { Earlier, Question, Understood } from './question.ts'

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
  #matches: Matches | null
  /** Before filters, operators and copies. */
  readonly #inScope: Matches
  readonly #earlier: Earlier | null
  #pending: { readonly matches: Matches; readonly rows: readonly number[] } | null = null

  constructor(
    state: BeliefsState,
    view: ShowView,
    question: Question,
    understood: Understood,
    asOf: Instant,
    earlier: Earlier | null = null,
  ) {
    this.state = state
    this.view = view
    this.question = question
    this.understood = understood
    this.asOf = asOf
    this.#earlier = earlier
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
      statics: state.statics,
      trust: this.trust,
      trustColumns: this.trustColumns,
      origins: this.origins,
    })
    this.#inScope = earlier?.matches ?? state.scopes.of(scopeRequest(view, question, asOf))
    this.#matches = earlier?.matches ?? null
  }

  /** Copies counted once. */
  get matches(): Matches {
    this.#matches ??= atOnce(this.#find())
    return this.#matches
  }

  /** Finds the matches before they are asked for: a step for some hundred contents that are read and copies that are scored. */
  *prepare(): Steps<void> {
    this.#matches ??= yield* this.#find()
  }

  get requester(): Requester {
    return this.view.requester
  }

  /** The first k in the total order. */
  best(k: number): readonly ScoredBelief[] {
    const late = this.#earlier === null ? [] : this.withoutVector(this.matches)
    if (late.length === 0) return best(this.#request(this.matches), k)
    // Those may have vectors by now.
    const others = this.matches.without(new Set(late))
    const scored = exact(this.#request(this.matches), late, new Map())
    return [...best(this.#request(others), k), ...scored].sort(byOrder).slice(0, k)
  }

  /** All of them in the total order, in steps; not of an earlier moment. */
  *all(): Steps<readonly ScoredBelief[]> {
    yield* this.prepare()
    const rows = [...this.matches.rows]
    const scored: ScoredBelief[] = []
    for (let at = 0; at < rows.length; at += SCORED_AT_ONCE) {
      scored.push(...this.scoresOf(rows.slice(at, at + SCORED_AT_ONCE)))
      yield
    }
    return yield* sortInSteps(scored, byOrder)
  }

  /** The first k of those for which this holds. */
  bestOf(holds: (row: number) => boolean, k: number): readonly ScoredBelief[] {
    const matches = this.matches.where(holds)
    return best(this.#request(matches), k)
  }

  /** The first k of each source: the requester's own, each federation, the network. */
  bestOfEach(k: number): readonly (readonly ScoredBelief[])[] {
    const { matches, origins, requester } = this
    const isOf = (number: number) => (row: number) => matches.sourceOf(row) === number
    const through = (federation: string) => (row: number) =>
      matches.sourceOf(row) === FEDERATED && origins.sourceOf(row, FEDERATED).id === federation
    const tests = [isOf(LOCAL), ...requester.federations.map(through), isOf(NETWORK)]
    return tests.map(test => this.bestOf(test, k))
  }

  /** Exact scores of matches, by their rows. */
  scoresOf(rows: readonly number[]): readonly ScoredBelief[] {
    return exact(this.#request(this.matches), rows)
  }

  /** What filters ask of a row. */
  testsOf(filters: readonly CheckedFilters[]): readonly RowTest[] {
    return filters.length === 0 ? [] : rowTests(filters, filterWorld(this))
  }

  /** Those that meet the operators of the text, or only these of them. */
  *meetingOperators(matches: Matches, only: Partial<TextOperators> = {}): Steps<Matches> {
    const { semantic } = this.question
    if (semantic === null) return matches
    const { include, exclude, thresholds, meaning } = this.understood
    return yield* meetingOperators({
      columns: this.view.columns,
      contents: this.state.contents,
      matches,
      ...{ include, exclude, phrases: semantic.phrases, ...only },
      thresholds,
      index: meaning.by === 'vector' ? meaning.index : null,
      sight: this.requester.sight,
      time: this.view.time,
    })
  }

  /** Rows of those that have no vector yet. */
  withoutVector(matches: Matches): readonly number[] {
    const { meaning } = this.understood
    if (meaning.by !== 'vector') return []
    if (this.#earlier !== null) return this.#lateOf(this.#earlier, matches)
    if (this.#pending?.matches === matches) return this.#pending.rows
    const rowsOf = (of: Matches) => {
      return withoutVector(this.view.columns, of, meaning.index, this.requester.sight)
    }
    // Mostly there are none at all, which is known at once.
    const rows = rowsOf(this.#inScope).length === 0 ? [] : rowsOf(matches)
    this.#pending = { matches, rows }
    return rows
  }

  #lateOf({ late }: Earlier, matches: Matches): readonly number[] {
    if (late.size === 0) return []
    const { columns } = this.view
    return [...late].map(entry => columns.rowOf(entry)).filter(row => row !== -1 && matches.has(row))
  }

  *#find(): Steps<Matches> {
    const passing = this.#passingFilters()
    yield
    return yield* this.#withoutCopies(yield* this.meetingOperators(passing))
  }

  /** Of all in scope. */
  #passingFilters(): Matches {
    const tick = this.view.time?.ticker()
    return this.testsOf(this.question.filters).reduce((left, test) => {
      const asked = this.#ofGuests(test)
      if (tick === undefined) return left.where(asked)
      return left.where((row, source) => {
        tick()
        return asked(row, source)
      })
    }, this.#inScope)
  }

  /** Where some came from other nodes, the test is for these: the others have passed it, over all that this node holds. */
  #ofGuests(test: RowTest): RowTest {
    if (this.view.guests === undefined) return test
    return (row, source) => this.origins.guest(row) === null || test(row, source)
  }

  /** BQ-130: most have no copy, so only groups of rows with the same id or content are scored here. */
  *#withoutCopies(matches: Matches): Steps<Matches> {
    const groups = copyGroups(matches, this.view.columns, this.#inScope.shared)
    if (groups.length === 0) return matches
    const rows = [...new Set(groups.flatMap(group => group.rows))]
    const scored = new Map<number, ScoredBelief>()
    const request = this.#request(matches)
    for (let at = 0; at < rows.length; at += SCORED_AT_ONCE) {
      yield
      for (const each of exact(request, rows.slice(at, at + SCORED_AT_ONCE))) scored.set(each.row, each)
    }
    yield
    const dropped = copiesToDrop(
      groups.map(group => ({
        same: group.same,
        members: group.rows.map(row => scored.get(row) as ScoredBelief),
      })),
      { byTier: this.question.byTier === true, requester: this.requester.id },
    )
    return matches.without(new Set([...dropped].map(({ row }) => row)))
  }

  #request(matches: Matches): BestRequest {
    return {
      columns: this.view.columns,
      matches,
      scorer: this.scorer,
      priorOrder: () => this.#priorOrder(),
      sight: this.requester.sight,
      time: this.view.time,
      meaning: this.understood.meaning,
      pending: () => this.withoutVector(matches),
      semanticWeight: this.question.weights.semantic,
    }
  }

  /** Of all in scope: for one who asks again it is kept, whatever the text and the filters. */
  #priorOrder(): PriorOrder {
    const { columns, time } = this.view
    const matches = this.#inScope
    const priors = {
      all: () => this.scorer.priors(matches, time),
      of: (row: number, source: number) => this.scorer.prior(row, source),
    }
    if (this.#earlier !== null) return priorOrderOf(matches, columns, priors)
    const { scope, context, weights } = this.question
    const enabled = [scope.local, scope.federated, scope.network]
    const { id, through } = this.requester
    const key = JSON.stringify([id, through, enabled, weights, context.confidenceWeights, trustQuestion(context)])
    const { asOf, trust } = this
    return this.state.priorOrders.of({ key, matches, trust: trust.stamp, asOf }, columns, priors)
  }
}

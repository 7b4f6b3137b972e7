/**
 * One query against one moment: who asks, what matches, and how each match scores. Everything else (a page, a count,
 * facets, an explanation) is read off it. Synchronous: nothing moves while it is used.
 */
import type { Instant } from '../../../base/clock.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { EnabledSources, Requester } from '../access/requester.ts'
import { type ShowView, shownHolder } from '../access/show.ts'
import type { CheckedFilters, CheckedQuery } from '../check/checked.ts'
import type { BeliefSource } from '../model.ts'
import type { BeliefColumns } from '../record/columns.ts'
import { DerivationDepths } from '../record/derivation.ts'
import type { BeliefsState } from '../state.ts'
import type { HolderColumns, HolderTrust } from '../trust/holders.ts'
import { best, exact } from './best.ts'
import { withoutVector } from './by-vector.ts'
import type { BestRequest, Meaning } from './choice.ts'
import { copiesToDrop } from './copies.ts'
import { rowTests } from './filter.ts'
import type { InScopeRequest } from './in-scope.ts'
import { FEDERATED, LOCAL, type Matches } from './matches.ts'
import { meetingOperators, type Operand } from './operators.ts'
import { byOrder, type ScoredBelief } from './scored.ts'
import { Scorer } from './scorer.ts'
import { type Standing, standingOf } from './standing.ts'
import { trustColumns, trustQuestion } from './trust-columns.ts'

/** What the text of a query came to: vectors of it and of its operands, made before the moment is fixed. */
export interface Understood {
  readonly meaning: Meaning
  readonly include: readonly Operand[]
  readonly exclude: readonly Operand[]
  readonly thresholds: { readonly include: number; readonly exclude: number } | null
}

export interface TextOperators {
  readonly include: readonly Operand[]
  readonly exclude: readonly Operand[]
  readonly phrases: readonly string[]
}

/** What an answer is about, less its paging. */
export type Question = Pick<CheckedQuery, 'semantic' | 'filters' | 'context' | 'weights'> & {
  readonly scope: EnabledSources
}

/** What an earlier evaluation has settled, for one that goes on as of its moment (BQ-144). */
export interface Settled {
  readonly trust: HolderTrust
  /** Those of its matches that are there still, by the view's rows. */
  readonly matches: Matches
  /** Had no vector then. */
  readonly late: ReadonlySet<EntryKey>
}

export class Evaluation {
  readonly state: BeliefsState
  readonly question: Question
  readonly understood: Understood
  readonly asOf: Instant
  readonly view: ShowView
  readonly trust: HolderTrust
  readonly trustColumns: HolderColumns
  readonly scorer: Scorer
  /** Copies counted once. */
  readonly matches: Matches
  readonly #holders = new Map<string, string | null>()
  /** Before filters, operators and copies. */
  readonly #inScope: Matches
  readonly #settled: Settled | null
  #pending: { readonly matches: Matches; readonly rows: readonly number[] } | null = null

  constructor(
    state: BeliefsState,
    view: ShowView,
    question: Question,
    understood: Understood,
    asOf: Instant,
    settled: Settled | null = null,
  ) {
    this.state = state
    this.view = view
    this.question = question
    this.understood = understood
    this.asOf = asOf
    const { context, weights } = question
    this.#settled = settled
    this.trust = settled?.trust ?? state.trust.trustOf(view.requester.id, trustQuestion(context), asOf)
    this.trustColumns = trustColumns(this.trust, view.columns)
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
      sourceOf: (row, source) => this.sourceOf(row, source),
      holderShown: (row, source) => this.holderShown(row, source),
      hasStrictFederations: view.requester.hasStrictFederations,
      strictFederation: row => this.#strictFederation(row),
    })
    this.#inScope = settled?.matches ?? this.#scoped()
    this.matches = settled?.matches ?? this.#withoutCopies(this.#meetingAll())
  }

  get requester(): Requester {
    return this.view.requester
  }

  /** The first k in the total order. */
  best(k: number): readonly ScoredBelief[] {
    const late = this.#settled === null ? [] : this.withoutVector(this.matches)
    if (late.length === 0) return best(this.#request(this.matches), k)
    // Those may have vectors by now.
    const others = this.matches.without(new Set(late))
    const scored = exact(this.#request(this.matches), late, new Map())
    return [...best(this.#request(others), k), ...scored].sort(byOrder).slice(0, k)
  }

  /** The first k of those for which this holds. */
  bestOf(holds: (row: number) => boolean, k: number): readonly ScoredBelief[] {
    const matches = this.matches.where(holds)
    return best(this.#request(matches), k)
  }

  /** Exact scores of matches, by their rows. */
  scoresOf(rows: readonly number[]): readonly ScoredBelief[] {
    return exact(this.#request(this.matches), rows)
  }

  sourceOf(row: number, source: number): BeliefSource {
    const { columns, requester } = this.view
    const found = requester.sourceOf(
      columns.arrays.partitions[row] as number,
      columns.holderOf(row),
      source === LOCAL ? this.question.scope : { ...this.question.scope, local: false },
    )
    if (found === null) throw new Error('invariant broken: a match without a source')
    return found
  }

  /** What is shown of a row's holder. */
  holderShown(row: number, source: number): string | null {
    const { columns } = this.view
    if (source !== FEDERATED) return columns.holderOf(row)
    const from = this.sourceOf(row, source)
    const key = `${columns.arrays.holders[row]} ${from.id}`
    const known = this.#holders.get(key)
    if (known !== undefined) return known
    const shown = shownHolder(this.view, columns.holderOf(row), from)
    this.#holders.set(key, shown)
    return shown
  }

  /** A federation that shows no holders, where the row comes through one and is not the requester's own. */
  #strictFederation(row: number): string | null {
    const { columns, requester } = this.view
    const through = requester.sourceOf(columns.arrays.partitions[row] as number, columns.holderOf(row), {
      ...this.question.scope,
      local: false,
    })?.id
    const isOwn = columns.holderOf(row) === requester.id
    return !isOwn && through !== null && through !== undefined && requester.isStrict(through) ? through : null
  }

  /** Rows of those that have no vector yet. */
  withoutVector(matches: Matches): readonly number[] {
    const { meaning } = this.understood
    if (meaning.by !== 'vector') return []
    if (this.#settled !== null) return this.#lateOf(this.#settled, matches)
    if (this.#pending?.matches === matches) return this.#pending.rows
    const rowsOf = (of: Matches) => {
      return withoutVector(this.view.columns, of, meaning.index, this.requester.sight)
    }
    // Mostly there are none at all, which is known at once.
    const rows = rowsOf(this.#inScope).length === 0 ? [] : rowsOf(matches)
    this.#pending = { matches, rows }
    return rows
  }

  #lateOf({ late }: Settled, matches: Matches): readonly number[] {
    if (late.size === 0) return []
    const { columns } = this.view
    return [...late].map(entry => columns.rowOf(entry)).filter(row => row !== -1 && matches.has(row))
  }

  #scoped(): Matches {
    return this.state.scopes.of(scopeRequest(this.view, this.question, this.asOf))
  }

  #meetingAll(): Matches {
    const matches = this.#inScope
    const { filters } = this.question
    const tick = this.view.time?.ticker()
    const met = this.testsOf(filters).reduce((left, test) => {
      if (tick === undefined) return left.where(test)
      return left.where((row, source) => {
        tick()
        return test(row, source)
      })
    }, matches)
    return this.meetingOperators(met)
  }

  /** What filters ask of a row. */
  testsOf(filters: readonly CheckedFilters[]): ReturnType<typeof rowTests> {
    if (filters.length === 0) return []
    const { context } = this.question
    let depths: DerivationDepths | null = null
    const { holders } = this.view.columns.arrays
    const { hasStrictFederations } = this.requester
    const ofHolder = (column: 'reputation' | 'direct') => {
      let values: Float64Array | null = null
      return (row: number, source: number): number => {
        const strict = hasStrictFederations && source === FEDERATED ? this.#strictFederation(row) : null
        if (strict !== null) return this.trustColumns.ofFederation(strict)[column]
        values ??= this.trustColumns[column]
        return values[holders[row] as number] as number
      }
    }
    return rowTests(filters, {
      columns: this.view.columns,
      asOf: this.asOf,
      queryDomains: context.queryDomains,
      overall: this.state.statics.overall(context.confidenceWeights),
      decay: this.state.settings.decay,
      holderShown: (row, source) => this.holderShown(row, source),
      reputation: ofHolder('reputation'),
      direct: ofHolder('direct'),
      depth: row => {
        depths ??= new DerivationDepths(this.view)
        return depths.of(row)
      },
    })
  }

  /** Those that meet the operators of the text, or only these of them. */
  meetingOperators(matches: Matches, only: Partial<TextOperators> = {}): Matches {
    const { semantic } = this.question
    if (semantic === null) return matches
    const { thresholds, meaning } = this.understood
    const { include, exclude, phrases } = { ...this.understood, phrases: semantic.phrases, ...only }
    return meetingOperators({
      columns: this.view.columns,
      contents: this.state.contents,
      matches,
      include,
      exclude,
      phrases,
      thresholds,
      index: meaning.by === 'vector' ? meaning.index : null,
      sight: this.requester.sight,
      time: this.view.time,
    })
  }

  /** BQ-130: most have no copy, so only groups of rows with the same id or content are scored here. */
  #withoutCopies(matches: Matches): Matches {
    const { columns } = this.view
    const groups = [
      ...sameRows(matches, columns, this.#inScope, 'id'),
      ...sameRows(matches, columns, this.#inScope, 'content'),
    ]
    if (groups.length === 0) return matches
    const rows = [...new Set(groups.flatMap(group => group.rows))]
    const scored = new Map(exact(this.#request(matches), rows).map(each => [each.row, each]))
    const dropped = copiesToDrop(
      groups.map(group => ({
        same: group.same,
        members: group.rows.map(row => scored.get(row) as ScoredBelief),
      })),
    )
    return matches.without(new Set([...dropped].map(({ row }) => row)))
  }

  #request(matches: Matches): BestRequest {
    return {
      columns: this.view.columns,
      matches,
      scorer: this.scorer,
      standing: () => this.#standing(),
      sight: this.requester.sight,
      time: this.view.time,
      meaning: this.understood.meaning,
      pending: () => this.withoutVector(matches),
      semanticWeight: this.question.weights.semantic,
    }
  }

  /** Of all in scope: for one who asks again it is kept, whatever the text and the filters. */
  #standing(): Standing {
    const { scope, context, weights } = this.question
    const { confidenceWeights } = context
    const enabled = [scope.local, scope.federated, scope.network, [...(scope.federations ?? [])]]
    const asked = [this.requester.id, enabled, weights, confidenceWeights]
    const key = JSON.stringify([...asked, trustQuestion(context)])
    const { matches, asOf, trust } = { matches: this.#inScope, asOf: this.asOf, trust: this.trust.stamp }
    const { columns, time } = this.view
    const priors = {
      all: () => this.scorer.priors(matches, time),
      of: (row: number, source: number) => this.scorer.prior(row, source),
    }
    if (this.#settled !== null) return standingOf(matches, columns, priors)
    return this.state.standings.of({ key, matches, trust, asOf }, columns, priors)
  }
}

/** What the first pass over all beliefs goes by. */
export function scopeRequest(
  { columns, requester, time }: ShowView,
  { filters, scope }: Question,
  asOf: Instant,
): InScopeRequest {
  const validAt = filters.some(({ validAt }) => validAt !== null) ? validInstants(filters, asOf) : null
  return { columns, requester, scope, asOf, validAt, time }
}

/** When beliefs must hold: where nothing says otherwise, now. */
export function validInstants(filters: readonly CheckedFilters[], asOf: Instant): readonly Instant[] {
  const given = filters.flatMap(({ validAt }) => (validAt === null ? [] : [validAt]))
  return given.length === 0 ? [asOf] : given
}

interface SameRows {
  readonly same: 'id' | 'content'
  /** Two or more. */
  readonly rows: number[]
}

/** Groups of matches that share their id or their content; those in scope are looked through once. */
function sameRows(
  matches: Matches,
  columns: BeliefColumns,
  inScope: Matches,
  same: 'id' | 'content',
): readonly SameRows[] {
  const numbers = same === 'id' ? columns.arrays.ids : columns.arrays.contents
  const groups = new Map<number, SameRows>()
  for (const row of inScope.shared[same]) {
    if (!matches.has(row)) continue
    const number = numbers[row] as number
    const group = groups.get(number)
    if (group === undefined) groups.set(number, { same, rows: [row] })
    else group.rows.push(row)
  }
  return [...groups.values()].filter(({ rows }) => rows.length > 1)
}

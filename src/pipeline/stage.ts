/**
 * The six stages. Each is a function from plain value to plain value; a lens replaces any of them. The driver (`run.ts`)
 * knows their order, the deadline and the trace, and nothing else.
 */
import type { Bitset } from '../base/bitset.ts'
import type { Candidate, Explain, Ranked, Scored } from '../model/candidate.ts'
import type { Filter } from '../model/filter.ts'
import type { Page, Verdict } from '../model/page.ts'
import type { ParsedQuery } from '../model/plan.ts'
import type { Query } from '../model/query.ts'
import type { QueryContext } from './context.ts'

/** What was asked, resolved as far as the text and the facts allow. */
export interface Plan {
  readonly query: Query
  readonly parsed: ParsedQuery
  /** Conditions of the request and of the text together. */
  readonly filter: Filter | null
  /** Null: nothing to embed, or no embedder. Filled by enrich. */
  readonly vector: Float32Array | null
  /** What enrich or a lens found out, by name; shown in the trace. */
  readonly facts: Readonly<Record<string, unknown>>
}

/** What retrieval brought, with the statistics that scoring needs. */
export interface Retrieval {
  readonly candidates: readonly Candidate[]
  /** Entries that pass filter and conditions; null means every visible one. */
  readonly allow: Bitset | null
  /** Numbers about the visible rows, by name (`bmTop`, `bmMax`, `bestCosine`, `rows`). */
  readonly statistics: Readonly<Record<string, number>>
  /** Whether asking deeper could bring more. */
  readonly exhausted: boolean
}

export interface Scoring {
  readonly scored: readonly Scored[]
  readonly explain: Explain
  readonly verdict: Verdict
  readonly reason: string | null
}

export interface Ranking {
  readonly ranked: readonly Ranked[]
  readonly scoring: Scoring
}

export interface Stages {
  /** Text and options to a plan. Throws `query_syntax` with a position. */
  parse(query: Query, context: QueryContext): Plan
  /** Adds what the text does not say: synonyms, numbers, times, the vector. */
  enrich(plan: Plan, context: QueryContext): Promise<Plan>
  /** Candidates, only from partitions in sight. `depth` is entries a leg; asked again with more when a page needs it. */
  retrieve(plan: Plan, depth: number, context: QueryContext): Promise<Retrieval>
  /** One number a candidate, and the parts it is made from. */
  score(retrieval: Retrieval, plan: Plan, context: QueryContext): Scoring
  /** The total order, caps and spread. */
  diversify(scoring: Scoring, plan: Plan, context: QueryContext): Ranking
  /** Second access check, cut to the page, excerpts, explanations, cursor. */
  present(ranking: Ranking, retrieval: Retrieval, plan: Plan, context: QueryContext): Page
}

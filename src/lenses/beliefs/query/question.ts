/** What is asked of one moment, and what its text came to before that was fixed. */
import type { EntryKey } from '../../../model/entry.ts'
import type { EnabledSources } from '../access/requester.ts'
import type { Matches } from '../matching/matches.ts'
import type { Operand } from '../matching/operators.ts'
import type { Meaning } from '../ranking/scored.ts'
import type { CheckedQuery } from '../schema/query.ts'
import type { HolderTrust } from '../trust/holders.ts'
import type { Thresholds } from './thresholds.ts'

/** What an answer is about, less its paging. */
export type Question = Pick<CheckedQuery, 'semantic' | 'filters' | 'context' | 'weights'> & {
  readonly scope: EnabledSources
  /** Whether the copy of the earliest source stands for the others (BQ-130). */
  readonly byTier?: boolean | undefined
  /** Lowest raw cosine of a candidate; null: the floor of the embedder in use. Absent: there is no candidate step. */
  readonly minSimilarity?: number | null | undefined
}

/** What the text of a query came to: vectors of it and of its operands. */
export interface Understood {
  readonly meaning: Meaning
  readonly include: readonly Operand[]
  readonly exclude: readonly Operand[]
  /** Null: the model was not calibrated, or there is none. */
  readonly thresholds: Thresholds | null
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
}

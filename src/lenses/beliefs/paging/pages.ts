/** An answer that is read part by part. */
import type { QueryResult } from '../model.ts'

export interface Pages {
  /** Whether there is more to read; before the first part that may not be known. */
  readonly hasMore: boolean
  /** Results read or skipped so far. */
  readonly passed: number
  /** The next results, at most so many. */
  next(limit: number): Promise<QueryResult>
  /** Of what is next, and the order is held for it; null: there is none. */
  cursor(): string | null
  /** Lets go of the order until `goOn`, which finds it again or rejects with `cursor_expired`. */
  keep(): void
  goOn(): Promise<void>
  /** Nothing is kept for it any more, but for who comes with a cursor. */
  release(): void
}

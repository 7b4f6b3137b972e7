/** A way of asking: what becomes of a text before the query, of the rows after it, and of the scores in between. */
import type { EffectiveQuery, QueryParams, ResultRow } from '../model.ts'
import type { ParseContext, PostContext } from './context.ts'

export type Awaitable<T> = T | Promise<T>

/** Hooks get copies: what they change in them changes nothing else (CQ-007). */
export class QueryProfile {
  /** Parameters of a text. Their values are checked afterwards like those of a direct query. */
  parseInput(_text: string, _context: ParseContext): Awaitable<QueryParams> {
    throw new Error(`${this.constructor.name} has no parseInput: it answers lists of hashtags only`)
  }

  /** What is answered instead of these rows, best first. */
  postProcess(rows: ResultRow[], _context: PostContext): Awaitable<readonly ResultRow[]> {
    return rows
  }

  /** How well an entry fits, 0 to 1. Counted (three tenths) only in a profile that has its own (CQ-080). */
  customScoring(_entry: ResultRow, _query: EffectiveQuery): Awaitable<number> {
    return 0
  }
}

/** Anything with `parseInput` can be registered; the other hooks may be missing. */
export type ProfileHooks = Pick<QueryProfile, 'parseInput'> & Partial<QueryProfile>

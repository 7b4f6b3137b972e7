/** The request as the pipeline works with it: everything resolved, nothing optional. */
import type { Instant } from '../base/clock.ts'
import type { Filter } from './filter.ts'
import { DEFAULT_LIMIT, DEFAULT_TIMEOUT_MS } from './limits.ts'

/** Where a page ended; the next one goes on strictly after it. Travels in the cursor. */
export interface Position {
  /** The last item's place in the total order. */
  readonly order: number
  /** Of items with an order of two numbers, the second; absent: 0. */
  readonly tie?: number | undefined
  readonly id: string
  readonly holder: string
  /** Where passages are ranked: its position in the entry, from 1. */
  readonly passage?: number | undefined
  /** Its rank: what was shown so far. */
  readonly rank: number
  /** How deep the first retrieval went; the next page's does the same. */
  readonly depth: number
  /** The retrieval that brought the last item, from 0. */
  readonly round: number
  /** The last that were shown so far, as hashes: they do not come again. */
  readonly shown: string
}

/**
 * How a text is read: `plain` without operators; `lenient`: what is no operator is text; `strict`: what is no operator is
 * an error.
 */
export const SYNTAXES = ['plain', 'lenient', 'strict'] as const
export type Syntax = (typeof SYNTAXES)[number]

/** What an item of the answer is: an entry with its best passages, or one passage. */
export const GROUPS = ['entry', 'passage'] as const
export type Group = (typeof GROUPS)[number]

/** Whether a phrase must occur, or only raises what holds it. */
export const PHRASE_USES = ['require', 'prefer'] as const
export type PhraseUse = (typeof PHRASE_USES)[number]

/** What the pipeline runs on. Made from a checked `QueryInput`, the engine's settings and the clock. */
export interface Query {
  readonly text: string
  readonly syntax: Syntax
  /** Null: the syntax decides, and in lenient syntax how many entries hold it. */
  readonly phrase: PhraseUse | null
  readonly lens: string
  /** Of the lens, as its schema returns them; an empty object for a lens without options. */
  readonly options: unknown
  readonly limit: number
  /** As it was given; null: this is a first page. */
  readonly cursor: string | null
  /** Null: from the beginning. */
  readonly after: Position | null
  /** What a cursor of this question is bound to: changes with everything that could change the order. */
  readonly binding: () => string
  /** Conditions of `filter` and `known_at`; those in the text are added by the parse stage. */
  readonly filter: Filter | null
  readonly mode: 'hybrid' | 'words' | 'meaning'
  /** Null: the default of what is searched (0.7 of prose, 0.85 of code, between the two of both). */
  readonly meaningWeight: number | null
  readonly memory: boolean
  readonly touch: boolean
  readonly diversity: number
  readonly perCollection: number | null
  readonly perOrigin: number | null
  readonly any: boolean
  readonly explain: boolean
  readonly trace: boolean
  readonly approximate: boolean
  readonly timeoutMs: number
  readonly excerptLength: number
  readonly group: Group
  /** Passages of an item, 1 to 10; null: the best one, without reasons of its own. */
  readonly passages: number | null
  /** The moment that decay, recency, validity and relative times refer to. */
  readonly asOf: Instant
  /** When its first page was asked for: by what was there then its order goes. */
  readonly begun: Instant
}

/** What a request that leaves them out gets. */
type QueryDefaults = Pick<
  Query,
  | 'syntax'
  | 'lens'
  | 'limit'
  | 'mode'
  | 'group'
  | 'memory'
  | 'diversity'
  | 'any'
  | 'explain'
  | 'trace'
  | 'approximate'
  | 'timeoutMs'
  | 'excerptLength'
>

export const QUERY_DEFAULTS: QueryDefaults = {
  syntax: 'lenient',
  lens: 'default',
  limit: DEFAULT_LIMIT,
  mode: 'hybrid',
  group: 'entry',
  memory: true,
  diversity: 1,
  any: false,
  explain: false,
  trace: false,
  approximate: true,
  timeoutMs: DEFAULT_TIMEOUT_MS,
  excerptLength: 320,
}

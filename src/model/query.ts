/** The query as the pipeline works with it: all values resolved, none optional. */
import type { Instant } from '../base/clock.ts'
import type { Filter } from './filter.ts'
import { DEFAULT_LIMIT, DEFAULT_TIMEOUT_MS } from './limits.ts'

/** Where a page ended; the next page continues strictly after it. Stored in the cursor. */
export interface Position {
  /** The last item's score, or value of `order`, in the total order. */
  readonly order: number
  /** The last item's `tie`, for items that are ordered by two numbers; absent: 0. */
  readonly tie?: number | undefined
  readonly id: string
  readonly holder: string
  /** Where passages are ranked: the last item's position in its entry, from 1. */
  readonly passage?: number | undefined
  /** The last item's rank, which is the number of items shown so far. */
  readonly rank: number
  /** Depth of the first retrieval, which the next page's retrieval repeats. */
  readonly depth: number
  /** The retrieval that found the last item, from 0. */
  readonly round: number
  /** Hashes of the items shown last, so that they are not shown again. */
  readonly shown: string
}

/** How a text is parsed. `plain`: without operators; `lenient`: a malformed operator is text; `strict`: it is an error. */
export const SYNTAXES = ['plain', 'lenient', 'strict'] as const
export type Syntax = (typeof SYNTAXES)[number]

/** What an item of the answer is: an entry with its best passages, or one passage. */
export const GROUPS = ['entry', 'passage'] as const
export type Group = (typeof GROUPS)[number]

/** Whether a phrase must occur, or only raises entries that contain it. */
export const PHRASE_USES = ['require', 'prefer'] as const
export type PhraseUse = (typeof PHRASE_USES)[number]

/** The query on which the pipeline runs, made from a checked `QueryInput`, the engine's settings and the clock. */
export interface Query {
  readonly text: string
  readonly syntax: Syntax
  /** Use of phrases; null: the syntax decides, and in lenient syntax the number of entries that contain the phrase. */
  readonly phrase: PhraseUse | null
  readonly lens: string
  /** Options of the lens, as parsed by its schema; an empty object for a lens without options. */
  readonly options: unknown
  readonly limit: number
  /** The cursor as given; null: this is a first page. */
  readonly cursor: string | null
  /** Position after which the page begins; null: from the start. */
  readonly after: Position | null
  /** What a cursor of this query is bound to: it changes with everything that could change the order. */
  readonly binding: () => string
  /** Conditions of `filter` and `known_at`; the parse stage adds those in the text. */
  readonly filter: Filter | null
  readonly mode: 'hybrid' | 'words' | 'meaning'
  /** Weight of meaning; null: the default for what is searched (0.7 for prose, 0.85 for code, in between for both). */
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
  /** Number of passages per item, 1 to 10; null: only the best one, without an explanation of its own. */
  readonly passages: number | null
  /** Time to which decay, recency, validity and relative times refer. */
  readonly asOf: Instant
  /** When the first page was requested: the order is determined by the state at that time. */
  readonly begun: Instant
}

/** Values for fields that a request leaves out. */
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

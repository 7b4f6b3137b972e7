/** The query as the stages of its evaluation use it: all values resolved to definite ones, none optional. */
import type { Instant } from '../base/clock.ts'
import type { Filter } from './filter.ts'
import { DEFAULT_LIMIT, DEFAULT_TIMEOUT_MS } from './limits.ts'

/** The position at which a page ended, kept in the cursor; the next page begins with the first item after it. */
export interface Position {
  /** Score of the page's last item, or its value of `order` in a list that is not ordered by score. */
  readonly order: number
  /** The last item's `tie`, a second number that orders items with equal `order`; absent: 0. */
  readonly tie?: number | undefined
  readonly id: string
  readonly holder: string
  /** Position of the last item's passage in its entry, from 1; only where passages are ranked. */
  readonly passage?: number | undefined
  /** Rank of the page's last item, which is also the number of items shown so far. */
  readonly rank: number
  /** Number of candidates that the first retrieval for the query requested; the query for the next page begins with the same number. */
  readonly depth: number
  /**
   * Number, from 0, of the retrieval that found the page's last item. A query retrieves again, each time more candidates, when pages need
   * more.
   */
  readonly round: number
  /** Hashes of the items shown last, joined into one text, so that these items are not shown again. */
  readonly shown: string
}

/**
 * How the query's text is parsed. `plain`: operators such as `+word` are ordinary text; `lenient`: a malformed operator is ordinary text;
 * `strict`: a malformed operator is an error.
 */
export const SYNTAXES = ['plain', 'lenient', 'strict'] as const
export type Syntax = (typeof SYNTAXES)[number]

/** Whether a result is an entry with its best passages, or a single passage. */
export const GROUPS = ['entry', 'passage'] as const
export type Group = (typeof GROUPS)[number]

/** Whether a phrase in quotes must occur in results, or only raises the score of entries that contain it. */
export const PHRASE_USES = ['require', 'prefer'] as const
export type PhraseUse = (typeof PHRASE_USES)[number]

/** A query ready to be evaluated, made from a checked `QueryInput`, the engine's settings and the clock. */
export interface Query {
  readonly text: string
  readonly syntax: Syntax
  /**
   * Whether phrases in quotes are required. Null: they are, except in lenient syntax, where a phrase that too few visible entries contain
   * only raises the scores of those entries.
   */
  readonly phrase: PhraseUse | null
  readonly lens: string
  /** Options for the lens, as parsed by the lens's schema; an empty object for a lens without options. */
  readonly options: unknown
  readonly limit: number
  /** The cursor as given by the requester; null: the first page is requested. */
  readonly cursor: string | null
  /** Position after which the page begins, from the cursor; null: at the first item. */
  readonly after: Position | null
  /** Returns the text to which a cursor of this query is bound: it differs for queries that could order results differently. */
  readonly binding: () => string
  /** The conditions of the request's `filter` and `known_at`; the parse stage adds conditions from the query's text. Null: none. */
  readonly filter: Filter | null
  readonly mode: 'hybrid' | 'words' | 'meaning'
  /**
   * Weight of meaning in scores, 0 to 1; null: the default for the searched entries (0.7 for prose, 0.85 for code, in between for both).
   */
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
  /** Number of passages shown per result, 1 to 10; null: only the best one, without an explanation of its own. */
  readonly passages: number | null
  /** Time at which the query is evaluated: validity of entries, recency, decay and relative times refer to it. */
  readonly asOf: Instant
  /** When the first page was requested; the order of results is determined by the state of the store at that time. */
  readonly begun: Instant
}

/** Default values of fields that a request does not have. */
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

/** Limits and default numbers that several parts of the program use, with their reasons. */

/**
 * Longest query text, in UTF-16 units. In strict syntax a longer text is an error; in other syntaxes only its beginning is searched, and a
 * note in the answer says so.
 */
export const MAX_QUERY_LENGTH = 10_000
/** Largest number of items on a page. */
export const MAX_LIMIT = 1_000
export const DEFAULT_LIMIT = 10
/** Largest number of passages that an item can show. */
export const MAX_PASSAGES = 10
/**
 * Longest content of an entry, in UTF-16 units: SQLite writes, replaces or deletes so much in one statement in less than 50 ms, even where
 * each character takes three bytes (QE-019). Longer files are split into several entries.
 */
export const MAX_CONTENT_LENGTH: number = 4 * 1024 * 1024
export const MAX_ID_LENGTH = 512
export const MAX_NAME_LENGTH = 200
/** Largest number of tags of an entry. */
export const MAX_TAGS = 1_000
/** Deepest nesting of metadata JSON, and of a filter tree. */
export const MAX_DEPTH = 32
/** Default time limit of a query. */
export const DEFAULT_TIMEOUT_MS = 5_000
export const MAX_TIMEOUT_MS = 300_000
/**
 * Number of entries that each search (by words, by meaning) returns before their scores are combined (digest "ranking", §1: 100). A larger
 * number adds nothing to the measured quality (nDCG@10).
 */
export const LEG_DEPTH = 100
/** Number of items in each chunk of a streamed answer. */
export const DEFAULT_CHUNK_SIZE = 20
export const MAX_CHUNK_SIZE = 100
/** Longest cursor accepted, in characters: the longest cursors contain a long id in a script of three bytes per letter, and 200 hashes. */
export const MAX_CURSOR_LENGTH = 8_192
/** How long a cursor can be used after it was issued. */
export const CURSOR_LIFETIME_MS: number = 24 * 60 * 60 * 1000

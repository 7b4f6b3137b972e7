/** Every bound and default number that more than one part uses, with its source. */

/** Longest question, in UTF-16 units. Longer ones are refused, not cut: a cut question is another question. */
export const MAX_QUERY_LENGTH = 10_000
/** Most items a page can hold. */
export const MAX_LIMIT = 1_000
export const DEFAULT_LIMIT = 10
/** Most passages of an entry that an item can show. */
export const MAX_PASSAGES = 10
/**
 * Longest entry content, in UTF-16 units: what SQLite writes, replaces or deletes in one statement in less than 50 ms, also
 * where a character takes three bytes (QE-019). Longer files are kept in parts.
 */
export const MAX_CONTENT_LENGTH: number = 4 * 1024 * 1024
export const MAX_ID_LENGTH = 512
export const MAX_NAME_LENGTH = 200
/** Most tags an entry can have. */
export const MAX_TAGS = 1_000
/** Depth of metadata JSON, and of a filter tree. */
export const MAX_DEPTH = 32
/** Default time a question may take. */
export const DEFAULT_TIMEOUT_MS = 5_000
export const MAX_TIMEOUT_MS = 300_000
/** Entries each leg brings before fusion (digest "ranking", §1: 100; more adds nothing to nDCG@10). */
export const LEG_DEPTH = 100
/** Items in a piece of an answer that is given piece by piece. */
export const DEFAULT_CHUNK_SIZE = 20
export const MAX_CHUNK_SIZE = 100
/** The longest that are written hold a long id in a script of three bytes a letter, and 200 hashes. */
export const MAX_CURSOR_LENGTH = 8_192
/** How long a cursor can be used. */
export const CURSOR_LIFETIME_MS: number = 24 * 60 * 60 * 1000

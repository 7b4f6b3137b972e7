/** Tables of the core itself: who is hosted here, and who is in which federation. Lenses add their own. */
import type { TableDeclaration } from '../model/table.ts'

export const AGENTS: TableDeclaration = {
  name: 'agents',
  columns: [
    { name: 'id', type: 'text' },
    { name: 'label', type: 'text', nullable: true },
    { name: 'created_at', type: 'integer' },
    /** did:key of its Ed25519 key. A seed that this node keeps for it is in the store's `meta`, which no export reads. */
    { name: 'did', type: 'text', nullable: true },
    /** 0 to 1, and by domain (a JSON object). */
    { name: 'reputation', type: 'real', nullable: true },
    { name: 'reputation_by_domain', type: 'text', nullable: true },
    /** What its trust graph may be called in a request. */
    { name: 'trust_graph', type: 'text', nullable: true },
  ],
  key: ['id'],
  countedFor: 'id',
}

export const FEDERATIONS: TableDeclaration = {
  name: 'federations',
  columns: [
    { name: 'id', type: 'text' },
    { name: 'label', type: 'text', nullable: true },
    { name: 'created_at', type: 'integer' },
    /** Nothing reads it, or `joining`: tables lose no column, and older stores have both. */
    { name: 'did', type: 'text', nullable: true },
    { name: 'joining', type: 'text', nullable: true },
    /** `individual` or `aggregate`; null: individual. */
    { name: 'results', type: 'text', nullable: true },
    /** `pseudonyms` or `strict`; null: pseudonyms. */
    { name: 'anonymity', type: 'text', nullable: true },
    { name: 'reputation', type: 'real', nullable: true },
    /** Who made it here; null: nobody's quota of bytes counts it. */
    { name: 'made_by', type: 'text', nullable: true },
  ],
  key: ['id'],
  countedFor: 'made_by',
}

/**
 * `status` is `active`, `suspended` or `departed`; only active members with the permission `query_beliefs` read, and only
 * what active members hold is read.
 */
export const MEMBERSHIPS: TableDeclaration = {
  name: 'memberships',
  columns: [
    { name: 'federation', type: 'text' },
    { name: 'agent', type: 'text' },
    { name: 'status', type: 'text' },
    { name: 'updated_at', type: 'integer' },
    /** `founder`, `admin`, `moderator`, `member` or `observer`. */
    { name: 'role', type: 'text', nullable: true },
    /** JSON list of `query_beliefs`, `share_beliefs`, `view_aggregates`; null: all of them. */
    { name: 'permissions', type: 'text', nullable: true },
    { name: 'joined_at', type: 'integer', nullable: true },
    /** Who last set it; null: nobody's quota of bytes counts it. */
    { name: 'set_by', type: 'text', nullable: true },
  ],
  key: ['federation', 'agent'],
  countedFor: 'set_by',
  indexes: [['agent']],
}

/** Which file an entry was made from, and the state it had: what incremental ingest compares. */
export const FILES: TableDeclaration = {
  name: 'files',
  columns: [
    { name: 'entry', type: 'integer' },
    { name: 'root', type: 'text' },
    { name: 'path', type: 'text' },
    { name: 'hash', type: 'text' },
    { name: 'size', type: 'integer' },
    { name: 'modified_at', type: 'integer' },
  ],
  key: ['entry'],
  ofEntry: true,
  indexes: [['root', 'path']],
}

/** Names that a link or a question may call a file by, in lower case: a row for each. Of a file that is one entry. */
export const FILE_NAMES: TableDeclaration = {
  name: 'file_names',
  columns: [
    { name: 'entry', type: 'integer' },
    /** `file` (the last part of its path, without the ending of a Markdown file), `alias` or `title`. */
    { name: 'kind', type: 'text' },
    { name: 'name', type: 'text' },
  ],
  key: ['entry', 'kind', 'name'],
  ofEntry: true,
  indexes: [['name']],
}

/** As a link names the file: notes link to each other without the ending. */
export function withoutMarkdownEnding(path: string): string {
  return path.replace(/\.(md|markdown|mdx|mdown)$/i, '')
}

/** Of a path with `/` between its parts. */
export function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/**
 * Links of a file as its text names them. Which file that is depends on the files that are there and on who may see them, so
 * it is found when it is asked for.
 */
export const FILE_LINKS: TableDeclaration = {
  name: 'file_links',
  columns: [
    { name: 'entry', type: 'integer' },
    { name: 'target', type: 'text' },
    /** 1: from the folder of the file, as in Markdown. */
    { name: 'relative', type: 'integer' },
    /** The last part of the target, in lower case. */
    { name: 'name', type: 'text' },
  ],
  key: ['entry', 'target', 'relative'],
  ofEntry: true,
  indexes: [['name']],
}

/**
 * What was given when a path was added: kept for the next time, so that adding it again without options changes none of
 * them. Null: not given, and so the default holds.
 */
export const ADDED_PATHS: TableDeclaration = {
  name: 'added_paths',
  columns: [
    { name: 'holder', type: 'text' },
    /** Absolute, symbolic links resolved. */
    { name: 'path', type: 'text' },
    /** The folder that rows of `files` name with it: the path itself, or the folder of a file. */
    { name: 'root', type: 'text' },
    { name: 'lens', type: 'text', nullable: true },
    { name: 'collection', type: 'text', nullable: true },
    { name: 'kind', type: 'text', nullable: true },
    /** A JSON list. Null: not known, for the store was made before they were kept; then entries keep theirs. */
    { name: 'tags', type: 'text', nullable: true },
    { name: 'visibility', type: 'text', nullable: true },
    /** A JSON list, with `shared`. */
    { name: 'federations', type: 'text', nullable: true },
    /** A JSON object. */
    { name: 'map', type: 'text', nullable: true },
  ],
  key: ['holder', 'path'],
  countedFor: 'holder',
  aside: true,
}

/**
 * What was last seen of files below added paths where `FILES` does not say it: those that no entry is made from, and those whose time alone
 * has changed. So a file is read again when it changes, and not before (QE-012).
 */
export const SEEN_FILES: TableDeclaration = {
  name: 'seen_files',
  columns: [
    { name: 'holder', type: 'text' },
    /** Absolute, symbolic links of its folder resolved. */
    { name: 'path', type: 'text' },
    /** Bytes. */
    { name: 'size', type: 'integer' },
    { name: 'modified_at', type: 'integer' },
  ],
  key: ['holder', 'path'],
  aside: true,
}

/** Files and folders that a lens has read by itself, as code is, and a mark of what lay at or below them then (QE-012). */
export const INDEXED_TREES: TableDeclaration = {
  name: 'indexed_trees',
  columns: [
    { name: 'holder', type: 'text' },
    { name: 'lens', type: 'text' },
    { name: 'url', type: 'text' },
    /** URL of the folder whose rules say which files are left out. */
    { name: 'folder', type: 'text' },
    { name: 'mark', type: 'text' },
  ],
  key: ['holder', 'lens', 'url'],
  aside: true,
}

/** One process at a time does a named background job; it renews its lease or loses it. Machine time, ms. */
export const LEASES: TableDeclaration = {
  name: 'leases',
  columns: [
    { name: 'name', type: 'text' },
    { name: 'holder', type: 'text' },
    { name: 'expires_at', type: 'integer' },
  ],
  key: ['name'],
  mechanical: true,
  aside: true,
}

/** Numbers that signed requests have used, for as long as a request that bears one could still be taken. */
export const NONCES: TableDeclaration = {
  name: 'nonces',
  columns: [
    { name: 'sender', type: 'text' },
    { name: 'nonce', type: 'text' },
    /** Which stretch of time it was used in: old ones are forgotten whole. */
    { name: 'stretch', type: 'integer' },
  ],
  key: ['sender', 'nonce'],
  mechanical: true,
  aside: true,
  indexes: [['stretch']],
}

/**
 * Bytes that a holder keeps (`usage.ts`): of entries and their rows with keys up to `counted_to`, and of rows that name the holder
 * as far as `tables_to`. Derived: no export reads it.
 */
export const USAGE: TableDeclaration = {
  name: 'usage',
  columns: [
    { name: 'holder', type: 'text' },
    { name: 'bytes', type: 'integer' },
    { name: 'counted_to', type: 'integer' },
    /** Null: of a version that counted entries alone. */
    { name: 'tables_to', type: 'text', nullable: true },
  ],
  key: ['holder'],
  mechanical: true,
  aside: true,
}

/** Cursors that have a short handle (`engine/cursor-handles.ts`). */
export const CURSORS: TableDeclaration = {
  name: 'cursors',
  columns: [
    { name: 'handle', type: 'text' },
    { name: 'cursor', type: 'text' },
    /** Since 1970: they are removed an hour at a time. */
    { name: 'hour', type: 'integer' },
  ],
  key: ['handle'],
  mechanical: true,
  aside: true,
  indexes: [['hour']],
}

export const CORE_TABLES: readonly TableDeclaration[] = [
  AGENTS,
  FEDERATIONS,
  MEMBERSHIPS,
  FILES,
  FILE_NAMES,
  FILE_LINKS,
  ADDED_PATHS,
  SEEN_FILES,
  INDEXED_TREES,
  LEASES,
  NONCES,
  USAGE,
  CURSORS,
]

/** Those that no export reads: they are of this file and this machine. */
export const UNEXPORTED: ReadonlySet<TableDeclaration> = new Set([
  SEEN_FILES,
  INDEXED_TREES,
  LEASES,
  NONCES,
  USAGE,
  CURSORS,
])

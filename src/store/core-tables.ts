/** Tables of the core itself: which agents this node hosts, and who is in which federation. Lenses add their own tables. */
import type { TableDeclaration } from '../model/table.ts'

export const AGENTS: TableDeclaration = {
  name: 'agents',
  columns: [
    { name: 'id', type: 'text' },
    { name: 'label', type: 'text', nullable: true },
    { name: 'created_at', type: 'integer' },
    /**
     * The agent's did:key, from its Ed25519 key. A key seed that this node keeps for the agent is in the store's `meta`, which no export
     * reads.
     */
    { name: 'did', type: 'text', nullable: true },
    /** Reputation from 0 to 1; the next column has it by domain, as a JSON object. */
    { name: 'reputation', type: 'real', nullable: true },
    { name: 'reputation_by_domain', type: 'text', nullable: true },
    /** Name of the agent's trust graph in requests. */
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
    /** Kind of results: `individual` or `aggregate`; null: individual. */
    { name: 'results', type: 'text', nullable: true },
    /** How holders are named: `pseudonyms` or `strict`; null: pseudonyms. */
    { name: 'anonymity', type: 'text', nullable: true },
    { name: 'reputation', type: 'real', nullable: true },
    /** Who created the row here; null: it counts in nobody's byte quota. */
    { name: 'made_by', type: 'text', nullable: true },
  ],
  key: ['id'],
  countedFor: 'made_by',
}

/**
 * Memberships in federations. `status` is `active`, `suspended` or `departed`; only active members with the permission `query_beliefs` may
 * read, and only what active members hold can be read.
 */
export const MEMBERSHIPS: TableDeclaration = {
  name: 'memberships',
  columns: [
    { name: 'federation', type: 'text' },
    { name: 'agent', type: 'text' },
    { name: 'status', type: 'text' },
    { name: 'updated_at', type: 'integer' },
    /** Role of the member: `founder`, `admin`, `moderator`, `member` or `observer`. */
    { name: 'role', type: 'text', nullable: true },
    /** JSON list of `query_beliefs`, `share_beliefs`, `view_aggregates`; null: all of them. */
    { name: 'permissions', type: 'text', nullable: true },
    { name: 'joined_at', type: 'integer', nullable: true },
    /** Who last changed the row; null: it counts in nobody's byte quota. */
    { name: 'set_by', type: 'text', nullable: true },
  ],
  key: ['federation', 'agent'],
  countedFor: 'set_by',
  indexes: [['agent']],
}

/** Which file an entry was made from, and the file's state then, which incremental ingest compares. */
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

/** Names in lower case by which a link or a query may refer to a file: one row per name. Only for files that are one entry. */
export const FILE_NAMES: TableDeclaration = {
  name: 'file_names',
  columns: [
    { name: 'entry', type: 'integer' },
    /** Kind of name: `file` (the last part of its path, without the ending of a Markdown file), `alias` or `title`. */
    { name: 'kind', type: 'text' },
    { name: 'name', type: 'text' },
  ],
  key: ['entry', 'kind', 'name'],
  ofEntry: true,
  indexes: [['name']],
}

/** The path as a link names the file: notes refer to each other without the ending. */
export function withoutMarkdownEnding(path: string): string {
  return path.replace(/\.(md|markdown|mdx|mdown)$/i, '')
}

/** The last part of a path with `/` as separator. */
export function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/**
 * Links of a file as its text names them. Which file a link refers to depends on the existing files and on who may see them, so it is
 * resolved when needed.
 */
export const FILE_LINKS: TableDeclaration = {
  name: 'file_links',
  columns: [
    { name: 'entry', type: 'integer' },
    { name: 'target', type: 'text' },
    /** 1: relative to the file's folder, as in Markdown. */
    { name: 'relative', type: 'integer' },
    /** The last part of the target, in lower case. */
    { name: 'name', type: 'text' },
  ],
  key: ['entry', 'target', 'relative'],
  ofEntry: true,
  indexes: [['name']],
}

/**
 * Options given when a path was added, kept for the next time, so that adding it again without options changes none of them. Null: not
 * given, so the default applies.
 */
export const ADDED_PATHS: TableDeclaration = {
  name: 'added_paths',
  columns: [
    { name: 'holder', type: 'text' },
    /** Absolute path, symbolic links resolved. */
    { name: 'path', type: 'text' },
    /** The folder that rows of `files` name for this path: the path itself, or the folder of a file. */
    { name: 'root', type: 'text' },
    { name: 'lens', type: 'text', nullable: true },
    { name: 'collection', type: 'text', nullable: true },
    { name: 'kind', type: 'text', nullable: true },
    /** Tags as a JSON list. Null: unknown, since the store was made before they were kept; then entries keep theirs. */
    { name: 'tags', type: 'text', nullable: true },
    { name: 'visibility', type: 'text', nullable: true },
    /** Federations as a JSON list, with visibility `shared`. */
    { name: 'federations', type: 'text', nullable: true },
    /** Mapping of record fields as a JSON object. */
    { name: 'map', type: 'text', nullable: true },
  ],
  key: ['holder', 'path'],
  countedFor: 'holder',
  aside: true,
}

/**
 * Last seen state of files below added paths where `FILES` does not contain it: files from which no entry was made, and those of which only
 * the time has changed. So a file is read again only when it changes (QE-012).
 */
export const SEEN_FILES: TableDeclaration = {
  name: 'seen_files',
  columns: [
    { name: 'holder', type: 'text' },
    /** Absolute path, symbolic links of its folder resolved. */
    { name: 'path', type: 'text' },
    /** Size of the file in bytes. */
    { name: 'size', type: 'integer' },
    { name: 'modified_at', type: 'integer' },
  ],
  key: ['holder', 'path'],
  aside: true,
}

/**
 * Files and folders that a lens has indexed by itself, as code is, with a fingerprint (mark) of what was at or below them then (QE-012).
 */
export const INDEXED_TREES: TableDeclaration = {
  name: 'indexed_trees',
  columns: [
    { name: 'holder', type: 'text' },
    { name: 'lens', type: 'text' },
    { name: 'url', type: 'text' },
    /** URL of the folder whose rules determine which files are left out. */
    { name: 'folder', type: 'text' },
    { name: 'mark', type: 'text' },
  ],
  key: ['holder', 'lens', 'url'],
  aside: true,
}

/** Leases of named background jobs: one process at a time does a job; it renews its lease or loses it. Machine time, ms. */
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

/** Nonces of signed requests, kept for as long as a request with one could still be accepted. */
export const NONCES: TableDeclaration = {
  name: 'nonces',
  columns: [
    { name: 'sender', type: 'text' },
    { name: 'nonce', type: 'text' },
    /** Period in which the nonce was used: old periods are deleted as a whole. */
    { name: 'stretch', type: 'integer' },
  ],
  key: ['sender', 'nonce'],
  mechanical: true,
  aside: true,
  indexes: [['stretch']],
}

/**
 * Bytes that a holder keeps (`usage.ts`): of entries and their rows with keys up to `counted_to`, and of rows that name the holder up to
 * `tables_to`. Derived: no export reads it.
 */
export const USAGE: TableDeclaration = {
  name: 'usage',
  columns: [
    { name: 'holder', type: 'text' },
    { name: 'bytes', type: 'integer' },
    { name: 'counted_to', type: 'integer' },
    /** Up to which row of which table is counted; null: written by a version that counted only entries. */
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
    /** Hours since 1970: cursors are removed one hour at a time. */
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

/** Tables that no export reads, since they concern this file and this machine. */
export const UNEXPORTED: ReadonlySet<TableDeclaration> = new Set([
  SEEN_FILES,
  INDEXED_TREES,
  LEASES,
  NONCES,
  USAGE,
  CURSORS,
])

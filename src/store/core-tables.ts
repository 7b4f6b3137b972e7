/**
 * Declarations of the core's own tables, such as the agents that this node hosts and the members of federations. Lenses declare further
 * tables.
 */
import type { TableDeclaration } from '../model/table.ts'

export const AGENTS: TableDeclaration = {
  name: 'agents',
  columns: [
    { name: 'id', type: 'text' },
    { name: 'label', type: 'text', nullable: true },
    { name: 'created_at', type: 'integer' },
    /**
     * Id of the agent as a `did:key`, made from its Ed25519 public key; null: it has none. The secret seed of a key that this node keeps
     * for the agent is in the store's `meta` table, which no export reads.
     */
    { name: 'did', type: 'text', nullable: true },
    /** The agent's reputation, from 0 to 1; the next column has the reputation by subject domain, as a JSON object. */
    { name: 'reputation', type: 'real', nullable: true },
    { name: 'reputation_by_domain', type: 'text', nullable: true },
    /** Name by which requests refer to the agent's trust graph. */
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
    /** The columns `did` and `joining` are unused; they are kept because a table never loses a column and older stores have both. */
    { name: 'did', type: 'text', nullable: true },
    { name: 'joining', type: 'text', nullable: true },
    /** What queries over the federation return: `individual` (single beliefs) or `aggregate`; null: individual. */
    { name: 'results', type: 'text', nullable: true },
    /** How results name the holders of beliefs: `pseudonyms` or `strict`; null: pseudonyms. */
    { name: 'anonymity', type: 'text', nullable: true },
    { name: 'reputation', type: 'real', nullable: true },
    /** Id of the holder who created the row on this node and in whose byte quota it counts; null: it counts in nobody's quota. */
    { name: 'made_by', type: 'text', nullable: true },
  ],
  key: ['id'],
  countedFor: 'made_by',
}

/**
 * Memberships of agents in federations. `status` is `active`, `suspended` or `departed`. Only active members with the permission
 * `query_beliefs` may read the federation's entries, and only entries held by active members can be read.
 */
export const MEMBERSHIPS: TableDeclaration = {
  name: 'memberships',
  columns: [
    { name: 'federation', type: 'text' },
    { name: 'agent', type: 'text' },
    { name: 'status', type: 'text' },
    { name: 'updated_at', type: 'integer' },
    /** Role of the member in the federation: `founder`, `admin`, `moderator`, `member` or `observer`. */
    { name: 'role', type: 'text', nullable: true },
    /** Permissions of the member as a JSON list of `query_beliefs`, `share_beliefs`, `view_aggregates`; null: all of them. */
    { name: 'permissions', type: 'text', nullable: true },
    { name: 'joined_at', type: 'integer', nullable: true },
    /** Id of the holder who last changed the row and in whose byte quota it counts; null: it counts in nobody's quota. */
    { name: 'set_by', type: 'text', nullable: true },
  ],
  key: ['federation', 'agent'],
  countedFor: 'set_by',
  indexes: [['agent']],
}

/**
 * The file from which an entry was made, and the file's state at that time, with which the next ingest compares it to find changed files.
 */
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

/**
 * Names by which a link or a query may refer to a file, in lower case, one row per name. Only for files from which a single entry was made.
 */
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

/** The path without the ending of a Markdown file, as links name it: notes refer to each other without the ending. */
export function withoutMarkdownEnding(path: string): string {
  return path.replace(/\.(md|markdown|mdx|mdown)$/i, '')
}

/** The last part of a path whose parts are separated by `/`. */
export function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/**
 * Links in the text of a file, as the text writes them. Which file a link refers to is resolved when needed, since it depends on which
 * files exist and on who may see them.
 */
export const FILE_LINKS: TableDeclaration = {
  name: 'file_links',
  columns: [
    { name: 'entry', type: 'integer' },
    { name: 'target', type: 'text' },
    /** 1: the target is relative to the folder of the linking file, as in Markdown; 0: it is a name, as in a wiki link. */
    { name: 'relative', type: 'integer' },
    /** The last part of the link's target path, in lower case. */
    { name: 'name', type: 'text' },
  ],
  key: ['entry', 'target', 'relative'],
  ofEntry: true,
  indexes: [['name']],
}

/**
 * Options given when a file or folder was added to the store, kept so that adding it again without options changes none of them. Null: the
 * option was not given, so its default applies.
 */
export const ADDED_PATHS: TableDeclaration = {
  name: 'added_paths',
  columns: [
    { name: 'holder', type: 'text' },
    /** Absolute path of the added file or folder, with symbolic links resolved. */
    { name: 'path', type: 'text' },
    /** The folder by which rows of `files` refer to this path: the added folder itself, or the folder that contains an added file. */
    { name: 'root', type: 'text' },
    { name: 'lens', type: 'text', nullable: true },
    { name: 'collection', type: 'text', nullable: true },
    { name: 'kind', type: 'text', nullable: true },
    /**
     * Tags given for the entries, as a JSON list. Null: unknown, because an older version added the path; then the entries keep their tags.
     */
    { name: 'tags', type: 'text', nullable: true },
    { name: 'visibility', type: 'text', nullable: true },
    /** Federations with which the entries are shared, as a JSON list; used where the visibility is `shared`. */
    { name: 'federations', type: 'text', nullable: true },
    /** Mapping from fields of the file's records to fields of entries, as a JSON object. */
    { name: 'map', type: 'text', nullable: true },
  ],
  key: ['holder', 'path'],
  countedFor: 'holder',
  aside: true,
}

/**
 * Last seen state of files below added paths, for files that have no row in `files` with this state: files from which no entry was made,
 * and files of which only the time has changed. So a file is read again only when it changes (QE-012).
 */
export const SEEN_FILES: TableDeclaration = {
  name: 'seen_files',
  columns: [
    { name: 'holder', type: 'text' },
    /** Absolute path of the file; symbolic links of its folder are resolved. */
    { name: 'path', type: 'text' },
    /** Size of the file in bytes. */
    { name: 'size', type: 'integer' },
    { name: 'modified_at', type: 'integer' },
  ],
  key: ['holder', 'path'],
  aside: true,
}

/**
 * Files and folders that a lens has indexed by itself, as the lens for source code does, each with a fingerprint (mark) of what the file or
 * folder contained at that time (QE-012).
 */
export const INDEXED_TREES: TableDeclaration = {
  name: 'indexed_trees',
  columns: [
    { name: 'holder', type: 'text' },
    { name: 'lens', type: 'text' },
    { name: 'url', type: 'text' },
    /** URL of the workspace folder whose rules (such as ignore files) determined which files were left out. */
    { name: 'folder', type: 'text' },
    { name: 'mark', type: 'text' },
  ],
  key: ['holder', 'lens', 'url'],
  aside: true,
}

/**
 * Leases of background jobs, by job name: only the process that holds a job's lease does the job, and it loses the lease unless it renews
 * it in time. Times are machine time in ms.
 */
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

/** Nonces of signed requests, kept for as long as a repeated request with the nonce could otherwise still be accepted. */
export const NONCES: TableDeclaration = {
  name: 'nonces',
  columns: [
    { name: 'sender', type: 'text' },
    { name: 'nonce', type: 'text' },
    /** Number of the period of time in which the nonce was used; nonces of old periods are deleted together. */
    { name: 'stretch', type: 'integer' },
  ],
  key: ['sender', 'nonce'],
  mechanical: true,
  aside: true,
  indexes: [['stretch']],
}

/**
 * Number of bytes that each holder keeps in the store (`usage.ts`): of its entries and their rows, with entry keys up to `counted_to`, and
 * of rows that name the holder, up to `tables_to`. Derived from other rows, so no export reads it.
 */
export const USAGE: TableDeclaration = {
  name: 'usage',
  columns: [
    { name: 'holder', type: 'text' },
    { name: 'bytes', type: 'integer' },
    { name: 'counted_to', type: 'integer' },
    /**
     * How far the rows that name the holder are counted: the table, and the last row counted in it. Null: the row was written by an older
     * version, which counted only entries.
     */
    { name: 'tables_to', type: 'text', nullable: true },
  ],
  key: ['holder'],
  mechanical: true,
  aside: true,
}

/** Cursors that were given to clients as a short handle instead of in full (`engine/cursor-handles.ts`). */
export const CURSORS: TableDeclaration = {
  name: 'cursors',
  columns: [
    { name: 'handle', type: 'text' },
    { name: 'cursor', type: 'text' },
    /** Hour in which the cursor was made, counted from 1970; old cursors are deleted one hour at a time. */
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

/** Tables that no export reads, since their rows are only meaningful with this store file and on this machine. */
export const UNEXPORTED: ReadonlySet<TableDeclaration> = new Set([
  SEEN_FILES,
  INDEXED_TREES,
  LEASES,
  NONCES,
  USAGE,
  CURSORS,
])

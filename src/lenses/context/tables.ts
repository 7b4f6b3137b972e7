/**
 * Tables of the lens `context` in the store. Rows belong to entries, so deleting an entry deletes its rows; other references use the lens's
 * own ids, which stay the same when a store is exported and imported.
 */
import type { LinkIndexDeclaration } from '../../index/contract.ts'
import type { TableDeclaration } from '../../model/table.ts'

/** The aspect (table) that makes an entry a concept. */
export const CONCEPTS: TableDeclaration = {
  name: 'context_concepts',
  aspect: 'concept',
  ofEntry: true,
  key: ['entry'],
  columns: [
    { name: 'entry', type: 'integer' },
    /** Id of the concept for callers: counts from 1 and is never reused. */
    { name: 'id', type: 'integer' },
    { name: 'name', type: 'text' },
    { name: 'type', type: 'text' },
    /** URL of the concept's file, and its lines there, from 1, both included; null: created by hand. */
    { name: 'url', type: 'text', nullable: true },
    { name: 'start_line', type: 'integer', nullable: true },
    { name: 'end_line', type: 'integer', nullable: true },
    { name: 'signature', type: 'text', nullable: true },
    { name: 'doc', type: 'text', nullable: true },
    /** Symbol of the concept: the key under which the indexer knows it within its file. */
    { name: 'symbol', type: 'text', nullable: true },
  ],
  indexes: [['id'], ['url']],
  readOf: { url: 'url', symbol: 'symbol' },
}

/** Links. A row belongs to the entry of its source; where the target was deleted, there is no link (CX-028). */
export const EDGES: TableDeclaration = {
  name: 'context_edges',
  ofEntry: true,
  key: ['id'],
  columns: [
    { name: 'id', type: 'integer' },
    { name: 'entry', type: 'integer' },
    /** Ids of the two concepts. */
    { name: 'source', type: 'integer' },
    { name: 'target', type: 'integer' },
    { name: 'relation', type: 'text' },
    { name: 'weight', type: 'real' },
    /** Who wrote the link and may delete it: `code`: the indexer; a URL: patches of that file; null: a call. */
    { name: 'origin', type: 'text', nullable: true },
  ],
  indexes: [['target']],
}

/** The files that a concept comes from. */
export const PROVENANCE: TableDeclaration = {
  name: 'context_provenance',
  ofEntry: true,
  key: ['entry', 'url'],
  columns: [
    { name: 'entry', type: 'integer' },
    { name: 'concept', type: 'integer' },
    { name: 'url', type: 'text' },
  ],
  indexes: [['url']],
}

/** A registered file: an entry, which has a text once the file is indexed. */
export const FILES: TableDeclaration = {
  name: 'context_files',
  ofEntry: true,
  key: ['entry'],
  columns: [
    { name: 'entry', type: 'integer' },
    { name: 'url', type: 'text' },
    /** SHA-256 of the file's bytes, in hexadecimal. */
    { name: 'hash', type: 'text' },
    { name: 'size', type: 'integer' },
    /** Modification time in Unix seconds. */
    { name: 'mtime', type: 'integer' },
    /** Hash of the bytes whose text is stored; null: no text is stored. */
    { name: 'indexed_hash', type: 'text', nullable: true },
  ],
  indexes: [['url']],
  readOf: { url: 'url' },
}

/** What was read out of a registered file, so that only changed files are read again. */
export const EXTRACTIONS: TableDeclaration = {
  name: 'context_extractions',
  ofEntry: true,
  key: ['entry'],
  columns: [
    { name: 'entry', type: 'integer' },
    /** Version of the indexer's reading; with a different one the file must be read again. */
    { name: 'version', type: 'integer' },
    /** SHA-256 of the bytes that the extraction was read from, in hexadecimal. */
    { name: 'hash', type: 'text' },
    /** The extraction as JSON; null: the file is stored without concepts. */
    { name: 'extraction', type: 'text', nullable: true },
  ],
}

/** Card of each extraction: what shows whose links a change elsewhere affects; see `Card`. */
export const CARDS: TableDeclaration = {
  name: 'context_cards',
  ofEntry: true,
  key: ['entry'],
  columns: [
    { name: 'entry', type: 'integer' },
    /** Version of the reading, as in `context_extractions`. */
    { name: 'version', type: 'integer' },
    /** Hash of the file's text, and of what other files see of it. */
    { name: 'hash', type: 'text' },
    { name: 'surface', type: 'text' },
    /** Hashes of 32 bits each, in the byte order of this machine. */
    { name: 'named', type: 'blob' },
    { name: 'asked', type: 'blob' },
    { name: 'package', type: 'text', nullable: true },
  ],
}

/** Files in which the grammar found syntax errors. */
export const READ_ERRORS: TableDeclaration = {
  name: 'context_read_errors',
  ofEntry: true,
  key: ['entry'],
  columns: [
    { name: 'entry', type: 'integer' },
    { name: 'url', type: 'text' },
  ],
}

/** Counters, and which of the two parts of the store exist: `body` and `mind`. */
export const STATE: TableDeclaration = {
  name: 'context_state',
  key: ['name'],
  columns: [
    { name: 'name', type: 'text' },
    { name: 'value', type: 'integer' },
  ],
}

export const CONTEXT_TABLES: readonly TableDeclaration[] = [
  CONCEPTS,
  EDGES,
  PROVENANCE,
  FILES,
  EXTRACTIONS,
  CARDS,
  READ_ERRORS,
  STATE,
]

export const LINKS: LinkIndexDeclaration = {
  name: 'links',
  nodes: CONCEPTS,
  node: 'id',
  edges: EDGES,
  source: 'source',
  target: 'target',
  relation: 'relation',
  weight: 'weight',
}

/**
 * What the lens keeps in the store. Everything hangs on entries, so deleting an entry takes its rows along, and only ids of
 * our own name other rows: they stay what they are when a store is exported and imported.
 */
import type { LinkIndexDeclaration } from '../../index/contract.ts'
import type { TableDeclaration } from '../../model/table.ts'

/** The aspect that makes an entry a concept. */
export const CONCEPTS: TableDeclaration = {
  name: 'context_concepts',
  aspect: 'concept',
  ofEntry: true,
  key: ['entry'],
  columns: [
    { name: 'entry', type: 'integer' },
    /** What callers name it by: counts from 1, never used again. */
    { name: 'id', type: 'integer' },
    { name: 'name', type: 'text' },
    { name: 'type', type: 'text' },
    /** Its file and its lines there, from 1, both included; null: made by hand. */
    { name: 'url', type: 'text', nullable: true },
    { name: 'start_line', type: 'integer', nullable: true },
    { name: 'end_line', type: 'integer', nullable: true },
    { name: 'signature', type: 'text', nullable: true },
    { name: 'doc', type: 'text', nullable: true },
    /** What the indexer knows it by within its file. */
    { name: 'symbol', type: 'text', nullable: true },
  ],
  indexes: [['id'], ['url']],
  readOf: { url: 'url', symbol: 'symbol' },
}

/** A row belongs to the entry of its source; a target that is gone makes it no link (CX-028). */
export const EDGES: TableDeclaration = {
  name: 'context_edges',
  ofEntry: true,
  key: ['id'],
  columns: [
    { name: 'id', type: 'integer' },
    { name: 'entry', type: 'integer' },
    /** Ids of concepts. */
    { name: 'source', type: 'integer' },
    { name: 'target', type: 'integer' },
    { name: 'relation', type: 'text' },
    { name: 'weight', type: 'real' },
    /** `code`: the indexer read it, and takes it back; a URL: patches about that file do; null: made by a call. */
    { name: 'origin', type: 'text', nullable: true },
  ],
  indexes: [['target']],
}

/** Which files a concept comes from. */
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

/** A registered file: an entry whose text is there once it was indexed. */
export const FILES: TableDeclaration = {
  name: 'context_files',
  ofEntry: true,
  key: ['entry'],
  columns: [
    { name: 'entry', type: 'integer' },
    { name: 'url', type: 'text' },
    /** Hexadecimal SHA-256 of the bytes. */
    { name: 'hash', type: 'text' },
    { name: 'size', type: 'integer' },
    /** Unix seconds. */
    { name: 'mtime', type: 'integer' },
    /** Hash of the bytes whose text is kept; null: none is. */
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
    /** Of the reading; another one means that the file must be read again. */
    { name: 'version', type: 'integer' },
    /** Hexadecimal SHA-256 of the bytes it was read from. */
    { name: 'hash', type: 'text' },
    /** JSON; null: the file was kept without concepts. */
    { name: 'extraction', type: 'text', nullable: true },
  ],
}

/** Of each extraction what shows whose links a change elsewhere touches; see `Card`. */
export const CARDS: TableDeclaration = {
  name: 'context_cards',
  ofEntry: true,
  key: ['entry'],
  columns: [
    { name: 'entry', type: 'integer' },
    /** As in `context_extractions`. */
    { name: 'version', type: 'integer' },
    /** Of the text and of what other files see of it. */
    { name: 'hash', type: 'text' },
    { name: 'surface', type: 'text' },
    /** 32 bits a hash, in the order of this machine's bytes. */
    { name: 'named', type: 'blob' },
    { name: 'asked', type: 'blob' },
    { name: 'package', type: 'text', nullable: true },
  ],
}

/** Files that the grammar read with errors. */
export const READ_ERRORS: TableDeclaration = {
  name: 'context_read_errors',
  ofEntry: true,
  key: ['entry'],
  columns: [
    { name: 'entry', type: 'integer' },
    { name: 'url', type: 'text' },
  ],
}

/** Counters, and which of the two parts are there: `body` and `mind`. */
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

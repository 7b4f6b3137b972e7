/**
 * Tables of the lens `context` in the store. Rows belong to entries, so deleting an entry deletes its rows; other references use the lens's
 * own ids, which stay the same when a store is exported and imported.
 */
import type { LinkIndexDeclaration } from '../../index/contract.ts'
import type { TableDeclaration } from '../../model/table.ts'

/**
 * The table that makes an entry a concept: each entry with a row here is one. Conditions of queries name its columns as `concept.<column>`.
 */
export const CONCEPTS: TableDeclaration = {
  name: 'context_concepts',
  aspect: 'concept',
  ofEntry: true,
  key: ['entry'],
  columns: [
    { name: 'entry', type: 'integer' },
    /** Id of the concept that callers use; ids count from 1 and are never reused. */
    { name: 'id', type: 'integer' },
    { name: 'name', type: 'text' },
    { name: 'type', type: 'text' },
    /** URL of the file in which the concept is, and its first and last line there, from 1; null: the concept was created by hand. */
    { name: 'url', type: 'text', nullable: true },
    { name: 'start_line', type: 'integer', nullable: true },
    { name: 'end_line', type: 'integer', nullable: true },
    { name: 'signature', type: 'text', nullable: true },
    { name: 'doc', type: 'text', nullable: true },
    /** Key by which the indexer identifies the concept within its file; null: the concept was not made by the indexer. */
    { name: 'symbol', type: 'text', nullable: true },
  ],
  indexes: [['id'], ['url']],
  readOf: { url: 'url', symbol: 'symbol' },
}

/**
 * Links between concepts. A row belongs to the entry of the link's source concept; where the target concept was deleted, there is no link
 * (CX-028).
 */
export const EDGES: TableDeclaration = {
  name: 'context_edges',
  ofEntry: true,
  key: ['id'],
  columns: [
    { name: 'id', type: 'integer' },
    { name: 'entry', type: 'integer' },
    /** Ids of the concepts that the link connects. */
    { name: 'source', type: 'integer' },
    { name: 'target', type: 'integer' },
    { name: 'relation', type: 'text' },
    { name: 'weight', type: 'real' },
    /**
     * Who wrote the link, and therefore who may delete it. `code`: the indexer. A URL: a caller that sent concepts and links extracted from
     * the file with that URL. Null: a caller that wrote the single link.
     */
    { name: 'origin', type: 'text', nullable: true },
  ],
  indexes: [['target']],
}

/** Which files each concept comes from. */
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

/** A file that is registered with the lens. It is an entry, which gets the file's text once the file is indexed. */
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
    /** SHA-256 of the file's bytes from which the stored text was made; null: no text is stored. */
    { name: 'indexed_hash', type: 'text', nullable: true },
  ],
  indexes: [['url']],
  readOf: { url: 'url' },
}

/** Concepts and links extracted from each registered file, so that only changed files are read again. */
export const EXTRACTIONS: TableDeclaration = {
  name: 'context_extractions',
  ofEntry: true,
  key: ['entry'],
  columns: [
    { name: 'entry', type: 'integer' },
    /** Version of the indexer that made the extraction; where the version differs from the current one, the file must be read again. */
    { name: 'version', type: 'integer' },
    /** SHA-256 of the bytes that the extraction was read from, in hexadecimal. */
    { name: 'hash', type: 'text' },
    /** The extracted concepts and links of the file as JSON. Null: the file's text is stored, but no concepts were extracted. */
    { name: 'extraction', type: 'text', nullable: true },
  ],
}

/**
 * A short summary (card) of the concepts and links extracted from each file. When a file changes, the indexer sees from the cards which
 * other files' links may change.
 */
export const CARDS: TableDeclaration = {
  name: 'context_cards',
  ofEntry: true,
  key: ['entry'],
  columns: [
    { name: 'entry', type: 'integer' },
    /** Version of the indexer that read the file, as in `context_extractions`. */
    { name: 'version', type: 'integer' },
    /** `hash`: SHA-256 of the file's text. `surface`: hash of everything that other files can refer to in the file. */
    { name: 'hash', type: 'text' },
    { name: 'surface', type: 'text' },
    /**
     * `named`: hashes of the names by which concepts of the file can be mentioned elsewhere. `asked`: hashes of the questions about other
     * files on whose answers this file's links depend, such as whether a file exists. 32 bits each, in this machine's byte order.
     */
    { name: 'named', type: 'blob' },
    { name: 'asked', type: 'blob' },
    { name: 'package', type: 'text', nullable: true },
  ],
}

/** Files in which the parser found syntax errors. */
export const READ_ERRORS: TableDeclaration = {
  name: 'context_read_errors',
  ofEntry: true,
  key: ['entry'],
  columns: [
    { name: 'entry', type: 'integer' },
    { name: 'url', type: 'text' },
  ],
}

/**
 * Named numbers of the lens: its counters, and a row `body` (files and texts) or `mind` (concepts and links) once that part of the lens
 * exists in the store.
 */
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

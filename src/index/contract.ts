/**
 * The index contract. An index is derived from the store: it can be thrown away and rebuilt, follows the store's feed of changes, and may
 * be saved as a snapshot file. Every search names the partitions it may read. It reads no other partition, and every statistic in a score
 * (document frequency, mean length, counts) is taken over those partitions alone, so the answer is a function of the rows that the viewer
 * may see: not of hidden ones, and not of the order in which rows were added.
 *
 * Hits with equal scores are ordered by chunk key, ascending. An entry appears only once among the hits, with its best chunk.
 */
import type { Bitset } from '../base/bitset.ts'
import { atOnce, type Steps } from '../base/turns.ts'
import type { ChunkKey, EntryKey } from '../model/entry.ts'
import { invalidArgument } from '../model/errors.ts'
import type { PartitionId } from '../model/partition.ts'
import type { ColumnDeclaration, TableDeclaration } from '../model/table.ts'
import { isMostOf, readPlaces } from '../store/feed.ts'
import type { StoreReader } from '../store/store.ts'

export interface Index {
  /** Name of the index, unique in an engine; part of the snapshot's file name (`words`, `vectors-<model>`). */
  readonly name: string
  /** Position in the store's change feed (the number of a change) up to which this index reflects the store; 0 before anything was read. */
  readonly position: number
  /** Approximate memory use in bytes, for the status. */
  readonly byteLength: number
  /**
   * Applies the changes in the store's feed after `position`, or rebuilds the index if the feed no longer contains all of them. Returns the
   * number of changes applied.
   */
  refresh(reader: StoreReader): number
  /**
   * Applies the changes in the store's feed after `position`, with pauses between steps, during which the store may be written and the
   * index searched, but not changed by another method. After each step every entry is in its old or its new state; changes written during
   * the pauses may be missing, and a later `refresh` applies them. Absent for an index that is always small.
   */
  refreshInSteps?(reader: StoreReader): Steps<number>
  /** Empties the index and builds it from the whole store. */
  rebuild(reader: StoreReader): void
  /**
   * Empties the index and builds it from the whole store, with pauses between steps. During a pause the store may be written and the index
   * searched, but no other method may change the index.
   */
  rebuildInSteps?(reader: StoreReader): Steps<void>
  /** The state of the index as a list of byte arrays; an index restored from these bytes gives the same answers. */
  serialise(): readonly Uint8Array[]
  /**
   * Frees memory that still holds contents of deleted rows, with pauses between steps, during which the index may be searched but not
   * changed. An index without this method keeps nothing of deleted rows.
   */
  letGo?(): Steps<void>
  /** Restores a state that `serialise` gave at this position; throws if the bytes are not such a state (the caller then rebuilds). */
  restore(bytes: Uint8Array, position: number): void
  /**
   * Restores a state from bytes that `serialise` gave at this position of the change feed, with pauses between steps. If a step throws, the
   * index is unchanged.
   */
  restoreInSteps?(bytes: Uint8Array, position: number): Steps<void>
}

/** Which entries a search may read: those of some partitions, optionally restricted to a set. */
export interface SearchScope {
  readonly partitions: readonly PartitionId[]
  /** Entries to which the search is restricted; absent: all entries in the partitions are searched. */
  readonly allow?: Bitset | undefined
}

export interface Hit {
  readonly entry: EntryKey
  /** Key of the chunk (passage) of the entry that has the highest score. */
  readonly chunk: ChunkKey
  /** Score of the chunk: the cosine, from -1 to 1, in a search by vectors; the BM25 score, 0 or more, in a search by words. */
  readonly score: number
}

export interface VectorSearch extends SearchScope {
  /** Vector of the query: unit length, with the index's dimensions. */
  readonly vector: Float32Array
  /** Number of entries wanted, those with the best scores. */
  readonly k: number
  /** Minimum score of a result: entries with a lower score are left out. Default: no minimum. */
  readonly least?: number | undefined
  /**
   * Allows a faster, approximate search: it may miss a neighbour now and then (measured recall ≥ 0.99), and scores after the first dozen
   * come from 8-bit vectors (within 0.01 of the cosine, mostly within 0.001). The result still depends on the visible rows alone. False:
   * exact. Default false.
   */
  readonly approximate?: boolean | undefined
}

/** Name of the vector index for the embedding model with this key. */
export function vectorsName(model: string): string {
  return `vectors-${model}`
}

/** Answers searches by vectors: one vector index, or two indexes of different models that are searched as one. */
export interface VectorSearcher {
  /** Key of the embedding model (from `modelKey`) whose vectors are in the index; vectors of other models are never added. */
  readonly model: string
  readonly dimensions: number
  /** The `k` entries whose best chunks have the highest cosine with the query's vector, best first. */
  search(request: VectorSearch): readonly Hit[]
  /**
   * Scores of these entries for the query's vector: for each entry in the scope (the partitions and entries that the search may read) the
   * cosine of its best chunk, in the order of `entries`. By default exact; with `approximate`, computed from 8-bit vectors (within 0.01,
   * mostly within 0.001).
   */
  score(vector: Float32Array, entries: readonly EntryKey[], scope: SearchScope, approximate?: boolean): readonly Hit[]
  /**
   * Cosine of each chunk of the entry that has a vector, by ascending chunk key. Empty if the search may not read the entry (it is not in
   * the scope). By default exact; with `approximate`, computed from 8-bit vectors.
   */
  scoreChunks(vector: Float32Array, entry: EntryKey, scope: SearchScope, approximate?: boolean): readonly Hit[]
  /** Number of chunks that have a vector in this index and belong to entries in the scope (those that the search may read). */
  count(scope: SearchScope): number
  /**
   * Whether this index has a vector for the given chunk of the entry, or without `chunk` for any of its chunks. False if the entry is not
   * in the scope (the entries that the search may read).
   */
  has(entry: EntryKey, scope: SearchScope, chunk?: ChunkKey): boolean
}

export interface VectorIndex extends Index, VectorSearcher {}

/**
 * Defines the score of points in a point search, from the entry and its distance to the query's point. Upper bounds on the score let the
 * search skip whole blocks of points.
 */
export interface PointScorer {
  /**
   * Score of an entry whose point is at this distance from the query's point; a finite number. The same arguments must give the same score
   * throughout one search.
   */
  score(entry: EntryKey, distance: number): number
  /**
   * Upper bound on the scores of those entries of the block (a numbered group of points near each other) whose distance from the query's
   * point is at least `distance`. Must not increase with the distance.
   */
  bound(block: number, distance: number): number
  /**
   * Upper bound on the scores of all entries, in whatever block (group of points), whose distance from the query's point is at least
   * `distance`. Must not increase with the distance. With it, a search need not compute a bound for each far block.
   */
  limit?(distance: number): number
}

export interface PointSearch extends SearchScope {
  readonly point: readonly [number, number, number]
  /** Number of entries wanted, the best ones; may be infinite. */
  readonly k: number
  /** Largest Euclidean distance from the query's point, inclusive, at which an entry may be found. Absent: no limit. */
  readonly maxDistance?: number | undefined
  /** Computes the scores by which entries are ranked. Absent: the nearest entries are the best. */
  readonly scorer?: PointScorer | undefined
}

export interface PointHit {
  readonly entry: EntryKey
  /**
   * Euclidean distance from the query's point, computed from the stored doubles: the square root of the sum of squared differences, added
   * in the order of the columns.
   */
  readonly distance: number
  /** Score of the entry from the search's scorer; without a scorer, the negated distance. */
  readonly score: number
}

/** Declaration of a point index: the table whose rows are its points. */
export interface PointIndexDeclaration {
  /** Name of the index; a lens finds the index by this name with `host.index(name)`. */
  readonly name: string
  /** The table with one point per row; it must be an aspect, a table with at most one row per entry whose key is `entry`. */
  readonly table: TableDeclaration
  /** Columns of type `real` for the three coordinates, in order. An entry with a null in one of them has no point. */
  readonly columns: readonly [string, string, string]
}

/**
 * An index of points in three dimensions, one per entry. Points of one partition that are near each other are stored together in a block. A
 * block keeps its number as long as the index exists; an entry stays in its block until its point is moved or removed.
 */
export interface PointIndex extends Index {
  /**
   * Exact search: the k best by descending score, then ascending distance, then entry key. Entries that tie with the last one in score and
   * distance are added, so that the caller can order ties itself.
   */
  search(request: PointSearch): readonly PointHit[]
  /** Number of points in the index that belong to entries in the scope (the entries that the search may read). */
  count(scope: SearchScope): number
  /** Blocks (groups of points near each other) are numbered from 0; all block numbers in use are below this number. */
  readonly blocks: number
  /**
   * Number that changes when all points are distributed over new blocks (groups of points near each other), mostly by a rebuild. A caller
   * that keeps an upper bound on the scores in each block must then compute its bounds again from all `entries`.
   */
  readonly generation: number
  /**
   * Entries whose points were added to a block (a group of points) since `generation` last changed, oldest first. A caller that keeps an
   * upper bound on the scores in each block reads the new part of this list and raises its bounds. An entry may occur twice, or no longer
   * have a point.
   */
  readonly arrivals: readonly EntryKey[]
  /**
   * Number of the block (a group of points near each other) that contains the entry's point; -1 if the entry has no point in this index.
   */
  blockOf(entry: EntryKey): number
  /** The three coordinates of the entry's point; undefined if it has none. */
  pointOf(entry: EntryKey): readonly [number, number, number] | undefined
  /** Entries that have a point in these partitions, in no particular order. */
  entries(partitions: readonly PartitionId[]): Iterable<EntryKey>
}

/** One word or identifier of a query, with a factor for its weight (`boost`, 1 unless the query sets another). */
export interface WordTerm {
  readonly text: string
  readonly boost: number
}

export interface WordSearch extends SearchScope {
  readonly terms: readonly WordTerm[]
  readonly k: number
}

/**
 * Weight of one search term in a scope: its document frequency and inverse document frequency (idf), as they appear in the explanation of a
 * BM25 score.
 */
export interface TermWeight {
  readonly term: string
  readonly boost: number
  /** Number of chunks in the scope's partitions that contain the term (document frequency). */
  readonly df: number
  readonly idf: number
}

export interface TermMatch extends TermWeight {
  /** Frequency of the term in the chunk: its occurrences in the text, plus twice its occurrences in the title. */
  readonly tf: number
  /**
   * `length`: number of tokens in the title and text of the chunk. `meanLength`: mean of this number over all chunks of the partitions that
   * the search may read.
   */
  readonly length: number
  readonly meanLength: number
  readonly score: number
}

/** A stemmed term of the word index whose spelling is similar to a given word. */
export interface NearTerm {
  readonly term: string
  /** Number of edits (letters added, removed, replaced or swapped) between the stem of the given word and this term. */
  readonly distance: number
  /** Number of chunks in the scope's partitions that contain the term. */
  readonly df: number
  /** Key of a chunk that contains the term: of all such chunks in the partitions that the search may read, the one with the lowest key. */
  readonly chunk: ChunkKey
}

export interface WordIndex extends Index {
  /**
   * Prepares the other search methods for a query of many terms: reads the postings (lists of occurrences) of the terms with pauses, so
   * that those methods need not read them at once. They must then be called with the same arrays; their results are the same without this
   * call.
   */
  prepare?(terms: readonly WordTerm[], scope: SearchScope): Steps<void>
  /**
   * The `k` entries whose best chunks have the highest BM25 score, best first, among entries that contain at least one term. Terms that
   * occur in no chunk add nothing.
   */
  search(request: WordSearch): readonly Hit[]
  /**
   * Searches as `search` does, with pauses between steps, for a query of many terms. Other searches and `refresh` may run during a pause;
   * the hits are those that `search` would have returned at the first step.
   */
  searchInSteps(request: WordSearch): Steps<readonly Hit[]>
  /**
   * Exact BM25 scores of these entries: for each entry in the scope (the entries that the search may read) the score of its best chunk, in
   * the order of `entries`; 0 if the entry contains none of the terms.
   */
  score(terms: readonly WordTerm[], entries: readonly EntryKey[], scope: SearchScope): readonly Hit[]
  /**
   * Exact BM25 score of the best chunk of each of these entries, as `score` computes it, but with pauses between steps, for a query of many
   * terms. Other searches and `refresh` may run during a pause; the scores are those at the first step.
   */
  scoreInSteps(terms: readonly WordTerm[], entries: readonly EntryKey[], scope: SearchScope): Steps<readonly Hit[]>
  /**
   * Exact BM25 score of each chunk of the entry (0 without any of the terms), by ascending chunk key. Empty if the entry is not in the
   * scope.
   */
  scoreChunks(terms: readonly WordTerm[], entry: EntryKey, scope: SearchScope): readonly Hit[]
  /**
   * Weight of each word of the query over the scope's partitions, heaviest (boost · idf) first. Stop words are left out unless the query
   * has no other words. A query term of several words, or an identifier, gives several weights.
   */
  weigh(terms: readonly WordTerm[], scope: SearchScope): readonly TermWeight[]
  /**
   * Contribution of each word of the query to the BM25 score of one chunk, heaviest word first. Added in this order, the contributions give
   * exactly the score of the chunk.
   */
  explain(terms: readonly WordTerm[], chunk: ChunkKey, scope: SearchScope): readonly TermMatch[]
  /**
   * Entries in the scope that contain all words of the phrase next to each other and in order, in one field (title, or content across chunk
   * borders). Words match by their stems, and stop words count. `most`: the search stops when it has found this many entries, whichever
   * they are.
   */
  entriesWith(phrase: string, scope: SearchScope, most?: number): Bitset
  /**
   * Entries in the scope that contain the phrase, as `entriesWith` finds them, but with pauses between steps, for a phrase that occurs
   * often. Other searches and `refresh` may run during a pause; the entries are those at the first step.
   */
  entriesWithInSteps(phrase: string, scope: SearchScope, most?: number): Steps<Bitset>
  /** Number of chunks of the entries in the scope (the entries that the search may read). */
  count(scope: SearchScope): number
  /**
   * Terms in the searched partitions whose stem is at most `most` edits from the stem of the given word (lower case, without accents).
   * Nearest first, then those in more chunks first, then by text. The set of allowed entries in the scope is ignored.
   */
  nearTerms(word: string, most: number, scope: SearchScope, limit: number): readonly NearTerm[]
}

/** Declaration of a link index: the tables that hold the nodes and links of a graph. */
export interface LinkIndexDeclaration {
  /** Name of the index; a lens finds the index by this name with `host.index(name)`. */
  readonly name: string
  /** Table of the graph's nodes; it must be an aspect, a table with at most one row per entry: an entry with a row in it is a node. */
  readonly nodes: TableDeclaration
  /** Name of the column of `nodes` with the number of the node: above 0, unique, and never used again for another entry. */
  readonly node: string
  /** Table of the graph's links; a row belongs to the entry of the link's source node. */
  readonly edges: TableDeclaration
  /**
   * Names of the columns of `edges`: source and target of a link (node numbers), its relation (a text) and its weight (a number, at least
   * 0).
   */
  readonly source: string
  readonly target: string
  readonly relation: string
  readonly weight: string
}

/** A link as seen from one of its two nodes. */
export interface Link {
  /** Number of the node at the other end of the link. */
  readonly node: number
  /** Number of the link's relation in this index; `relationName` gives its text. */
  readonly relation: number
  readonly weight: number
}

/**
 * A weighted directed graph of entries. Each node is an entry, identified by its node number. A search reads a link only if it may read the
 * entries of both nodes. A link to a node that does not exist yet is kept until that node is added.
 */
export interface LinkIndex extends Index {
  /**
   * `out`: links from this node to others; `in`: links from others to this node. Ordered by ascending number of the other node, then by the
   * text of the relation, then by weight.
   */
  out(node: number, scope: SearchScope): readonly Link[]
  in(node: number, scope: SearchScope): readonly Link[]
  /** Name of a relation. Relations are numbered in the order of their first use, so a number is valid within one index only. */
  relationName(relation: number): string
  /**
   * Numbers of nodes and links that a search with this scope may read: nodes whose entries are in the scope, and links between two of these
   * nodes.
   */
  count(scope: SearchScope): { readonly nodes: number; readonly links: number }
}

// Helpers for lists of hits: the order that every search returns, and the reduction to one hit per entry.

/**
 * Comparator of hits: descending score, then ascending chunk key. It returns integers, because returning a fraction would allocate an
 * object at each comparison.
 */
export function bestFirst(a: Hit, b: Hit): number {
  if (a.score !== b.score) return a.score < b.score ? 1 : -1
  return a.chunk - b.chunk
}

/** The best hit of each entry, among hits that may have several chunks of an entry; in no particular order. */
export function bestOfEntries(hits: Iterable<Hit>): Map<EntryKey, Hit> {
  const best = new Map<EntryKey, Hit>()
  for (const hit of hits) {
    const before = best.get(hit.entry)
    if (before === undefined || bestFirst(hit, before) < 0) best.set(hit.entry, hit)
  }
  return best
}

// Base classes of indexes: they turn methods that pause between steps into methods without pauses, and make indexes of declared tables
// follow the store's change feed.

/** Base class that implements `refresh`, `rebuild` and `restore` without pauses, from methods of the subclass that do the work in steps. */
export abstract class SteppedIndex {
  abstract refreshInSteps(reader: StoreReader): Steps<number>
  abstract rebuildInSteps(reader: StoreReader): Steps<void>
  abstract restoreInSteps(bytes: Uint8Array, position: number): Steps<void>

  refresh(reader: StoreReader): number {
    return atOnce(this.refreshInSteps(reader))
  }

  rebuild(reader: StoreReader): void {
    atOnce(this.rebuildInSteps(reader))
  }

  restore(bytes: Uint8Array, position: number): void {
    atOnce(this.restoreInSteps(bytes, position))
  }
}

/** Base class of indexes over tables of entries, in which one or a few rows of an entry determine the entry's part of the index. */
export abstract class TableIndex extends SteppedIndex {
  readonly name: string
  /** Position in the store's change feed up to which the index reflects the store; set by every method that replaces the whole contents. */
  position = 0

  constructor(name: string) {
    super()
    this.name = name
  }

  /** Number of entries in the index; compared with the number of changes to decide whether to rebuild. */
  protected abstract get size(): number

  /** Brings these entries in the index up to date with their present rows and partition in the store. */
  protected abstract take(reader: StoreReader, partitionOf: ReadonlyMap<EntryKey, PartitionId>): Steps<void>

  *refreshInSteps(reader: StoreReader): Steps<number> {
    const before = this.position
    const news = before === 0 ? null : yield* readPlaces(reader, before)
    if (news === null || isMostOf(this.size, news.partitionOf.size)) {
      yield* this.rebuildInSteps(reader)
      return Math.max(0, this.position - before)
    }
    yield* this.take(reader, news.partitionOf)
    this.position = news.position
    return news.changes
  }
}

/**
 * Checks that a declared table is an aspect (a table with at most one row per entry). Throws `invalid_argument` naming the field of the
 * declaration.
 */
export function checkAspect(field: string, table: TableDeclaration): void {
  if (table.ofEntry === true && table.key.join() === 'entry') return
  throw invalidArgument(field, table.name, 'a table of entries, keyed by entry')
}

/** Checks that a declared column exists and has this type. Throws `invalid_argument` naming the field of the declaration. */
export function checkColumn(
  field: string,
  table: TableDeclaration,
  name: string,
  type: ColumnDeclaration['type'],
): void {
  if (table.columns.find(column => column.name === name)?.type === type) return
  throw invalidArgument(field, name, `a column of type ${type} in ${table.name}`)
}

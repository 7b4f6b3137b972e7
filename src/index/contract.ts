/**
 * The index contract. An index is derived from the store: it can be thrown away and rebuilt, follows the change feed,
 * and may be saved as a snapshot. Every search names the partitions it may read; it opens nothing else, and every
 * statistic in a score (document frequency, mean length, counts) is taken over those partitions alone, so the answer
 * is a function of the visible rows: not of hidden ones, and not of the order in which rows came.
 *
 * Ties end with the chunk key, ascending. Hits are folded: an entry appears once, with its best chunk.
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
  /** Unique in an engine; part of the snapshot's file name (`words`, `vectors-<model>`). */
  readonly name: string
  /** The feed position (seq) up to which this index reflects the store; 0 before anything was read. */
  readonly position: number
  /** Approximate memory use in bytes, for the status. */
  readonly byteLength: number
  /**
   * Applies the changes of the feed after `position`, or rebuilds if the feed no longer reaches back so far. Returns the number of changes
   * applied.
   */
  refresh(reader: StoreReader): number
  /**
   * Like `refresh`, in steps. Between steps the store may be written and the index searched, but no other method may change the index.
   * After each step every entry is in its old or its present state. Changes written meanwhile may be missing; a `refresh` afterwards adds
   * them. Absent for an index that is always small.
   */
  refreshInSteps?(reader: StoreReader): Steps<number>
  /** Empties the index and builds it from the whole store. */
  rebuild(reader: StoreReader): void
  /** Like `rebuild`, in steps, with the same rules as `refreshInSteps`. */
  rebuildInSteps?(reader: StoreReader): Steps<void>
  /** The state of the index as bytes, in pieces; an index restored from them gives the same answers. */
  serialise(): readonly Uint8Array[]
  /**
   * Frees memory that still holds contents of deleted rows, in steps like `refreshInSteps`. An index without this method keeps nothing of
   * deleted rows.
   */
  letGo?(): Steps<void>
  /** Restores a state that `serialise` gave at this position; throws if the bytes are not such a state (the caller then rebuilds). */
  restore(bytes: Uint8Array, position: number): void
  /** Like `restore`, in steps. If a step throws, the index is unchanged. */
  restoreInSteps?(bytes: Uint8Array, position: number): Steps<void>
}

/** Which entries a search may read. */
export interface SearchScope {
  readonly partitions: readonly PartitionId[]
  /** Restricts the search to these entries; absent: all entries of the partitions. */
  readonly allow?: Bitset | undefined
}

export interface Hit {
  readonly entry: EntryKey
  /** The entry's best chunk. */
  readonly chunk: ChunkKey
  /** Cosine in [-1, 1] or BM25 ≥ 0. */
  readonly score: number
}

export interface VectorSearch extends SearchScope {
  /** Vector of the query: unit length, with the index's dimensions. */
  readonly vector: Float32Array
  /** Number of entries wanted. */
  readonly k: number
  /** Minimum score: entries below it are left out. Default: no minimum. */
  readonly least?: number | undefined
  /**
   * Allows a faster, approximate search: it may miss a neighbour now and then (measured recall ≥ 0.99), and scores after the first dozen
   * come from 8-bit vectors (within 0.01 of the cosine, mostly within 0.001). The result still depends on the visible rows alone. False:
   * exact. Default false.
   */
  readonly approximate?: boolean | undefined
}

/** Name of the vector index of an embedding model, by its `modelKey`. */
export function vectorsName(model: string): string {
  return `vectors-${model}`
}

/** What answers by vectors: an index, or two that are joined. */
export interface VectorSearcher {
  /** Key of the embedding model (`modelKey`); vectors of other models are never added. */
  readonly model: string
  readonly dimensions: number
  /** The k entries whose best chunks score highest, best first. */
  search(request: VectorSearch): readonly Hit[]
  /**
   * For each of these entries in the scope, the cosine of its best chunk, in the order of `entries`: exact, or from 8-bit vectors if
   * `approximate` (default false), as in `VectorSearch`.
   */
  score(vector: Float32Array, entries: readonly EntryKey[], scope: SearchScope, approximate?: boolean): readonly Hit[]
  /**
   * The cosine of each chunk of the entry that has a vector, by ascending chunk key; exact or approximate as in `score`. Empty if the entry
   * is not in the scope.
   */
  scoreChunks(vector: Float32Array, entry: EntryKey, scope: SearchScope, approximate?: boolean): readonly Hit[]
  /** Number of rows (chunks with a vector) in the scope. */
  count(scope: SearchScope): number
  /** Whether the scope contains a row of this entry; if a chunk is given, a row of this chunk. */
  has(entry: EntryKey, scope: SearchScope, chunk?: ChunkKey): boolean
}

export interface VectorIndex extends Index, VectorSearcher {}

/** Scores points by the entry itself and by its distance, with upper bounds that let a search skip whole blocks of rows. */
export interface PointScorer {
  /** Score of an entry at this distance; finite. The same arguments give the same number throughout one search. */
  score(entry: EntryKey, distance: number): number
  /** Upper bound on the score of every entry of this block at this distance or farther. Must not increase with the distance. */
  bound(block: number, distance: number): number
  /**
   * Upper bound on `bound` of every block at this distance; must not increase with it. Saves computing `bound` for far blocks one by one.
   */
  limit?(distance: number): number
}

export interface PointSearch extends SearchScope {
  readonly point: readonly [number, number, number]
  /** Number of entries wanted; may be infinite. */
  readonly k: number
  /** Largest distance, inclusive. Absent: no limit. */
  readonly maxDistance?: number | undefined
  /** Scorer of the points. Absent: the nearest entries are the best. */
  readonly scorer?: PointScorer | undefined
}

export interface PointHit {
  readonly entry: EntryKey
  /** Euclidean distance, computed from the stored doubles: the root of the sum of squared differences, in the order of the columns. */
  readonly distance: number
  /** The number from the scorer; without a scorer, the negated distance. */
  readonly score: number
}

/** Declaration of a point index: the table whose rows are its points. */
export interface PointIndexDeclaration {
  /** Name of the index, under which `host.index(name)` finds it. */
  readonly name: string
  /** The table of the points; it must be an aspect, with the key `entry`. */
  readonly table: TableDeclaration
  /** Columns of type `real` for the three coordinates, in order. An entry with a null in one of them has no point. */
  readonly columns: readonly [string, string, string]
}

/**
 * An index of points in three dimensions, one per entry. Points are stored in blocks of near points from one partition. A block keeps its
 * number as long as the index exists; an entry stays in its block until its point is moved or removed.
 */
export interface PointIndex extends Index {
  /**
   * Exact search: the k best by descending score, then ascending distance, then entry key. Entries that tie with the last one in score and
   * distance are added, so that the caller can order ties itself.
   */
  search(request: PointSearch): readonly PointHit[]
  /** Number of points in the scope. */
  count(scope: SearchScope): number
  /** Upper limit of the block numbers, exclusive; they begin at 0. */
  readonly blocks: number
  /**
   * Changes when points are distributed over new blocks (mostly by a rebuild): bounds kept per block must then be computed again from all
   * `entries`.
   */
  readonly generation: number
  /**
   * Entries that were added to a block in this generation, oldest first; the list only grows. A caller that keeps bounds per block reads on
   * from its last position and raises the bounds for the new entries (bounds of removed entries may stay). An entry may occur twice, or be
   * gone.
   */
  readonly arrivals: readonly EntryKey[]
  /** Number of the entry's block; -1 if the entry has no point here. */
  blockOf(entry: EntryKey): number
  /** The point of an entry, if it has one. */
  pointOf(entry: EntryKey): readonly [number, number, number] | undefined
  /** Entries that have a point in these partitions, in no particular order. */
  entries(partitions: readonly PartitionId[]): Iterable<EntryKey>
}

/** One word or identifier of a query with its boost (1 unless the query says otherwise). */
export interface WordTerm {
  readonly text: string
  readonly boost: number
}

export interface WordSearch extends SearchScope {
  readonly terms: readonly WordTerm[]
  readonly k: number
}

/** Weight of one term in a scope, and its contribution to a chunk: the leaves of a BM25 explanation. */
export interface TermWeight {
  readonly term: string
  readonly boost: number
  /** Number of chunks in the scope's partitions that contain the term (document frequency). */
  readonly df: number
  readonly idf: number
}

export interface TermMatch extends TermWeight {
  /** Occurrences of the term in the chunk: those in the text, plus twice those in the title. */
  readonly tf: number
  /** Number of tokens in title and text of the chunk, and the mean of that number over the partitions. */
  readonly length: number
  readonly meanLength: number
  readonly score: number
}

/** A term (stem) in the index whose spelling is similar to a word. */
export interface NearTerm {
  readonly term: string
  /** Edit distance between the word's stem and this term, at least 0. */
  readonly distance: number
  /** Number of visible chunks that contain the term. */
  readonly df: number
  /** The visible chunk with the lowest key that contains the term. */
  readonly chunk: ChunkKey
}

export interface WordIndex extends Index {
  /**
   * For a long query: reads in steps what `search`, `score`, `weigh` and `explain` need for these terms, so that they need not read it all
   * at once. Call it with the same arrays as those methods. Their results do not depend on it.
   */
  prepare?(terms: readonly WordTerm[], scope: SearchScope): Steps<void>
  /**
   * The k entries whose best chunks score highest, best first, among those that contain at least one term. Terms that occur nowhere add
   * nothing.
   */
  search(request: WordSearch): readonly Hit[]
  /**
   * Like `search`, in steps, for a long query. Other searches and `refresh` may run between the steps; the hits are those that `search`
   * would have returned at the first step.
   */
  searchInSteps(request: WordSearch): Steps<readonly Hit[]>
  /** For each of these entries in the scope, the exact BM25 of its best chunk (0 included), in the order of `entries`. */
  score(terms: readonly WordTerm[], entries: readonly EntryKey[], scope: SearchScope): readonly Hit[]
  /** Like `entriesWith`, in steps, with the same rules as `searchInSteps`. */
  scoreInSteps(terms: readonly WordTerm[], entries: readonly EntryKey[], scope: SearchScope): Steps<readonly Hit[]>
  /** The exact BM25 of each chunk of the entry (0 included), by ascending chunk key. Empty if the entry is not in the scope. */
  scoreChunks(terms: readonly WordTerm[], entry: EntryKey, scope: SearchScope): readonly Hit[]
  /**
   * Statistics of each word over the partitions, heaviest (boost · idf) first; stop words are left out unless there are no other words. A
   * term of several words, or an identifier, gives several weights.
   */
  weigh(terms: readonly WordTerm[], scope: SearchScope): readonly TermWeight[]
  /** Score of each word in one chunk, in the order of `weigh`: their sum in this order is exactly the score of the chunk. */
  explain(terms: readonly WordTerm[], chunk: ChunkKey, scope: SearchScope): readonly TermMatch[]
  /**
   * Entries in the scope that contain all these words next to each other and in order, in one field (title, or content across chunk
   * borders). Words match by their stems, and stop words count. A single word is a phrase of one word. `most`: the search stops when it has
   * found so many entries, whichever they are.
   */
  entriesWith(phrase: string, scope: SearchScope, most?: number): Bitset
  /** Like `score`, in steps, with the same rules as `searchInSteps`. */
  entriesWithInSteps(phrase: string, scope: SearchScope, most?: number): Steps<Bitset>
  /** Number of rows (chunks) in the scope. */
  count(scope: SearchScope): number
  /**
   * Visible terms (stems) within so many edits of the stem of a word (folded), by distance, then descending document frequency, then term;
   * `allow` is ignored.
   */
  nearTerms(word: string, most: number, scope: SearchScope, limit: number): readonly NearTerm[]
}

/** Declaration of a link index: the tables that hold the nodes and links of a graph. */
export interface LinkIndexDeclaration {
  /** Name of the index, under which `host.index(name)` finds it. */
  readonly name: string
  /** Table of the nodes; it must be an aspect: an entry with a row in it is a node. */
  readonly nodes: TableDeclaration
  /** Column of `nodes` with the number of the node: above 0, unique, never reused. */
  readonly node: string
  /** Table of the links; a row belongs to the entry of its source node. */
  readonly edges: TableDeclaration
  /** Columns of `edges`: source and target (node numbers), relation (a text) and weight (a number from 0). */
  readonly source: string
  readonly target: string
  readonly relation: string
  readonly weight: string
}

/** A link as seen from one of its two nodes. */
export interface Link {
  /** Number of the node at the other end of the link. */
  readonly node: number
  /** Number of the relation: see `relationName`. */
  readonly relation: number
  readonly weight: number
}

/**
 * A weighted directed graph. A node is an entry, identified by its node number. A link is in the scope if both of its nodes are; links to
 * nodes that do not exist yet are kept until they do.
 */
export interface LinkIndex extends Index {
  /** Links from a node, and links to a node: by ascending number of the other node, then by relation (its text), then by weight. */
  out(node: number, scope: SearchScope): readonly Link[]
  in(node: number, scope: SearchScope): readonly Link[]
  /** Name of a relation. Relations are numbered in the order of their first use, so a number is valid within one index only. */
  relationName(relation: number): string
  /** Number of nodes in the scope, and of links among them. */
  count(scope: SearchScope): { readonly nodes: number; readonly links: number }
}

// Hits in the order of every answer, and folded to entries.

/**
 * Comparator: by descending score, ties by chunk key. It returns integers, because returning fractions would allocate an object for each
 * comparison.
 */
export function bestFirst(a: Hit, b: Hit): number {
  if (a.score !== b.score) return a.score < b.score ? 1 : -1
  return a.chunk - b.chunk
}

/** The hit with the best chunk for each entry; in no particular order. */
export function bestOfEntries(hits: Iterable<Hit>): Map<EntryKey, Hit> {
  const best = new Map<EntryKey, Hit>()
  for (const hit of hits) {
    const before = best.get(hit.entry)
    if (before === undefined || bestFirst(hit, before) < 0) best.set(hit.entry, hit)
  }
  return best
}

// What indexes have in common: all run in steps or in one piece, and those over declared tables follow the feed alike.

/** Runs in one piece what a subclass implements in steps. */
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

/** Base class of indexes over tables of entries, where one or a few rows make up an entry's part of the index. */
export abstract class TableIndex extends SteppedIndex {
  readonly name: string
  /** Feed position of the index; set by every method that replaces the whole contents. */
  position = 0

  constructor(name: string) {
    super()
    this.name = name
  }

  /** Number of entries in the index. */
  protected abstract get size(): number

  /** Updates these entries in the index to their present state and partition. */
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

/** Checks that a declared table is an aspect. Throws `invalid_argument` with the field of the declaration. */
export function checkAspect(field: string, table: TableDeclaration): void {
  if (table.ofEntry === true && table.key.join() === 'entry') return
  throw invalidArgument(field, table.name, 'a table of entries, keyed by entry')
}

/** Checks that a declared column exists with this type. Throws `invalid_argument` with the field of the declaration. */
export function checkColumn(
  field: string,
  table: TableDeclaration,
  name: string,
  type: ColumnDeclaration['type'],
): void {
  if (table.columns.find(column => column.name === name)?.type === type) return
  throw invalidArgument(field, name, `a column of type ${type} in ${table.name}`)
}

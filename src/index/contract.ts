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
  /** The feed position (seq) this index reflects; 0 before anything was read. */
  readonly position: number
  /** Bytes held in memory, near enough for a status page. */
  readonly byteLength: number
  /** Replays the feed from `position`, or rebuilds when the feed no longer reaches back. Returns changes applied. */
  refresh(reader: StoreReader): number
  /**
   * The same in steps, between which the store may be written and the index be searched, but not changed by any other method. Each step
   * leaves every entry as it was or as it is now. What is written meanwhile may be missing: a `refresh` afterwards takes it in. Absent: an index
   * that is never large.
   */
  refreshInSteps?(reader: StoreReader): Steps<number>
  /** Forgets everything and reads the whole store. */
  rebuild(reader: StoreReader): void
  /** The same in steps, as `refreshInSteps`. */
  rebuildInSteps?(reader: StoreReader): Steps<void>
  /** The state as bytes, in pieces; restoring them gives an index that answers alike. */
  serialise(): readonly Uint8Array[]
  /** Lets go of what memory still holds of rows that are gone, in steps as `refreshInSteps`; an index without it holds nothing of them. */
  letGo?(): Steps<void>
  /** Takes over a serialised state of this position; throws when the bytes are none (the caller then rebuilds). */
  restore(bytes: Uint8Array, position: number): void
  /** The same in steps: when one throws, the index is as it was. */
  restoreInSteps?(bytes: Uint8Array, position: number): Steps<void>
}

/** Where a search may look. */
export interface SearchScope {
  readonly partitions: readonly PartitionId[]
  /** Only these entries; absent means all. */
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
  /** Unit length, of the index's dimensions. */
  readonly vector: Float32Array
  /** Entries wanted. */
  readonly k: number
  /** Entries that score less are left out. Default: none are. */
  readonly least?: number | undefined
  /**
   * For speed: may miss a neighbour now and then (measured recall ≥ 0.99), and scores after the first dozen come from
   * 8-bit vectors (within 0.01 of the cosine, mostly within 0.001). Still a function of the visible rows alone. False
   * is exact. Default false.
   */
  readonly approximate?: boolean | undefined
}

/** Name of the index of the vectors of a model, by its `modelKey`. */
export function vectorsName(model: string): string {
  return `vectors-${model}`
}

/** What answers by vectors: an index, or two that are joined. */
export interface VectorSearcher {
  /** Key of the embedding model (`modelKey`); vectors of another model never enter. */
  readonly model: string
  readonly dimensions: number
  /** The k entries with the best chunk, best first. */
  search(request: VectorSearch): readonly Hit[]
  /**
   * The best-chunk cosine of each of these entries that the scope holds, in the order asked for: exact, or from 8-bit
   * vectors when `approximate` (default false), as in `VectorSearch`.
   */
  score(vector: Float32Array, entries: readonly EntryKey[], scope: SearchScope, approximate?: boolean): readonly Hit[]
  /** The cosine of each chunk of an entry that has a vector, by chunk key ascending; exact or not, as in `score`. Empty: the scope does not hold the entry. */
  scoreChunks(vector: Float32Array, entry: EntryKey, scope: SearchScope, approximate?: boolean): readonly Hit[]
  /** Rows (chunks with a vector) in scope. */
  count(scope: SearchScope): number
  /** Whether the scope holds a row of this entry, and, where a chunk is given, of this chunk of it. */
  has(entry: EntryKey, scope: SearchScope, chunk?: ChunkKey): boolean
}

export interface VectorIndex extends Index, VectorSearcher {}

/** Ranks points: what a row is worth by itself and by how far away it is, and a limit for whole blocks of rows. */
export interface PointScorer {
  /** Of an entry so far away; finite. The same arguments give the same number during one search. */
  score(entry: EntryKey, distance: number): number
  /** At least the score of every entry of this block that is at least so far away. Falls, or stays, with the distance. */
  bound(block: number, distance: number): number
  /** At least `bound` of every block at this distance; falls, or stays, with it. Spares asking for far blocks one by one. */
  limit?(distance: number): number
}

export interface PointSearch extends SearchScope {
  readonly point: readonly [number, number, number]
  /** Entries wanted; may be infinite. */
  readonly k: number
  /** Included. Absent: no limit. */
  readonly maxDistance?: number | undefined
  /** Absent: the nearest are best. */
  readonly scorer?: PointScorer | undefined
}

export interface PointHit {
  readonly entry: EntryKey
  /** Euclidean, from the stored doubles: the root of the sum of squared differences, in the order of the columns. */
  readonly distance: number
  /** The scorer's number; without one, minus the distance. */
  readonly score: number
}

/** A point index as data: which table's rows are its points. */
export interface PointIndexDeclaration {
  /** Of the index, as `host.index(name)` finds it. */
  readonly name: string
  /** An aspect: its key is `entry`. */
  readonly table: TableDeclaration
  /** Columns of type `real`, in the order of the coordinates. An entry in whose row one is null has no point. */
  readonly columns: readonly [string, string, string]
}

/**
 * One point an entry, in three dimensions. Points lie in blocks: near each other and of one partition. A block keeps its
 * number as long as the index lives; an entry keeps its block until it moves or goes.
 */
export interface PointIndex extends Index {
  /**
   * Exact: the k best by score descending, then distance ascending, then entry key; and beyond k, all those that tie
   * with the last in score and distance, so that the caller can order ties as it needs.
   */
  search(request: PointSearch): readonly PointHit[]
  /** Points in scope. */
  count(scope: SearchScope): number
  /** Block numbers run from 0 to below this. */
  readonly blocks: number
  /** Changes when blocks were dealt out again (a rebuild, mostly): bounds kept by block are then to be made of all `entries`. */
  readonly generation: number
  /**
   * Entries that came into a block since this generation began, oldest first; only grows. Who keeps bounds by block reads
   * on from where it stood and raises theirs (bounds of what left may stay). An entry may be named again, or be gone.
   */
  readonly arrivals: readonly EntryKey[]
  /** -1: the entry has no point here. */
  blockOf(entry: EntryKey): number
  /** The point of an entry, if it has one. */
  pointOf(entry: EntryKey): readonly [number, number, number] | undefined
  /** Entries that have a point in these partitions, in no order. */
  entries(partitions: readonly PartitionId[]): Iterable<EntryKey>
}

/** One word or identifier of a question with its boost (1 unless the question says otherwise). */
export interface WordTerm {
  readonly text: string
  readonly boost: number
}

export interface WordSearch extends SearchScope {
  readonly terms: readonly WordTerm[]
  readonly k: number
}

/** What one term is worth in a scope, and what it did to a chunk: the leaves of a BM25 explanation. */
export interface TermWeight {
  readonly term: string
  readonly boost: number
  /** Chunks in scope's partitions that have the term. */
  readonly df: number
  readonly idf: number
}

export interface TermMatch extends TermWeight {
  /** Occurrences in the text plus twice those in the title. */
  readonly tf: number
  /** Tokens of title and text, and their mean over the partitions. */
  readonly length: number
  readonly meanLength: number
  readonly score: number
}

/** A term (stem) that is spelled nearly like a word. */
export interface NearTerm {
  readonly term: string
  /** Edits between the word's stem and it, at least 0. */
  readonly distance: number
  /** Visible chunks that have it. */
  readonly df: number
  /** One of them: that with the lowest key. */
  readonly chunk: ChunkKey
}

export interface WordIndex extends Index {
  /**
   * For a long question: reads in steps what `search`, `score`, `weigh` and `explain` need of these terms, so that they need
   * not do it at once. To be called with the same arrays as they are. What they give does not depend on it.
   */
  prepare?(terms: readonly WordTerm[], scope: SearchScope): Steps<void>
  /** The k entries with the best chunk, best first, of those with at least one term. Terms nobody has add nothing. */
  search(request: WordSearch): readonly Hit[]
  /**
   * The same in steps, for a long question. Other searches and `refresh` may come between the steps: the hits are those that
   * `search` would have returned at the first step.
   */
  searchInSteps(request: WordSearch): Steps<readonly Hit[]>
  /** The exact best-chunk BM25 of each of these entries that the scope holds (0 included), in the order asked for. */
  score(terms: readonly WordTerm[], entries: readonly EntryKey[], scope: SearchScope): readonly Hit[]
  /** The same in steps, as `searchInSteps`. */
  scoreInSteps(terms: readonly WordTerm[], entries: readonly EntryKey[], scope: SearchScope): Steps<readonly Hit[]>
  /** The exact BM25 of each chunk of an entry (0 included), by chunk key ascending. Empty: the scope does not hold the entry. */
  scoreChunks(terms: readonly WordTerm[], entry: EntryKey, scope: SearchScope): readonly Hit[]
  /**
   * Statistics of each word over the partitions, heaviest (boost · idf) first; stop words are left out unless there is
   * nothing else. A term of several words, or an identifier, gives several.
   */
  weigh(terms: readonly WordTerm[], scope: SearchScope): readonly TermWeight[]
  /** How each word scored in one chunk, in the order of `weigh`: adding the scores up in it gives the chunk's exactly. */
  explain(terms: readonly WordTerm[], chunk: ChunkKey, scope: SearchScope): readonly TermMatch[]
  /**
   * Entries in scope that hold all these words next to each other and in order, in one field (title, or content across
   * chunk borders). Words match by their stems. A single word is a phrase of one. Stop words count here. `most`: it ends when
   * it has found so many, whichever they are.
   */
  entriesWith(phrase: string, scope: SearchScope, most?: number): Bitset
  /** The same in steps, as `searchInSteps`. */
  entriesWithInSteps(phrase: string, scope: SearchScope, most?: number): Steps<Bitset>
  /** Rows (chunks) in scope. */
  count(scope: SearchScope): number
  /**
   * Visible terms (stems) at most so many edits from the stem of a word (folded), by distance, then df descending, then term;
   * `allow` is not looked at.
   */
  nearTerms(word: string, most: number, scope: SearchScope, limit: number): readonly NearTerm[]
}

/** Which tables the nodes and links of a graph stand in. */
export interface LinkIndexDeclaration {
  /** Of the index, as `host.index(name)` finds it. */
  readonly name: string
  /** An aspect: an entry with a row here is a node. */
  readonly nodes: TableDeclaration
  /** Column of `nodes`: the node's number, above 0, unique, never used again. */
  readonly node: string
  /** Rows belong to the entry of their source. */
  readonly edges: TableDeclaration
  /** Columns of `edges`: numbers of two nodes, a text, a number from 0. */
  readonly source: string
  readonly target: string
  readonly relation: string
  readonly weight: string
}

/** A link as one of its ends sees it. */
export interface Link {
  /** Number of the node at the other end. */
  readonly node: number
  /** See `relationName`. */
  readonly relation: number
  readonly weight: number
}

/**
 * A directed graph with weights. A node is an entry and is named by its number. A link is in scope when both of its ends
 * are; links to nodes that do not exist are kept until they do.
 */
export interface LinkIndex extends Index {
  /** Links from a node, and to it: by the other node's number ascending, then by relation (its text), then by weight. */
  out(node: number, scope: SearchScope): readonly Link[]
  in(node: number, scope: SearchScope): readonly Link[]
  /** Relations are numbered as they come: numbers mean something within one index alone. */
  relationName(relation: number): string
  /** Nodes in scope, and links among them. */
  count(scope: SearchScope): { readonly nodes: number; readonly links: number }
}

// Hits in the order of every answer, and folded to entries.

/** By score, descending; ties by chunk key. Whole numbers: a fraction would be a new object at each comparison. */
export function bestFirst(a: Hit, b: Hit): number {
  if (a.score !== b.score) return a.score < b.score ? 1 : -1
  return a.chunk - b.chunk
}

/** Each entry once, with its best chunk; in no particular order. */
export function bestOfEntries(hits: Iterable<Hit>): Map<EntryKey, Hit> {
  const best = new Map<EntryKey, Hit>()
  for (const hit of hits) {
    const before = best.get(hit.entry)
    if (before === undefined || bestFirst(hit, before) < 0) best.set(hit.entry, hit)
  }
  return best
}

// What indexes have in common: all run in steps or in one piece, and those over declared tables follow the feed alike.

/** Runs in one piece what a subclass does in steps. */
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

/** Over tables of entries, where one row or a few make an entry's part of the index. */
export abstract class TableIndex extends SteppedIndex {
  readonly name: string
  /** Set by whatever replaces everything. */
  position = 0

  constructor(name: string) {
    super()
    this.name = name
  }

  /** Entries that are in the index. */
  protected abstract get size(): number

  /** Takes in what these entries are now, and where. */
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

/** Throws `invalid_argument`, naming the field of the declaration. */
export function checkAspect(field: string, table: TableDeclaration): void {
  if (table.ofEntry === true && table.key.join() === 'entry') return
  throw invalidArgument(field, table.name, 'a table of entries, keyed by entry')
}

/** The same of a column. */
export function checkColumn(
  field: string,
  table: TableDeclaration,
  name: string,
  type: ColumnDeclaration['type'],
): void {
  if (table.columns.find(column => column.name === name)?.type === type) return
  throw invalidArgument(field, name, `a column of type ${type} in ${table.name}`)
}

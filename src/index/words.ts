/**
 * The word index: BM25 over chunks, with statistics that are exact for the partitions that a query may see. Entries are stored in segments
 * of compressed lists that never change; when an entry changes, its rows in the old segment are marked dead, and it is written to a new
 * segment. Scores do not depend on how rows are distributed over segments.
 */
import type { Bitset } from '../base/bitset.ts'
import { atOnce, StepPace, type Steps } from '../base/turns.ts'
import { termScore } from '../math/bm25.ts'
import type { Chunk, ChunkKey, Entry, EntryKey } from '../model/entry.ts'
import type { PartitionId } from '../model/partition.ts'
import { readFeed } from '../store/feed.ts'
import type { StoreReader } from '../store/store.ts'
import {
  type Hit,
  type NearTerm,
  type SearchScope,
  SteppedIndex,
  type TermMatch,
  type TermWeight,
  type WordIndex,
  type WordSearch,
  type WordTerm,
} from './contract.ts'
import { SegmentBuilder } from './words/builder.ts'
import { Block, PostingCursor } from './words/cursor.ts'
import {
  phraseWords,
  questionWords,
  type Reading,
  readQuestion,
  type SegmentView,
  viewsOf,
  type WeighedWord,
} from './words/lists.ts'
import { isFewAllowed, scoreChunks, scoreEntries, searchAllowed } from './words/score.ts'
import { entriesWithPhrase, searchWords } from './words/search.ts'
import type { Segment } from './words/segment.ts'
import { readSegments, SegmentSet, segmentsImage } from './words/segments.ts'
import { nearTerms } from './words/vocabulary.ts'

/**
 * Opens an empty word index. `step`: approximate number of postings that a long query reads before it pauses so that other work can run.
 */
export function openWordIndex(step: number = STEP): WordIndex {
  return new Words(step)
}

/** Default number of postings that a query reads between two pauses: half a millisecond of work. */
const STEP = 100_000

/** Number of entry keys read from the store at a time while the index is rebuilt. */
const PAGE = 1000
/** Number of entries read from the store at a time; low, because the content of an entry may be long. */
const ENTRIES = 8
/**
 * `READ_AT_ONCE`: amount of text read from the store between two pauses, in UTF-16 units of content. `UNITS_OF_ENTRY`: fixed cost of
 * reading one entry, counted as if it were so many units of text.
 */
const READ_AT_ONCE = 1 << 17
const UNITS_OF_ENTRY = 512
/**
 * Amount of text from which one segment is built during a rebuild, in UTF-16 units of content: about 1.5 million words, 50 MB of working
 * memory.
 */
const BATCH = 8 * 1024 * 1024
/**
 * Number of changed entries after which a new segment (part of the index) is begun, or work is paused, while the index takes over changes
 * of the store: some milliseconds of work.
 */
const CHANGED_AT_ONCE = 1 << 13
/**
 * If more than this share of the index's entries were changed or deleted, the index is rebuilt from the store, because that is faster than
 * applying each change.
 */
const MAX_CHANGED = 0.5

/**
 * Number of queries whose prepared readings are cached: as many queries as may run interleaved. A reading is a query resolved against the
 * index: the positions and weights of its words' lists of postings.
 */
const MAX_KNOWN = 4

interface Known {
  readonly terms: readonly WordTerm[]
  readonly partitions: readonly PartitionId[]
  readonly version: number
  readonly reading: Reading
}

class Words extends SteppedIndex implements WordIndex {
  readonly name = 'words'
  #set = new SegmentSet()
  #position = 0
  /**
   * Cached readings of the last queries, newest first. A reading is a query resolved against the index (its words' lists of postings and
   * weights). `search`, `score`, `weigh` and `explain`, usually called one after the other for one query, all use its reading.
   */
  #known: readonly Known[] = []
  /**
   * For each set of allowed entries, its number of chunks in the index; cached, because one filter's set is used for several queries and
   * each of them needs the number.
   */
  #counts = new WeakMap<Bitset, { readonly key: string; readonly chunks: number }>()
  readonly #step: number

  constructor(step: number) {
    super()
    this.#step = step
  }

  get position(): number {
    return this.#position
  }

  get byteLength(): number {
    return this.#set.byteLength
  }

  *refreshInSteps(reader: StoreReader): Steps<number> {
    if (this.#position === reader.lastSeq()) return 0
    // Changes of vectors are skipped, because they do not affect words. An index that has read nothing of the store's change feed yet
    // (position 0) is built from the whole store instead: the feed may list far more changes than the store still has entries.
    const news =
      this.#position === 0 ? null : yield* readFeed(reader, this.#position, change => change.kind !== 'vectors')
    if (news === null) {
      const before = this.#position
      yield* this.rebuildInSteps(reader)
      return Math.max(1, this.#position - before)
    }
    // Only changed and deleted entries count towards a rebuild. If new ones counted too, an import would cause rebuilds for as long as it
    // lasts.
    let known = 0
    for (const key of news.entries) if (this.#set.find(key) !== null) known++
    if (known > this.#set.entryCount * MAX_CHANGED + PAGE) {
      yield* this.rebuildInSteps(reader)
      return news.changes
    }
    const segments = yield* segmentsOf(reader, news.entries, CHANGED_AT_ONCE)
    const gone = new Set(news.entries)
    // While the work is paused, some changed entries are in the index in their previous form and others in their new form, but none is
    // there partly.
    for (const segment of segments) {
      for (const key of segment.rows.entry) if (gone.delete(key)) this.#set.bury(key)
      atOnce(this.#set.add(segment))
      yield
    }
    const pace = new StepPace(CHANGED_AT_ONCE)
    for (const key of gone) {
      this.#set.bury(key)
      if (pace.isOver(1)) yield
    }
    this.#position = news.position
    yield* this.#set.tidy()
    return news.changes
  }

  *rebuildInSteps(reader: StoreReader): Steps<void> {
    const position = reader.lastSeq()
    yield* this.#replace(yield* segmentsOf(reader, allKeys(reader)), position, true)
  }

  /** Replaces the whole contents of the index by these segments, merged into one segment if `isCompact`. */
  *#replace(segments: readonly Segment[], position: number, isCompact: boolean): Steps<void> {
    const set = new SegmentSet()
    for (const segment of segments) {
      yield* set.add(segment)
      yield
    }
    if (isCompact) yield* set.compact()
    // Gives the new set of segments a higher version number than the previous set ever had, because a cached reading (a query resolved
    // against the index) is valid only for the version for which it was made.
    set.version += this.#set.version + 1
    this.#set = set
    this.#known = []
    this.#counts = new WeakMap()
    this.#position = position
  }

  *letGo(): Steps<void> {
    yield* this.#set.forgetDead()
  }

  serialise(): readonly Uint8Array[] {
    atOnce(this.letGo())
    return segmentsImage(this.#set.segments)
  }

  *restoreInSteps(bytes: Uint8Array, position: number): Steps<void> {
    yield* this.#replace(yield* readSegments(bytes, position), position, false)
  }

  *prepare(terms: readonly WordTerm[], { partitions }: SearchScope): Steps<void> {
    const { version } = this.#set
    if (this.#find(terms, partitions) !== undefined) return
    const steps = readQuestion(this.#set, questionWords(terms), new Set(partitions))
    for (let step = steps.next(false); ; step = steps.next(false)) {
      if (step.done === true) return this.#keep({ terms, partitions, version, reading: step.value })
      // The index was changed during the pause, so the reading being prepared (the query resolved against the index) refers to lists that
      // are no longer valid, and is given up.
      if ((yield) && this.#set.version !== version) return
    }
  }

  search(request: WordSearch): readonly Hit[] {
    return atOnce(this.searchInSteps(request))
  }

  *searchInSteps(request: WordSearch): Steps<readonly Hit[]> {
    const reading = this.#reading(request.terms, request)
    if (isFewAllowed(reading, request)) return yield* searchAllowed(this.#set, reading, request, this.#step)
    return yield* searchWords(reading, request, this.#step)
  }

  score(terms: readonly WordTerm[], entries: readonly EntryKey[], scope: SearchScope): readonly Hit[] {
    return atOnce(this.scoreInSteps(terms, entries, scope))
  }

  *scoreInSteps(terms: readonly WordTerm[], entries: readonly EntryKey[], scope: SearchScope): Steps<readonly Hit[]> {
    return yield* scoreEntries(this.#set, this.#reading(terms, scope), entries, scope, this.#step)
  }

  scoreChunks(terms: readonly WordTerm[], entry: EntryKey, scope: SearchScope): readonly Hit[] {
    return atOnce(scoreChunks(this.#set, this.#reading(terms, scope), entry, scope, this.#step))
  }

  weigh(terms: readonly WordTerm[], scope: SearchScope): readonly TermWeight[] {
    return this.#reading(terms, scope).words.map(weightOf)
  }

  explain(terms: readonly WordTerm[], chunk: ChunkKey, scope: SearchScope): readonly TermMatch[] {
    const { views, words, meanLength } = this.#reading(terms, scope)
    for (const [at, { segment, visible }] of views.entries()) {
      const row = segment.rowOfChunk(chunk)
      if (row < 0) continue
      const entry = segment.rows.entry[row] as EntryKey
      if (visible?.[segment.rankOf(row)] === 0 || scope.allow?.has(entry) === false) return []
      const length = segment.rows.length[row] as number
      return words.map(word => {
        const tf = tfOf(word, at, views[at] as SegmentView, row)
        const score = termScore(word.weight, tf, length, meanLength)
        return { ...weightOf(word), tf, length, meanLength, score }
      })
    }
    return []
  }

  entriesWith(phrase: string, scope: SearchScope, most?: number): Bitset {
    return atOnce(this.entriesWithInSteps(phrase, scope, most))
  }

  *entriesWithInSteps(phrase: string, scope: SearchScope, most = Number.POSITIVE_INFINITY): Steps<Bitset> {
    return yield* entriesWithPhrase(this.#set, phraseWords(phrase), scope, most, this.#step)
  }

  count({ partitions, allow }: SearchScope): number {
    if (allow === undefined) return this.#set.count(new Set(partitions)).chunks
    const key = `${this.#set.version} ${allow.revision} ${partitions.join()}`
    const kept = this.#counts.get(allow)
    if (kept?.key === key) return kept.chunks
    const chunks = this.#countAllowed(partitions, allow)
    this.#counts.set(allow, { key, chunks })
    return chunks
  }

  /**
   * Number of chunks, in the given partitions, of the entries in `allow`. The time is proportional to the number of entries in `allow`:
   * about 2 ms for 50,000.
   */
  #countAllowed(partitions: readonly PartitionId[], allow: Bitset): number {
    const views = viewsOf(this.#set, new Set(partitions))
    let count = 0
    for (const entry of allow) {
      const place = this.#set.find(entry)
      const view = views.find(({ segment }) => segment === place?.segment)
      if (place === null || view === undefined) continue
      if (view.visible?.[place.segment.rankOf(place.row)] === 0) continue
      count += place.segment.entryEnd(place.row) - place.row
    }
    return count
  }

  nearTerms(word: string, most: number, scope: SearchScope, limit: number): readonly NearTerm[] {
    return nearTerms(this.#set, word, most, new Set(scope.partitions), limit)
  }

  #reading(terms: readonly WordTerm[], { partitions }: SearchScope): Reading {
    const known = this.#find(terms, partitions)
    if (known !== undefined) return known
    const reading = atOnce(readQuestion(this.#set, questionWords(terms), new Set(partitions)))
    this.#keep({ terms, partitions, version: this.#set.version, reading })
    return reading
  }

  #find(terms: readonly WordTerm[], partitions: readonly PartitionId[]): Reading | undefined {
    const { version } = this.#set
    return this.#known.find(one => one.terms === terms && one.partitions === partitions && one.version === version)
      ?.reading
  }

  #keep(known: Known): void {
    this.#known = [known, ...this.#known].slice(0, MAX_KNOWN)
  }
}

function* allKeys(reader: StoreReader): Iterable<EntryKey> {
  for (let after = 0; ; ) {
    const keys = reader.scanEntries(after, PAGE)
    yield* keys
    if (keys.length < PAGE) return
    after = keys.at(-1) as EntryKey
  }
}

/**
 * Builds segments from those of the given entries that the store has. The work pauses now and then so that other work can run; each entry
 * is read as it is when its turn comes. `most`: maximum number of entries in one segment.
 */
function* segmentsOf(
  reader: StoreReader,
  keys: Iterable<EntryKey>,
  most = Number.POSITIVE_INFINITY,
): Steps<readonly Segment[]> {
  const segments: Segment[] = []
  let count = 0
  const builder = new SegmentBuilder()
  const pace = new StepPace(READ_AT_ONCE)
  for (const [entry, chunks] of readWithChunks(reader, keys)) {
    builder.add(entry, chunks)
    if (++count % most === 0 || builder.size > BATCH) segments.push(...listed(yield* builder.finish()))
    if (pace.isOver(UNITS_OF_ENTRY + entry.content.length)) yield
  }
  segments.push(...listed(yield* builder.finish()))
  return segments
}

function* readWithChunks(reader: StoreReader, keys: Iterable<EntryKey>): Iterable<readonly [Entry, readonly Chunk[]]> {
  let batch: EntryKey[] = []
  function* read(): Iterable<readonly [Entry, readonly Chunk[]]> {
    const entries = reader.entries(batch)
    const chunks = reader.chunksOfEach(batch)
    for (const entry of entries) yield [entry, chunks.get(entry.key) ?? []]
    batch = []
  }
  for (const key of keys) {
    batch.push(key)
    if (batch.length === ENTRIES) yield* read()
  }
  if (batch.length > 0) yield* read()
}

function listed(segment: Segment | null): readonly Segment[] {
  return segment === null ? [] : [segment]
}

function weightOf({ term, boost, df, idf }: WeighedWord): TermWeight {
  return { term, boost, df, idf }
}

/**
 * A shared buffer for decoded postings, used by one look-up at a time: allocating a buffer for each look-up would cost more than the
 * look-up itself.
 */
const lookedAt = new Block()

function tfOf(word: WeighedWord, at: number, { segment }: SegmentView, row: number): number {
  for (const runs of word.bySegment[at]?.lists ?? []) {
    const tf = new PostingCursor(segment, runs, lookedAt, row).tfAt(row)
    if (tf > 0) return tf
  }
  return 0
}

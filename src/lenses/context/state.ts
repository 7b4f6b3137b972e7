/**
 * State shared by the parts of the lens `context` in one engine: the lens's settings, and the concepts and files that queries need in
 * memory.
 */
import { z } from 'zod'
import type { Bitset } from '../../base/bitset.ts'
import type { EntryKey } from '../../model/entry.ts'
import { parseInput } from '../../model/parse-input.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { Row } from '../../model/table.ts'
import { entrySet, type RowOf, TableRows } from '../../pipeline/columns.ts'
import type { StoreReader } from '../../store/store.ts'
import type { LensHost } from '../lens.ts'
import { foldName, placesByWord, wordsOf } from './names.ts'
import { CONCEPTS, FILES } from './tables.ts'

// Schema and defaults of the lens's settings in the configuration file.

const share = z.number().min(0).max(1)
/** Upper bound of the setting `max_wait`, in seconds: one day. Timers cannot hold more than 24 days. */
const MAX_WAIT = 86_400

export const settingsSchema = z.strictObject({
  // Requirement CX-021: bounds for matches by meaning.
  least_score: share.default(0.2).describe('Matches by meaning below this cosine are dropped. Default: 0.2'),
  least_share: share
    .default(0.6)
    .describe('Matches by meaning below this share of the best one are dropped. Default: 0.6'),
  // Requirement CX-075: limits of a run that indexes files.
  max_files: z
    .int()
    .min(1)
    .default(50_000)
    .describe('A run of `context.index` that finds more files reads none of them. Default: 50000'),
  max_wait: z
    .number()
    .min(0)
    .max(MAX_WAIT)
    .default(60)
    .describe(
      'Over HTTP and MCP `context.index` waits at most this many seconds for vectors, then answers and reports that some are missing. Default: 60',
    ),
})
export type ContextSettings = Readonly<z.output<typeof settingsSchema>>

/** Checks the lens's settings. Throws `invalid_argument` and `unknown_field`, naming the setting. */
export function checkSettings(given: unknown): ContextSettings {
  return parseInput(settingsSchema, given ?? {}, 'lenses.context')
}

const COLUMNS = ['entry', 'id', 'name', 'type', 'url', 'start_line', 'end_line']

export class Concept {
  readonly entry: EntryKey
  readonly partition: PartitionId
  readonly id: number
  readonly name: string
  readonly type: string
  readonly url: string | null
  readonly startLine: number | null
  readonly endLine: number | null
  readonly folded: string
  #words: readonly string[] | null = null

  constructor(row: Row, partition: PartitionId) {
    this.entry = row['entry'] as EntryKey
    this.partition = partition
    this.id = row['id'] as number
    this.name = row['name'] as string
    this.type = row['type'] as string
    this.url = row['url'] as string | null
    this.startLine = row['start_line'] as number | null
    this.endLine = row['end_line'] as number | null
    this.folded = foldName(this.name)
  }

  /** Words of the concept's name, folded (without case and accents) and without duplicates. */
  get words(): readonly string[] {
    this.#words ??= [...new Set(wordsOf(this.name))]
    return this.#words
  }
}

/** The concepts that one viewer may see. */
export class VisibleConcepts {
  /** The visible concepts, in ascending order of ids. */
  readonly all: readonly Concept[]
  readonly #byId: ReadonlyMap<number, Concept>
  readonly #byEntry: ReadonlyMap<EntryKey, Concept>
  #byWord: ReadonlyMap<string, readonly number[]> | null = null
  #names: JoinedNames | null = null

  constructor(rows: readonly Concept[]) {
    this.all = rows.toSorted((a, b) => a.id - b.id)
    this.#byId = new Map(rows.map(concept => [concept.id, concept]))
    this.#byEntry = new Map(rows.map(concept => [concept.entry, concept]))
  }

  /**
   * For each folded word, the positions in `all` of the concepts whose name contains the word. Built on first use, since many queries look
   * up whole names only.
   */
  get byWord(): ReadonlyMap<string, readonly number[]> {
    this.#byWord ??= placesByWord(this.all, ({ words }) => words)
    return this.#byWord
  }

  /**
   * Positions in `all`, in ascending order, of the concepts whose folded name contains the text; searches the text that joins all names.
   */
  holding(text: string): readonly number[] {
    this.#names ??= joinedNames(this.all)
    const { joined, ends } = this.#names
    const found: number[] = []
    let place = 0
    for (let at = joined.indexOf(text); place < ends.length && at !== -1; ) {
      while ((ends[place] as number) < at) place++
      const end = ends[place] as number
      // A match that extends past the end of a name spans two joined names, so neither name contains the text.
      const isWithin = at + text.length <= end
      if (isWithin) found.push(place++)
      at = joined.indexOf(text, isWithin ? end + 1 : at + 1)
    }
    return found
  }

  byId(id: number): Concept | undefined {
    return this.#byId.get(id)
  }

  byEntry(entry: EntryKey): Concept | undefined {
    return this.#byEntry.get(entry)
  }
}

/** The folded names of all concepts joined into one text, each followed by a separator character. */
interface JoinedNames {
  readonly joined: string
  /** Offset in the joined text at which each name ends. */
  readonly ends: Int32Array
}

function joinedNames(concepts: readonly Concept[]): JoinedNames {
  const ends = new Int32Array(concepts.length)
  let end = -1
  for (const [place, { folded }] of concepts.entries()) {
    end += 1 + folded.length
    ends[place] = end
  }
  return { joined: concepts.map(({ folded }) => `${folded}\n`).join(''), ends }
}

/** The concepts whose lines overlap the lines `start` to `end`, without each one that encloses a smaller overlapping concept. */
export function innermost(concepts: readonly Concept[], start: number, end: number): readonly Concept[] {
  const touched = concepts.filter(({ startLine, endLine }) => (startLine ?? 0) <= end && (endLine ?? -1) >= start)
  return touched.filter(
    outer => !touched.some(inner => inner !== outer && isWithin(inner, outer) && linesOf(inner) < linesOf(outer)),
  )
}

function isWithin(inner: Concept, outer: Concept): boolean {
  return (inner.startLine ?? 0) >= (outer.startLine ?? 0) && (inner.endLine ?? 0) <= (outer.endLine ?? 0)
}

function linesOf({ startLine, endLine }: Concept): number {
  return (endLine ?? 0) - (startLine ?? 0)
}

type Reached<Way> = Way & {
  readonly concept: Concept
  /** Number of links on the path from a starting concept, from 1. */
  readonly hops: number
  /** The concept before this one on the path. */
  readonly from: Concept
}

/**
 * Concepts reachable over links from the starting concepts, in order of the number of links and then as they are reached; each is given
 * once, and starting concepts are left out.
 */
export function* reach<Way extends { readonly concept: Concept }>(
  start: readonly Concept[],
  depth: number,
  waysOf: (from: Concept) => Iterable<Way>,
): Generator<Reached<Way>> {
  const known = new Set(start)
  let edge = start
  for (let hops = 1; hops <= depth && edge.length > 0; hops++) {
    const next: Concept[] = []
    for (const from of edge) {
      for (const way of waysOf(from)) {
        if (known.has(way.concept)) continue
        known.add(way.concept)
        next.push(way.concept)
        yield { ...way, hops, from }
      }
    }
    edge = next
  }
}

/** The visible concepts whose entries are in `allow`, the entries that meet the query's conditions; `allow` null: all visible concepts. */
export function among(concepts: VisibleConcepts, allow: Bitset | null): VisibleConcepts {
  if (allow === null || entrySet(concepts.all).without(allow).size === 0) return concepts
  return new VisibleConcepts(concepts.all.filter(({ entry }) => allow.has(entry)))
}

/**
 * Signatures or comments of the concepts with these entries, read from the store because they are not kept in memory; null or absent: the
 * concept has none.
 */
export function textsOfConcepts(
  reader: StoreReader,
  column: 'signature' | 'doc',
  entries: readonly EntryKey[],
): ReadonlyMap<EntryKey, string | null> {
  const rows = reader.table(CONCEPTS).scan({}, { entries, columns: ['entry', column] })
  return new Map(rows.map(row => [row['entry'] as EntryKey, row[column] as string | null]))
}

const FILE_COLUMNS = ['entry', 'url', 'hash', 'size', 'mtime', 'indexed_hash']

export interface RegisteredFile {
  readonly entry: EntryKey
  readonly partition: PartitionId
  readonly url: string
  readonly hash: string
  readonly size: number
  readonly mtime: number
  /** SHA-256 of the file's bytes when its text was stored, in hexadecimal; null: its text is not stored. */
  readonly indexedHash: string | null
}

/** The registered files that one viewer may see. Where several entries have the same URL, the oldest is used. */
class VisibleFiles {
  readonly all: readonly RegisteredFile[]
  readonly #byUrl: ReadonlyMap<string, RegisteredFile>
  readonly #byEntry: ReadonlyMap<EntryKey, RegisteredFile>

  constructor(all: readonly RegisteredFile[]) {
    this.all = all
    this.#byUrl = new Map(all.toReversed().map(file => [file.url, file]))
    this.#byEntry = new Map(all.map(file => [file.entry, file]))
  }

  byUrl(url: string): RegisteredFile | undefined {
    return this.#byUrl.get(url)
  }

  byEntry(entry: EntryKey): RegisteredFile | undefined {
    return this.#byEntry.get(entry)
  }
}

export function fileIn(row: Row): Omit<RegisteredFile, 'partition'> {
  return {
    entry: row['entry'] as EntryKey,
    url: row['url'] as string,
    hash: row['hash'] as string,
    size: row['size'] as number,
    mtime: row['mtime'] as number,
    indexedHash: row['indexed_hash'] as string | null,
  }
}

interface Views<View> {
  visible(partitions: readonly PartitionId[]): View
}

/**
 * Makes an object, such as an index of names, from the rows of a table that a viewer may see. Viewers who see the same rows share one
 * object, which is used until one of these rows changes.
 */
function viewsOf<T extends RowOf, View>(rows: TableRows<T>, viewOf: (rows: readonly T[]) => View): Views<View> {
  const views = new WeakMap<readonly T[], View>()
  return {
    visible(partitions) {
      const seen = rows.visible(partitions)
      const view = views.get(seen) ?? viewOf(seen)
      views.set(seen, view)
      return view
    },
  }
}

export interface ContextState {
  readonly concepts: Views<VisibleConcepts>
  readonly files: Views<VisibleFiles>
  readonly settings: ContextSettings
}

const STATES = new WeakMap<LensHost, ContextState>()

/** The state of the lens `context` in one engine, made on first use. */
export function stateOf(host: LensHost): ContextState {
  const known = STATES.get(host)
  if (known !== undefined) return known
  const { store, settings } = host
  const concepts = new TableRows(store, CONCEPTS, COLUMNS, (row, partition) => new Concept(row, partition))
  const files = new TableRows(store, FILES, FILE_COLUMNS, (row, partition) => ({ ...fileIn(row), partition }))
  const made: ContextState = {
    concepts: viewsOf(concepts, rows => new VisibleConcepts(rows)),
    files: viewsOf(files, rows => new VisibleFiles(rows)),
    settings: (settings as ContextSettings | undefined) ?? checkSettings(undefined),
  }
  STATES.set(host, made)
  return made
}

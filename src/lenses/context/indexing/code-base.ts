/**
 * State of all indexed code: for every file, what shows whose links a change affects; other data is read from the store when needed. It is
 * loaded for an indexing run and kept for the next while nothing else changes the store. Data read in a run stays in memory until written;
 * a run with too much for memory writes in several parts.
 */
import { must } from '../../../base/assert.ts'
import { Recent } from '../../../base/recent.ts'
import { storableText } from '../../../base/storable.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Row } from '../../../model/table.ts'
import type { Workspace } from '../../../model/workspace.ts'
import type { Store } from '../../../store/store.ts'
import type { OwnFile } from '../body.ts'
import type { Turn } from '../call.ts'
import { revisionOf } from '../counters.ts'
import { type Extraction, READING_VERSION } from '../extract/concept.ts'
import type { Card, LinkTarget } from '../extract/resolve/code-graph.ts'
import { CodeGraph, type Extractions } from '../extract/resolve/code-graph.ts'
import type { ConceptAt } from '../mind/rows.ts'
import { pathBelow } from '../names.ts'
import { CARDS, CONCEPTS, EXTRACTIONS } from '../tables.ts'

export function symbolOf(key: string): string {
  return storableText(key)
}

/**
 * The symbols of the concepts in an extraction (data read out of one file), in order. A symbol is a concept's name in the table of
 * concepts. Empty for a file stored without concepts.
 */
export function symbolsOf(extraction: Extraction | null): readonly string[] {
  return extraction?.concepts.map(({ key }) => symbolOf(key)) ?? []
}

/** Symbol of the concept for a package outside the workspace. */
export function packageSymbol(name: string): string {
  return `Package ${name}`
}

export function cardRow(entry: EntryKey, card: Card): Row {
  const { hash, surfaceHash: surface, named, asked } = card
  return {
    entry,
    version: READING_VERSION,
    hash,
    surface,
    named: bytesOf(named),
    asked: bytesOf(asked),
    package: card.package,
  }
}

function cardIn(row: Row): Card {
  return {
    hash: row['hash'] as string,
    surfaceHash: row['surface'] as string,
    named: hashesIn(row['named'] as Uint8Array),
    asked: hashesIn(row['asked'] as Uint8Array),
    package: row['package'] as string | null,
  }
}

function bytesOf(hashes: Uint32Array): Uint8Array {
  return new Uint8Array(hashes.buffer, hashes.byteOffset, hashes.byteLength)
}

/** Reads 32-bit hashes from stored bytes. The bytes are copied, since they may not be aligned to 32 bits. */
function hashesIn(bytes: Uint8Array): Uint32Array {
  const hashes = new Uint32Array(bytes.length >> 2)
  bytesOf(hashes).set(bytes.subarray(0, hashes.byteLength))
  return hashes
}

/**
 * Largest number of characters of texts and extractions that a run holds in memory before it writes; enough for about 5,000 files of
 * ordinary size.
 */
const MAX_HELD = 64 * 1024 * 1024
/** Number of parsed extractions in the cache; linking one file needs a few dozen others. */
const MAX_PARSED = 512

interface Unwritten {
  readonly text: string
  /** The data read out of the file, as JSON; null when the file is stored without concepts. */
  readonly extraction: string | null
}

class ReadCache implements Extractions {
  readonly #store: Store
  /** Returns the store's entry for the path of a file; undefined when the file was not written yet. */
  readonly #entryOf: (path: string) => EntryKey | undefined
  readonly #held = new Map<string, Unwritten>()
  readonly #parsed = new Recent<string, Extraction | null>(MAX_PARSED)
  #size = 0

  constructor(store: Store, entryOf: (path: string) => EntryKey | undefined) {
    this.#store = store
    this.#entryOf = entryOf
  }

  /** Number of characters of texts and extractions that are held in memory. */
  get size(): number {
    return this.#size
  }

  get(path: string): Extraction | null {
    return this.#parsed.get(path, () => {
      const json = this.#json(path)
      return json === null ? null : (JSON.parse(json) as Extraction)
    })
  }

  /** Does nothing: the extraction (data read out of the file) was already taken into memory by `hold`. */
  put(): void {}

  remove(path: string): void {
    this.#parsed.forget(known => known === path)
  }

  hold(path: string, text: string, extraction: Extraction | null): void {
    this.written(path)
    this.remove(path)
    if (extraction !== null) this.#parsed.get(path, () => extraction)
    const held = { text, extraction: extraction === null ? null : JSON.stringify(extraction) }
    this.#held.set(path, held)
    this.#size += sizeOf(held)
  }

  unwritten(path: string): Unwritten {
    return must(this.#held.get(path), 'a file that is read and not written')
  }

  /**
   * Must be called once the extraction (data read out of the file) of this path is in the store; the memory that holds it is then freed.
   */
  written(path: string): void {
    const held = this.#held.get(path)
    if (held !== undefined) this.#size -= sizeOf(held)
    this.#held.delete(path)
  }

  #json(path: string): string | null {
    const held = this.#held.get(path)
    if (held !== undefined) return held.extraction
    const entry = this.#entryOf(path)
    if (entry === undefined) return null
    return (this.#store.table(EXTRACTIONS).get({ entry })?.['extraction'] as string | null | undefined) ?? null
  }
}

function sizeOf({ text, extraction }: Unwritten): number {
  return text.length + (extraction?.length ?? 0)
}

export class CodeBase {
  graph: CodeGraph = new CodeGraph()
  /** Revision number of the indexer's data from which this state was loaded; -1 when it is not loaded. */
  revision = -1
  /** Entries of the files that are in the store, by path. */
  readonly entries: Map<string, EntryKey> = new Map()
  readonly packages: Map<string, ConceptAt> = new Map()
  readonly #store: Store
  readonly #workspace: Workspace
  readonly #mostHeld: number
  /** Ids of the concepts in each file, by path and then symbol; read when first needed. */
  readonly #ids = new Map<string, Map<string, number>>()
  #cache: ReadCache
  /** The turn (one call's exclusive right to index) in which this state was last loaded. */
  #turn: Turn | null = null

  constructor(store: Store, workspace: Workspace, mostHeld: number) {
    this.#store = store
    this.#workspace = workspace
    this.#mostHeld = mostHeld
    this.#cache = this.#newCache()
  }

  /** Texts and extracted data of files that were read in this run and are not in the store yet. */
  get cache(): ReadCache {
    return this.#cache
  }

  /** Whether so many characters are held in memory that they must be written before more files are read. */
  get isFull(): boolean {
    return this.#cache.size > this.#mostHeld
  }

  /**
   * Discards the loaded state, so that the next run reads it from the store. With `turn` (one call's exclusive right to index), only if
   * that turn loaded the state.
   */
  forget(turn?: Turn): void {
    if (turn === undefined || this.isOf(turn)) this.revision = -1
  }

  /**
   * Whether this turn (one call's exclusive right to index) loaded the state. A run that hung and lost its turn must not discard the state
   * that a later run has loaded.
   */
  isOf(turn: Turn): boolean {
    return this.#turn === turn
  }

  /** Loads the state from the store; reads nothing when it is current. `files`: gives all files of the viewer. */
  load(turn: Turn, files: () => Iterable<OwnFile>): void {
    this.#turn = turn
    const revision = revisionOf(this.#store)
    if (this.revision === revision) return
    const paths = new Map<EntryKey, string>()
    for (const { entry, url } of files()) {
      const path = pathBelow(this.#workspace.url, url)
      if (path !== null) paths.set(entry, path)
    }
    this.entries.clear()
    this.#ids.clear()
    this.#cache = this.#newCache()
    this.graph = new CodeGraph(this.#cache, this.#cards(paths))
    this.#readPackages()
    this.revision = revision
  }

  /** Ids of the concepts of a file, by symbol. The caller adds the ids of concepts that it creates. */
  idsIn(path: string): Map<string, number> {
    const known = this.#ids.get(path)
    if (known !== undefined) return known
    const url = this.#workspace.urlOf(path)
    const made = new Map<string, number>()
    for (const { symbol, id } of this.#store.table(CONCEPTS).scan({ url }, { columns: ['id', 'symbol'] })) {
      if (symbol !== null) made.set(symbol as string, id as number)
    }
    this.#ids.set(path, made)
    return made
  }

  idOf(target: LinkTarget): number | undefined {
    if ('package' in target) return this.packages.get(target.package)?.id
    return this.idsIn(target.path).get(symbolOf(target.key))
  }

  drop(path: string): void {
    this.entries.delete(path)
    this.#ids.delete(path)
  }

  *#cards(paths: ReadonlyMap<EntryKey, string>): Generator<readonly [string, Card]> {
    for (const row of this.#store.table(CARDS).scan({ version: READING_VERSION })) {
      const entry = row['entry'] as EntryKey
      const path = paths.get(entry)
      if (path === undefined) continue
      this.entries.set(path, entry)
      yield [path, cardIn(row)]
    }
  }

  #readPackages(): void {
    this.packages.clear()
    for (const row of this.#store.table(CONCEPTS).scan({ url: null }, { columns: ['entry', 'id', 'symbol'] })) {
      const symbol = row['symbol'] as string | null
      if (symbol === null) continue
      this.packages.set(symbol.slice(packageSymbol('').length), {
        id: row['id'] as number,
        entry: row['entry'] as EntryKey,
      })
    }
  }

  #newCache(): ReadCache {
    return new ReadCache(this.#store, path => this.entries.get(path))
  }
}

const BASES = new WeakMap<Workspace, CodeBase>()

/**
 * The state of the code base, of which there is one per workspace. `mostHeld`: largest number of characters of texts and extractions that a
 * run holds in memory.
 */
export function codeBaseOf(store: Store, workspace: Workspace, mostHeld: number = MAX_HELD): CodeBase {
  const known = BASES.get(workspace)
  if (known !== undefined) return known
  const made = new CodeBase(store, workspace, mostHeld)
  BASES.set(workspace, made)
  return made
}

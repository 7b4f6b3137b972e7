/**
 * One viewer's memory of all nodes, ready to rank by: filled from the store on first use, and kept in step by the change
 * feed (nodes that come, change or go) and by the log of uses (memories that this or another process changed).
 */
import type { Bitset } from '../../../base/bitset.ts'
import { Recent } from '../../../base/recent.ts'
import type { PointIndex, PointScorer } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Row } from '../../../model/table.ts'
import { aroundDamage } from '../../../pipeline/around-damage.ts'
import { FeedFollower } from '../../../pipeline/columns.ts'
import { tablePages } from '../../../pipeline/table-pages.ts'
import type { Store, StoreReader } from '../../../store/store.ts'
import type { LensHost } from '../../lens.ts'
import type { ScoreWeights } from '../model.ts'
import { NODES } from '../tables.ts'
import { isModeName } from './formulas.ts'
import { lastUse, memoryRows, readMemories, readMemory, type StoredMemory, usesSince } from './memory-rows.ts'
import { BlockBounds, BY_RELEVANCE, type Cell, MemoryCells, MemoryScorer } from './scorer.ts'

const PAGE = 10_000
/** Rows of MEMORY that are kept, 200 bytes each. */
const ROWS_KEPT = 10_000
/** A share of the nodes: of as many changes it is quicker to read all again. */
const WORTH_RELOADING = 1 / 4

export interface ScorerRequest {
  /** Of the call or the settings; null: each node by its own mode's. */
  readonly weights: ScoreWeights | null
  /** Unix seconds. */
  readonly now: number
  readonly points: PointIndex
  readonly memoryEnabled: boolean
}

export class MemoryColumns {
  readonly viewer: string
  readonly #store: Store
  #cells = new MemoryCells()
  /** Rows of MEMORY read or written lately, in step with the cells; oldest first. */
  readonly #rows = new Recent<EntryKey, StoredMemory>(ROWS_KEPT)
  #bounds: BlockBounds | null = null
  /** Members of blocks that fell since the bounds were made: with many, the bounds are too high to be of use. */
  #fallen = 0
  readonly #feed = new FeedFollower({
    clear: () => {
      this.#cells = new MemoryCells()
      this.#rows.clear()
      this.#bounds = null
    },
    pages: reader => this.#pages(reader),
    take: (reader, changed) => this.#take(reader, [...changed.keys()]),
    most: () => this.#worthFollowing,
  })
  /** Place in the log of uses. */
  #seen = 0
  #version = -1

  constructor(store: Store, viewer: string) {
    this.#store = store
    this.viewer = viewer
  }

  /** Number of nodes, seen by the viewer or not. */
  get size(): number {
    return this.#cells.size
  }

  /** Nodes that are not rotten for this viewer, seen or not; null when none is rotten. Live: read it, do not keep it. */
  get allow(): Bitset | null {
    return this.#cells.alive.size === this.#cells.size ? null : this.#cells.alive
  }

  /** Nodes that are rotten for this viewer; null when none is. Live, as `allow`. */
  get rotten(): Bitset | null {
    return this.allow === null ? null : this.#cells.rotten
  }

  /** The newest line of the log of uses that is reflected here. */
  get seen(): number {
    return this.#seen
  }

  get byteLength(): number {
    return this.#cells.byteLength
  }

  has(entry: EntryKey): boolean {
    return this.#cells.has(entry)
  }

  memory(entry: EntryKey): Cell | undefined {
    return this.#cells.get(entry)
  }

  /** The whole memories of these nodes; absent: never used. Within a read that the columns were brought in step with. */
  stored(reader: StoreReader, entries: readonly EntryKey[]): ReadonlyMap<EntryKey, StoredMemory> {
    const used = entries.filter(entry => this.#cells.get(entry)?.used === true)
    const missing = used.filter(entry => this.#rows.find(entry) === undefined)
    const read = missing.length === 0 ? null : readMemories(reader, this.viewer, missing)
    const found = new Map<EntryKey, StoredMemory>()
    for (const entry of used) {
      const memory = this.#rows.find(entry) ?? read?.get(entry)
      if (memory === undefined) continue
      found.set(entry, memory)
      this.#rows.set(entry, memory)
    }
    return found
  }

  /** Unix seconds; of nodes only. */
  lastAccessed(entry: EntryKey): number {
    return this.#cells.lastAccessed(entry)
  }

  /** The first node behind this key; -1 when there is none. From -1 on, these are all. */
  next(after: EntryKey): EntryKey {
    return this.#cells.next(after)
  }

  /**
   * Ranks these points; for one search, right after the index was brought up to date. One reading of the store for both
   * makes them agree with each other.
   */
  scorer({ weights, now, points, memoryEnabled }: ScorerRequest): PointScorer {
    if (!memoryEnabled) return BY_RELEVANCE
    if (points.position > this.#feed.position) this.refresh()
    if (this.#bounds?.points !== points || this.#fallen > this.#cells.size * WORTH_RELOADING) {
      this.#bounds = new BlockBounds(this.#cells, points)
      this.#fallen = 0
    }
    this.#bounds.settle()
    return new MemoryScorer(this.#cells, this.#bounds, weights, now)
  }

  /** Takes in what was committed since: microseconds when that is nothing. */
  refresh(): void {
    const version = this.#store.version()
    if (version === this.#version) return
    this.#store.read(reader => this.follow(reader))
    this.#version = version
  }

  /** As `refresh`, from within a transaction. */
  follow(reader: StoreReader): void {
    this.#feed.follow(reader)
    const uses = usesSince(reader, this.viewer, this.#seen)
    if (uses.entries === null || uses.entries.length > this.#worthFollowing) {
      this.#feed.reset()
      this.#feed.follow(reader)
      return
    }
    const entries = [...new Set(uses.entries)]
    aroundDamage(reader, () => this.#take(reader, entries))
    this.#seen = uses.last
  }

  /** What was just written and committed, with the line of the log that tells of it; so it need not be read back. */
  wrote(memories: Iterable<readonly [EntryKey, StoredMemory]>, seen: number): void {
    for (const [entry, memory] of memories) {
      const cell = this.#cells.get(entry)
      if (cell === undefined) continue
      this.#put(entry, { ...cell, ...signalsOf(memory) })
      this.#rows.set(entry, memory)
    }
    this.#seen = seen
  }

  /** Of changes and of uses: with more, reading all again is quicker than looking each up. */
  get #worthFollowing(): number {
    return Math.max(PAGE, this.#cells.size * WORTH_RELOADING)
  }

  *#pages(reader: StoreReader): Generator {
    this.#seen = lastUse(reader, this.viewer)
    const cells = this.#cells
    for (const rows of tablePages(reader, NODES, ['mode_name', 'decay_enabled', 'created_at'], PAGE)) {
      for (const row of rows) cells.set(row['entry'] as EntryKey, cellOf(row, undefined))
      yield
    }
    for (const row of memoryRows(reader, this.viewer, ['last_accessed', 'strength_raw', 'ascension', 'rotten'])) {
      const entry = row['entry'] as EntryKey
      const cell = cells.get(entry)
      if (cell === undefined) continue
      cells.set(entry, {
        ...cell,
        last_accessed: row['last_accessed'] as number,
        strength_raw: row['strength_raw'] as number,
        ascension: row['ascension'] === 1,
        rotten: row['rotten'] === 1,
        used: true,
      })
    }
  }

  #take(reader: StoreReader, entries: readonly EntryKey[]): void {
    for (const entry of entries) {
      this.#rows.delete(entry)
      const row = reader.table(NODES).get({ entry })
      if (row === undefined) this.#cells.delete(entry)
      else this.#put(entry, cellOf(row, readMemory(reader, this.viewer, entry)))
    }
  }

  #put(entry: EntryKey, cell: Cell): void {
    if (this.#cells.has(entry) && cell.strength_raw < this.#cells.strength(entry)) this.#fallen++
    this.#cells.set(entry, cell)
    this.#bounds?.raise(entry)
  }
}

function cellOf(node: Row, memory: StoredMemory | undefined): Cell {
  const mode = node['mode_name']
  return {
    last_accessed: node['created_at'] as number,
    strength_raw: 0,
    ascension: false,
    rotten: false,
    decay_enabled: node['decay_enabled'] === 1,
    mode_name: isModeName(mode) ? mode : null,
    used: false,
    ...(memory && signalsOf(memory)),
  }
}

function signalsOf(
  memory: StoredMemory,
): Pick<Cell, 'last_accessed' | 'strength_raw' | 'ascension' | 'rotten' | 'used'> {
  const { last_accessed, strength_raw, ascension, rotten } = memory
  return { last_accessed, strength_raw, ascension, rotten, used: true }
}

/** Viewers whose columns are kept: 17 MB each at a million nodes. */
const VIEWERS = 8

export class Memories {
  readonly #store: Store
  readonly #columns = new Recent<string, MemoryColumns>(VIEWERS)

  constructor(store: Store) {
    this.#store = store
  }

  /** In step with what is committed. The first call for a viewer reads all nodes. */
  of(viewer: string): MemoryColumns {
    const columns = this.#columns.get(viewer, () => new MemoryColumns(this.#store, viewer))
    columns.refresh()
    return columns
  }
}

export interface MemorySettings {
  /** False: no strength, no decay, no lifecycle; scores are relevance alone. */
  readonly enabled: boolean
  /** False: decay cycles are skipped. */
  readonly decay_enabled: boolean
}

export interface MemoryContext {
  readonly host: LensHost
  readonly memories: Memories
  /** What was used and waits to be written. */
  readonly access: { flush(): unknown }
  readonly settings: MemorySettings
}

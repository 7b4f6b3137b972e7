/**
 * One viewer's memory of all nodes (uses, strength, health of stored notes) in arrays for ranking. Loaded from the store on first use, then
 * updated from the change feed (list of added, changed and deleted entries) and from the log of memories that any process changed.
 */

import { Bitset } from '../../../base/bitset.ts'
import { Columns } from '../../../base/columns.ts'
import { Recent } from '../../../base/recent.ts'
import type { PointIndex, PointScorer } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Row } from '../../../model/table.ts'
import { FeedFollower } from '../../../pipeline/columns.ts'
import { aroundDamage, tablePages } from '../../../pipeline/many-rows.ts'
import type { Store, StoreReader } from '../../../store/store.ts'
import type { LensHost } from '../../lens.ts'
import type { ScoreWeights } from '../model.ts'
import { lastUse, memoryRows, NODES, readMemories, readMemory, type StoredMemory, usesSince } from '../tables.ts'
import {
  combine,
  isModeName,
  MODE_NAMES,
  MODES,
  type Mode,
  type ModeName,
  recencyOf,
  relevanceOf,
  strengthNorm,
  weightsOf,
} from './formulas.ts'

const PAGE = 10_000
/** Number of rows of the table MEMORY that are cached, of about 200 bytes each. */
const ROWS_KEPT = 10_000
/** When more than this share of the nodes has changed, reading all memories again is quicker than following the changes. */
const RELOADED_SHARE = 1 / 4

export interface ScorerRequest {
  /**
   * Weights of relevance, recency and strength for this search, from the call or the settings. Null: each node is scored with the weights
   * of its memory mode (speed of fading).
   */
  readonly weights: ScoreWeights | null
  /** Time of the query that is scored, in Unix seconds. */
  readonly now: number
  readonly points: PointIndex
  readonly memoryEnabled: boolean
}

// One viewer's memory of every node, with the fields that ranking needs, in typed arrays by entry key. This takes 25 bytes per key and no
// objects, so 25 MB for a million nodes; scoring a node reads three numbers.

/** One viewer's memory of a node with the fields that ranking needs, and the node's own fields that affect it. */
export interface Cell {
  /** Creation time of the node in Unix seconds; the other times of this type have that unit too. */
  readonly created_at: number
  readonly last_accessed: number
  readonly strength_raw: number
  readonly ascension: boolean
  readonly rotten: boolean
  readonly decay_enabled: boolean
  /** The node's memory mode; null where the stored name is unknown. */
  readonly mode_name: ModeName | null
  /** Whether the node was used by the viewer, so that the table MEMORY has a row for it. */
  readonly used: boolean
}

const MODE_BITS = 0b11
const ASCENSION = 0b100
const ROTTEN = 0b1000
const DECAYS = 0b1_0000
const UNKNOWN_MODE = 0b10_0000
const USED = 0b100_0000
const PRESENT = 0b1000_0000

/**
 * One viewer's memory numbers of nodes in arrays by entry key, with two sets: the nodes that are rotten (faded, left out of results) and
 * those that are not.
 */
class MemoryCells {
  readonly #cells = new Columns({
    created: { of: Float64Array, empty: Number.NEGATIVE_INFINITY },
    accessed: { of: Float64Array, empty: Number.NEGATIVE_INFINITY },
    strength: { of: Float64Array },
    /** Flags of a node as bits; the lowest two bits are the memory mode. */
    flags: { of: Uint8Array },
  })
  #size = 0
  #alive = new Bitset()
  #rotten = new Bitset()

  /** Number of nodes in the columns, visible to the viewer or not. */
  get size(): number {
    return this.#size
  }

  /**
   * Set of the nodes that are not rotten for this viewer, visible or not; null when no node is rotten. Later changes alter this set object,
   * so callers must not keep it.
   */
  get allow(): Bitset | null {
    return this.#rotten.size === 0 ? null : this.#alive
  }

  /**
   * Set of the nodes that are rotten for this viewer; null when there are none. Later changes alter this set object, so callers must not
   * keep it.
   */
  get rotten(): Bitset | null {
    return this.#rotten.size === 0 ? null : this.#rotten
  }

  has(entry: EntryKey): boolean {
    return ((this.#cells.arrays.flags[entry] ?? 0) & PRESENT) !== 0
  }

  /** Creation time of a node in Unix seconds; without meaning for an entry that is no node. */
  created(entry: EntryKey): number {
    return this.#cells.arrays.created[entry] ?? Number.NEGATIVE_INFINITY
  }

  lastAccessed(entry: EntryKey): number {
    return this.#cells.arrays.accessed[entry] ?? Number.NEGATIVE_INFINITY
  }

  strength(entry: EntryKey): number {
    return this.#cells.arrays.strength[entry] ?? 0
  }

  /** Index of the node's memory mode in `MODE_NAMES`; an unknown mode counts as the first. */
  modeAt(entry: EntryKey): number {
    return (this.#cells.arrays.flags[entry] ?? 0) & MODE_BITS
  }

  memory(entry: EntryKey): Cell | undefined {
    const flags = this.#cells.arrays.flags[entry] ?? 0
    if ((flags & PRESENT) === 0) return undefined
    return {
      created_at: this.created(entry),
      last_accessed: this.lastAccessed(entry),
      strength_raw: this.strength(entry),
      ascension: (flags & ASCENSION) !== 0,
      rotten: (flags & ROTTEN) !== 0,
      decay_enabled: (flags & DECAYS) !== 0,
      mode_name: (flags & UNKNOWN_MODE) !== 0 ? null : (MODE_NAMES[flags & MODE_BITS] ?? null),
      used: (flags & USED) !== 0,
    }
  }

  protected setCell(entry: EntryKey, cell: Cell): void {
    this.#cells.reserve(entry + 1)
    if (!this.has(entry)) this.#size++
    const mode = cell.mode_name === null ? UNKNOWN_MODE : MODE_NAMES.indexOf(cell.mode_name)
    const { created, accessed, strength, flags } = this.#cells.arrays
    created[entry] = cell.created_at
    accessed[entry] = cell.last_accessed
    strength[entry] = cell.strength_raw
    flags[entry] =
      PRESENT |
      mode |
      (cell.ascension ? ASCENSION : 0) |
      (cell.rotten ? ROTTEN : 0) |
      (cell.decay_enabled ? DECAYS : 0) |
      (cell.used ? USED : 0)
    const [is, isNot] = cell.rotten ? [this.#rotten, this.#alive] : [this.#alive, this.#rotten]
    is.add(entry)
    isNot.delete(entry)
  }

  protected deleteCell(entry: EntryKey): void {
    if (!this.has(entry)) return
    this.#cells.arrays.flags[entry] = 0
    this.#alive.delete(entry)
    this.#rotten.delete(entry)
    this.#size--
  }

  protected clearCells(): void {
    this.#cells.clear()
    this.#alive = new Bitset()
    this.#rotten = new Bitset()
    this.#size = 0
  }

  /**
   * The first node whose entry key is greater than `after`; -1 when there is none. To visit all nodes, start with -1 and pass each returned
   * key as the next `after`.
   */
  next(after: EntryKey): EntryKey {
    const { flags } = this.#cells.arrays
    for (let entry = after + 1; entry < flags.length; entry++) {
      if (((flags[entry] as number) & PRESENT) !== 0) return entry
    }
    return -1
  }
}

export class MemoryColumns extends MemoryCells {
  readonly viewer: string
  readonly #store: Store
  /** Cache of rows of the table MEMORY that were read or written recently, oldest first. It is updated together with the columns. */
  readonly #rows = new Recent<EntryKey, StoredMemory>(ROWS_KEPT)
  #bounds: BlockBounds | null = null
  /**
   * Number of nodes whose strength fell since the upper score bounds of their blocks (groups of points) were computed. When it is large,
   * the bounds are too high to exclude blocks from a search, so they are computed again.
   */
  #fallen = 0
  readonly #feed = new FeedFollower({
    clear: () => {
      this.clearCells()
      this.#rows.clear()
      this.#bounds = null
    },
    pages: reader => this.#pages(reader),
    take: (reader, changed) => this.#take(reader, [...changed.keys()]),
    most: () => this.#worthFollowing,
  })
  /**
   * Number of the last line of the log of uses (the log of changed memories, by which processes follow each other's changes) that is
   * already applied to these columns.
   */
  #seen = 0
  #version = -1

  constructor(store: Store, viewer: string) {
    super()
    this.#store = store
    this.viewer = viewer
  }

  /**
   * Number of the last line of the log of uses (the log of changed memories, by which processes follow each other's changes) that is
   * already applied to these columns.
   */
  get seen(): number {
    return this.#seen
  }

  /**
   * The complete memories of these nodes as a map by key; a node that was never used is absent. Must be called within the read transaction
   * for which the columns were updated.
   */
  stored(reader: StoreReader, entries: readonly EntryKey[]): ReadonlyMap<EntryKey, StoredMemory> {
    const used = entries.filter(entry => this.memory(entry)?.used === true)
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

  /**
   * Makes a function that scores the points of one search. Call it right after updating the point index: index and memory columns are then
   * updated within one read transaction and agree with each other.
   */
  scorer({ weights, now, points, memoryEnabled }: ScorerRequest): PointScorer {
    if (!memoryEnabled) return BY_RELEVANCE
    if (points.position > this.#feed.position) this.refresh()
    if (this.#bounds?.points !== points || this.#fallen > this.size * RELOADED_SHARE) {
      this.#bounds = new BlockBounds(this, points)
      this.#fallen = 0
    }
    this.#bounds.settle(now)
    return new MemoryScorer(this, this.#bounds, weights, now)
  }

  /** Applies changes that were committed since the last call; takes microseconds when there are none. */
  refresh(): void {
    const version = this.#store.version()
    if (version === this.#version) return
    this.#store.read(reader => this.follow(reader))
    this.#version = version
  }

  /** Applies committed changes to the columns, from within a transaction of the caller. */
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

  /**
   * Takes over memories that this process has just written and committed, with their line number in the log of changed memories, so that
   * they need not be read back.
   */
  wrote(memories: Iterable<readonly [EntryKey, StoredMemory]>, seen: number): void {
    for (const [entry, memory] of memories) {
      const cell = this.memory(entry)
      if (cell === undefined) continue
      this.#put(entry, { ...cell, ...signalsOf(memory) })
      this.#rows.set(entry, memory)
    }
    const hasWritten = seen !== this.#seen
    this.#seen = seen
    const version = this.#store.version()
    // When the store's version number rose by exactly one, this process's own write was the only commit, so the columns are up to date.
    if (hasWritten && version === this.#version + 1) this.#version = version
  }

  /** Number of changes and uses up to which looking up each one is quicker than reading all memories again. */
  get #worthFollowing(): number {
    return Math.max(PAGE, this.size * RELOADED_SHARE)
  }

  *#pages(reader: StoreReader): Generator {
    this.#seen = lastUse(reader, this.viewer)
    for (const rows of tablePages(reader, NODES, ['mode_name', 'decay_enabled', 'created_at'], PAGE)) {
      for (const row of rows) this.setCell(row['entry'] as EntryKey, cellOf(row, undefined))
      yield
    }
    for (const row of memoryRows(reader, this.viewer, ['last_accessed', 'strength_raw', 'ascension', 'rotten'])) {
      const entry = row['entry'] as EntryKey
      const cell = this.memory(entry)
      if (cell === undefined) continue
      this.setCell(entry, {
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
      if (row === undefined) this.deleteCell(entry)
      else this.#put(entry, cellOf(row, readMemory(reader, this.viewer, entry)))
    }
  }

  #put(entry: EntryKey, cell: Cell): void {
    if (this.has(entry) && cell.strength_raw < this.strength(entry)) this.#fallen++
    this.setCell(entry, cell)
    this.#bounds?.raise(entry)
  }
}

function cellOf(node: Row, memory: StoredMemory | undefined): Cell {
  const mode = node['mode_name']
  const created = node['created_at'] as number
  return {
    created_at: created,
    last_accessed: created,
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

/** Number of viewers whose memory columns are kept in memory; at a million nodes each takes 25 MB. */
const VIEWERS = 8

export class Memories {
  readonly #store: Store
  readonly #columns = new Recent<string, MemoryColumns>(VIEWERS)

  constructor(store: Store) {
    this.#store = store
  }

  /** The memory columns of a viewer, updated to the committed state. The first call for a viewer reads all nodes. */
  of(viewer: string): MemoryColumns {
    const columns = this.loaded(viewer)
    columns.refresh()
    return columns
  }

  /**
   * The memory columns of a viewer, possibly behind the committed state, for callers that update them within a transaction of their own.
   */
  loaded(viewer: string): MemoryColumns {
    return this.#columns.get(viewer, () => {
      const columns = new MemoryColumns(this.#store, viewer)
      columns.refresh()
      return columns
    })
  }
}

export interface MemorySettings {
  /** When false, scores are relevance alone, and there is no strength, decay or lifecycle of nodes. */
  readonly enabled: boolean
  /** When false, decay cycles are skipped and strength does not fall. */
  readonly decay_enabled: boolean
}

export interface MemoryContext {
  readonly host: LensHost
  readonly memories: Memories
  /** Queue of uses of nodes; `flush` writes those that are not written yet. */
  readonly access: { flush(): unknown }
  readonly settings: MemorySettings
}

// Scores nodes by relevance, recency and strength (CQ-052 to CQ-054), read from one viewer's memory columns.

/**
 * Factor slightly above 1 by which upper bounds of scores are raised. Floating-point rounding can make the result for a larger input
 * slightly smaller. Each part of a score is exact to about 4e-16 of its value; only for numbers near 0, which are less precise, `LEAST` is
 * added.
 */
const SLACK = 1 + 1e-14
const LEAST = 1e-300

const MODE_COUNT = MODE_NAMES.length
const MODES_IN_ORDER: readonly Mode[] = MODE_NAMES.map(name => MODES[name])

/** Scorer used when memory is switched off: the score is the relevance (nearness in colour) alone. */
export const BY_RELEVANCE: PointScorer = {
  score: (_entry, distance) => relevanceOf(distance),
  bound: (_block, distance) => relevanceOf(distance) * SLACK + LEAST,
  limit: distance => relevanceOf(distance) * SLACK * SLACK + LEAST * 2,
}

/**
 * Scores nodes by one viewer's memory. Before a search, `BlockBounds.settle` must have been called for it, and the viewer's memory numbers
 * must not change during the search.
 */
export class MemoryScorer implements PointScorer {
  readonly #cells: MemoryCells
  readonly #bounds: BlockBounds
  readonly #now: number
  /** Weights of relevance, recency and strength for each memory mode, in the order of `MODE_NAMES`. */
  readonly #weights: readonly ScoreWeights[]

  /** `weights` null: each node is scored with the weights of its own memory mode. */
  constructor(cells: MemoryCells, bounds: BlockBounds, weights: ScoreWeights | null, now: number) {
    this.#cells = cells
    this.#bounds = bounds
    this.#now = now
    this.#weights = MODES_IN_ORDER.map(mode => weights ?? weightsOf(mode))
  }

  score(entry: EntryKey, distance: number): number {
    const at = this.#cells.modeAt(entry)
    const weights = this.#weights[at] as ScoreWeights
    const recency = recencyOf(MODES_IN_ORDER[at] as Mode, this.#cells.lastAccessed(entry), this.#now)
    const strength = strengthNorm(this.#cells.strength(entry))
    return combine(weights.relevance, weights.recency, weights.strength, relevanceOf(distance), recency, strength)
  }

  bound(block: number, distance: number): number {
    const relevance = relevanceOf(distance)
    let most = 0
    for (let mode = 0; mode < MODE_COUNT; mode++) {
      const recency = this.#bounds.recency(block, mode)
      if (recency < 0) continue
      const weights = this.#weights[mode] as ScoreWeights
      const strength = this.#bounds.strength(block, mode)
      const score = weights.relevance * relevance + weights.recency * recency + weights.strength * strength
      if (score > most) most = score
    }
    return most * SLACK + LEAST
  }

  limit(distance: number): number {
    // The rounding factor is applied a second time. The bound over all blocks is computed from larger inputs than the bound of one block,
    // but after rounding it need not be the larger of the two.
    return this.bound(ALL, distance) * SLACK
  }
}

// Upper bounds for scores: for each block of points and each memory mode, the latest access and the largest strength of its nodes. They
// hold for any weights at any time. A bound is raised as soon as a node rises. When a node weakens or leaves, the bound stays too high,
// which is safe, until all are computed again.

/** Block number that means "all blocks together" when a bound is looked up. */
export const ALL = -1
/**
 * Time in seconds for which computed recencies are reused. Recency only falls while time passes, so an older value is a valid upper bound.
 */
const KEPT_S = 60

export class BlockBounds {
  readonly points: PointIndex
  readonly #cells: MemoryCells
  #generation = -1
  /** Number of points from the index's list of newly added points that were already applied to these bounds. */
  #arrived = 0
  /**
   * Array of bounds. The bounds of a block start at index (block + 1) × number of memory modes, with one place for each mode. The bounds
   * over all blocks have the block number -1 (`ALL`), so they come first.
   */
  readonly #bounds = new Columns({
    /** Latest access of a node of this mode in the block, in Unix seconds; minus infinity where the block has none. */
    newest: { of: Float64Array, empty: Number.NEGATIVE_INFINITY },
    /** Largest normalised strength (0 to 1) of a node of this mode in the block. */
    strongest: { of: Float64Array },
    /** Recency (0 to 1) at time `#since` of a node last used at the block's latest access. NaN: not computed yet. */
    recencies: { of: Float64Array, empty: Number.NaN },
  })
  #since = Number.NaN

  constructor(cells: MemoryCells, points: PointIndex) {
    this.points = points
    this.#cells = cells
  }

  /**
   * Applies the points that were added to blocks since the last call, so that the bounds include them. Must be called before bounds are
   * read for the time `now` (Unix seconds).
   */
  settle(now: number): void {
    const { generation, arrivals } = this.points
    if (generation !== this.#generation) {
      this.#generation = generation
      this.#arrived = arrivals.length
      this.#remake()
    }
    while (this.#arrived < arrivals.length) this.raise(arrivals[this.#arrived++] as EntryKey)
    const since = Math.floor(now / KEPT_S) * KEPT_S
    if (since !== this.#since) this.#bounds.arrays.recencies.fill(Number.NaN)
    this.#since = since
  }

  /**
   * Raises the bounds of a node's block when the node is new, or when its memory or memory mode changed. A new node without a point in the
   * index is skipped until the index gets its point.
   */
  raise(entry: EntryKey): void {
    const block = this.points.blockOf(entry)
    if (block === -1 || !this.#cells.has(entry)) return
    const mode = this.#cells.modeAt(entry)
    const accessed = this.#cells.lastAccessed(entry)
    const strength = strengthNorm(this.#cells.strength(entry))
    this.#raiseAt(placeOf(ALL, mode), accessed, strength)
    this.#raiseAt(placeOf(block, mode), accessed, strength)
  }

  #raiseAt(at: number, accessed: number, strength: number): void {
    this.#bounds.reserve(at + 1)
    const { newest, strongest, recencies } = this.#bounds.arrays
    if (accessed > (newest[at] as number)) {
      newest[at] = accessed
      recencies[at] = Number.NaN
    }
    if (strength > (strongest[at] as number)) strongest[at] = strength
  }

  /** Upper bound of the recency of the nodes of this mode in a block, or in all blocks; below 0 when there are no such nodes. */
  recency(block: number, mode: number): number {
    const at = placeOf(block, mode)
    const { newest, recencies } = this.#bounds.arrays
    const known = recencies[at] ?? -1
    if (!Number.isNaN(known)) return known
    const last = newest[at] as number
    const made = last === Number.NEGATIVE_INFINITY ? -1 : recencyOf(MODES_IN_ORDER[mode] as Mode, last, this.#since)
    recencies[at] = made
    return made
  }

  /** Upper bound of the normalised strength of the nodes of this mode in a block, or in all blocks. */
  strength(block: number, mode: number): number {
    return this.#bounds.arrays.strongest[placeOf(block, mode)] ?? 0
  }

  /** Computes the bounds of all blocks from all nodes, which takes some 20 ns per node. */
  #remake(): void {
    this.#bounds.clear(placeOf(Math.ceil(this.points.blocks * 1.2), 0))
    for (let entry = this.#cells.next(-1); entry !== -1; entry = this.#cells.next(entry)) this.raise(entry)
  }
}

function placeOf(block: number, mode: number): number {
  return (block + 1) * MODE_COUNT + mode
}

/** Ranks points by relevance, recency and strength (CQ-052 to CQ-054), from the cells of one viewer. */

import { Bitset } from '../../../base/bitset.ts'
import { grown } from '../../../base/grown.ts'
import type { PointIndex, PointScorer } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { MODE_NAMES, type ModeName } from '../mode-names.ts'
import type { ScoreWeights } from '../model.ts'
import { combine, MODES, type Mode, recencyOf, relevanceOf, strengthNorm, weightsOf } from './formulas.ts'

/**
 * How far the parts of a limit may fall short of what they bound: an exponential need not grow with its argument in the
 * last bit, nor a sum be rounded alike. Each is exact to about 4e-16; near 0 the smallest numbers have no such share.
 */
const SLACK = 1 + 1e-14
const LEAST = 1e-300

/** Memory switched off: nothing but how near. */
export const BY_RELEVANCE: PointScorer = {
  score: (_entry, distance) => relevanceOf(distance),
  bound: (_block, distance) => relevanceOf(distance) * SLACK + LEAST,
  limit: distance => relevanceOf(distance) * SLACK * SLACK + LEAST * 2,
}

/** The bounds must have been settled for this search, and the cells stay as they are during it. */
export class MemoryScorer implements PointScorer {
  readonly #cells: MemoryCells
  readonly #bounds: BlockBounds
  readonly #now: number
  /** By place of the mode in `MODE_NAMES`. */
  readonly #weights: readonly ScoreWeights[]
  readonly #modes: readonly Mode[]
  /** The best that recency and strength can give in the block asked about last, by mode; -1: it has no such node. */
  readonly #priors = new Float64Array(MODE_NAMES.length)
  #block = Number.NaN

  /** `weights` null: each node by its own mode's. */
  constructor(cells: MemoryCells, bounds: BlockBounds, weights: ScoreWeights | null, now: number) {
    this.#cells = cells
    this.#bounds = bounds
    this.#now = now
    this.#modes = MODE_NAMES.map(name => MODES[name])
    this.#weights = this.#modes.map(mode => weights ?? weightsOf(mode))
  }

  score(entry: EntryKey, distance: number): number {
    const at = this.#cells.modeAt(entry)
    const weights = this.#weights[at] as ScoreWeights
    const recency = recencyOf(this.#modes[at] as Mode, this.#cells.lastAccessed(entry), this.#now)
    const strength = strengthNorm(this.#cells.strength(entry))
    return combine(weights.relevance, weights.recency, weights.strength, relevanceOf(distance), recency, strength)
  }

  bound(block: number, distance: number): number {
    if (block !== this.#block) this.#turnTo(block)
    const relevance = relevanceOf(distance)
    let most = 0
    for (let mode = 0; mode < this.#priors.length; mode++) {
      const prior = this.#priors[mode] as number
      if (prior < 0) continue
      const worth = (this.#weights[mode] as ScoreWeights).relevance * relevance + prior
      if (worth > most) most = worth
    }
    return most * SLACK + LEAST
  }

  limit(distance: number): number {
    // Once more the slack: what bounds all blocks is computed from larger numbers, which need not give a larger one.
    return this.bound(ALL, distance) * SLACK
  }

  /** Searches ask about a block several times in succession. */
  #turnTo(block: number): void {
    this.#block = block
    for (let mode = 0; mode < this.#priors.length; mode++) {
      const newest = this.#bounds.newest(block, mode)
      this.#priors[mode] = newest === Number.NEGATIVE_INFINITY ? -1 : this.#prior(mode, newest, block)
    }
  }

  #prior(mode: number, newest: number, block: number): number {
    const weights = this.#weights[mode] as ScoreWeights
    const recency = weights.recency === 0 ? 0 : recencyOf(this.#modes[mode] as Mode, newest, this.#now)
    return weights.recency * recency + weights.strength * strengthNorm(this.#bounds.strongest(block, mode))
  }
}

// What ranking needs of one viewer's memory, for every node, in typed arrays by entry key: 17 bytes a key and no objects,
// so that a million nodes are 17 MB and a score reads three numbers.

/** A node's memory as far as ranking goes, and what of the node itself bears on it. */
export interface Cell {
  readonly last_accessed: number
  readonly strength_raw: number
  readonly ascension: boolean
  readonly rotten: boolean
  readonly decay_enabled: boolean
  /** Null: the store names a mode there is not. */
  readonly mode_name: ModeName | null
  /** Whether there is a row of MEMORY. */
  readonly used: boolean
}

const MODE_BITS = 0b11
const ASCENSION = 0b100
const ROTTEN = 0b1000
const DECAYS = 0b1_0000
const UNKNOWN_MODE = 0b10_0000
const USED = 0b100_0000
const PRESENT = 0b1000_0000

export class MemoryCells {
  #accessed = new Float64Array(1024)
  #strength = new Float64Array(1024)
  /** Mode in the lowest two bits. */
  #flags = new Uint8Array(1024)
  #size = 0
  readonly #alive = new Bitset()
  readonly #rotten = new Bitset()

  /** Number of nodes. */
  get size(): number {
    return this.#size
  }

  /** Nodes that are not rotten. Live: changes with the cells. */
  get alive(): Bitset {
    return this.#alive
  }

  /** Nodes that are. Live, as `alive`. */
  get rotten(): Bitset {
    return this.#rotten
  }

  get byteLength(): number {
    return this.#flags.length * 17
  }

  has(entry: EntryKey): boolean {
    return ((this.#flags[entry] ?? 0) & PRESENT) !== 0
  }

  /** Of a node; anything of what is none. */
  lastAccessed(entry: EntryKey): number {
    return this.#accessed[entry] ?? Number.NEGATIVE_INFINITY
  }

  strength(entry: EntryKey): number {
    return this.#strength[entry] ?? 0
  }

  /** Place of the node's mode in `MODE_NAMES`; one that there is not counts as the first. */
  modeAt(entry: EntryKey): number {
    return (this.#flags[entry] ?? 0) & MODE_BITS
  }

  get(entry: EntryKey): Cell | undefined {
    const flags = this.#flags[entry] ?? 0
    if ((flags & PRESENT) === 0) return undefined
    return {
      last_accessed: this.lastAccessed(entry),
      strength_raw: this.strength(entry),
      ascension: (flags & ASCENSION) !== 0,
      rotten: (flags & ROTTEN) !== 0,
      decay_enabled: (flags & DECAYS) !== 0,
      mode_name: (flags & UNKNOWN_MODE) !== 0 ? null : (MODE_NAMES[flags & MODE_BITS] ?? null),
      used: (flags & USED) !== 0,
    }
  }

  set(entry: EntryKey, cell: Cell): void {
    if (entry >= this.#flags.length) {
      this.#accessed = grown(this.#accessed, entry + 1)
      this.#strength = grown(this.#strength, entry + 1)
      this.#flags = grown(this.#flags, entry + 1)
    }
    if (!this.has(entry)) this.#size++
    const mode = cell.mode_name === null ? UNKNOWN_MODE : MODE_NAMES.indexOf(cell.mode_name)
    this.#accessed[entry] = cell.last_accessed
    this.#strength[entry] = cell.strength_raw
    this.#flags[entry] =
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

  delete(entry: EntryKey): void {
    if (!this.has(entry)) return
    this.#flags[entry] = 0
    this.#alive.delete(entry)
    this.#rotten.delete(entry)
    this.#size--
  }

  /** The first node behind this key; -1 when there is none. */
  next(after: EntryKey): EntryKey {
    for (let entry = after + 1; entry < this.#flags.length; entry++) {
      if (((this.#flags[entry] as number) & PRESENT) !== 0) return entry
    }
    return -1
  }
}

// For each block of points the newest access and the largest strength of its nodes, by mode: enough to bound the score of
// every node in it for any weights at any time. Raised at once when a member rises; a member that fades, leaves or
// changes its mode leaves the limit too high, which is safe, until the next making anew.

const MODE_COUNT = MODE_NAMES.length
/** In place of a block. */
export const ALL = -1

export class BlockBounds {
  readonly points: PointIndex
  readonly #cells: MemoryCells
  #generation = -1
  /** How many of the points' arrivals are in. */
  #arrived = 0
  /** By block × modes + mode; minus infinity: no node of that mode. */
  #newest = new Float64Array(0)
  #strongest = new Float64Array(0)
  /** Over all blocks, by mode. */
  readonly #newestOfAll = new Float64Array(MODE_COUNT)
  readonly #strongestOfAll = new Float64Array(MODE_COUNT)

  constructor(cells: MemoryCells, points: PointIndex) {
    this.points = points
    this.#cells = cells
  }

  /** Takes in what came into blocks; to be called before limits are read. */
  settle(): void {
    const { generation, arrivals } = this.points
    if (generation !== this.#generation) {
      this.#generation = generation
      this.#arrived = arrivals.length
      this.#remake()
    }
    while (this.#arrived < arrivals.length) this.raise(arrivals[this.#arrived++] as EntryKey)
  }

  /** A node's memory or mode changed, or it is new. One that has no point yet will arrive. */
  raise(entry: EntryKey): void {
    const block = this.points.blockOf(entry)
    if (block === -1 || !this.#cells.has(entry)) return
    const mode = this.#cells.modeAt(entry)
    const at = block * MODE_COUNT + mode
    if (at >= this.#newest.length) this.#grow()
    const accessed = this.#cells.lastAccessed(entry)
    const strength = this.#cells.strength(entry)
    if (accessed > (this.#newest[at] as number)) this.#newest[at] = accessed
    if (strength > (this.#strongest[at] as number)) this.#strongest[at] = strength
    if (accessed > (this.#newestOfAll[mode] as number)) this.#newestOfAll[mode] = accessed
    if (strength > (this.#strongestOfAll[mode] as number)) this.#strongestOfAll[mode] = strength
  }

  /** Of a block, or of all for minus one. Minus infinity: it has no node of this mode. */
  newest(block: number, mode: number): number {
    if (block === ALL) return this.#newestOfAll[mode] as number
    return this.#newest[block * MODE_COUNT + mode] ?? Number.NEGATIVE_INFINITY
  }

  strongest(block: number, mode: number): number {
    if (block === ALL) return this.#strongestOfAll[mode] as number
    return this.#strongest[block * MODE_COUNT + mode] ?? 0
  }

  /** Reads all nodes: some 20 ns each. */
  #remake(): void {
    this.#newest = new Float64Array(this.points.blocks * MODE_COUNT).fill(Number.NEGATIVE_INFINITY)
    this.#strongest = new Float64Array(this.points.blocks * MODE_COUNT)
    this.#newestOfAll.fill(Number.NEGATIVE_INFINITY)
    this.#strongestOfAll.fill(0)
    for (let entry = this.#cells.next(-1); entry !== -1; entry = this.#cells.next(entry)) this.raise(entry)
  }

  #grow(): void {
    const length = Math.ceil(this.points.blocks * 1.2) * MODE_COUNT
    const newest = new Float64Array(length).fill(Number.NEGATIVE_INFINITY)
    newest.set(this.#newest)
    const strongest = new Float64Array(length)
    strongest.set(this.#strongest)
    this.#newest = newest
    this.#strongest = strongest
  }
}

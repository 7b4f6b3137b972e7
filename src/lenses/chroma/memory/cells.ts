/**
 * What ranking needs of one viewer's memory, for every node, in typed arrays by entry key: 17 bytes a key and no objects,
 * so that a million nodes are 17 MB and a score reads three numbers.
 */
import { Bitset } from '../../../base/bitset.ts'
import { grown } from '../../../base/grown.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { MODE_NAMES, type ModeName } from '../mode-names.ts'

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

  /** Number of nodes. */
  get size(): number {
    return this.#size
  }

  /** Nodes that are not rotten. Live: changes with the cells. */
  get alive(): Bitset {
    return this.#alive
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
    if (cell.rotten) this.#alive.delete(entry)
    else this.#alive.add(entry)
  }

  delete(entry: EntryKey): void {
    if (!this.has(entry)) return
    this.#flags[entry] = 0
    this.#alive.delete(entry)
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

/**
 * The rows of entries that somebody keeps in a list: looked up once, as far as they were asked for, and then copied.
 * Looking one up costs some fifty nanoseconds, since rows that are neighbours in a list are not so in memory.
 */
import type { Bitset } from '../../base/bitset.ts'
import { grown } from '../../base/grown.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { Slot } from './cells.ts'
import type { VectorRows } from './rows.ts'

const FIRST_ROOM = 512

export class ListedRows {
  readonly #rows: VectorRows
  readonly #known = new WeakMap<Int32Array, RowsOfList>()

  constructor(rows: VectorRows) {
    this.#rows = rows
  }

  /** Those in the partitions, up to this place at least. Valid until rows change. */
  of(entries: Int32Array, partitions: readonly PartitionId[], to: number): RowsOfList {
    let known = this.#known.get(entries)
    if (known?.partitions !== partitions || !known.isCurrent()) {
      known = new RowsOfList(this.#rows, entries, partitions)
      this.#known.set(entries, known)
    }
    known.reach(to)
    return known
  }
}

class RowsOfList {
  readonly partitions: readonly PartitionId[]
  readonly #rows: VectorRows
  readonly #entries: Int32Array
  readonly #lastEntry: EntryKey
  #revision: number
  readonly #visible: Uint8Array
  #slots = new Uint32Array(FIRST_ROOM)
  /** Where the slots of each place begin, and behind the last one where they end. */
  #starts = new Uint32Array(FIRST_ROOM)
  #reached = 0

  constructor(rows: VectorRows, entries: Int32Array, partitions: readonly PartitionId[]) {
    this.partitions = partitions
    this.#revision = rows.revision
    this.#rows = rows
    this.#entries = entries
    this.#lastEntry = entries.reduce((last, entry) => Math.max(last, entry), 0)
    this.#visible = flagsOf(partitions)
  }

  /** Entries are numbered as they come: those made after the list are not in it. */
  isCurrent(): boolean {
    const { revision } = this.#rows
    if (revision === this.#revision) return true
    const changed = this.#rows.changedSince(this.#revision)
    if (changed === null || changed.some(entry => entry <= this.#lastEntry)) return false
    this.#revision = revision
    return true
  }

  reach(to: number): void {
    if (to <= this.#reached) return
    if (to >= this.#starts.length) this.#starts = grown(this.#starts, to + 1)
    const rows = this.#rows
    let count = this.#starts[this.#reached] as number
    for (let place = this.#reached; place < to; place++) {
      let slot: Slot = rows.first(this.#entries[place] as EntryKey)
      if (slot >= 0 && this.#visible[rows.partition(slot)] === 1) {
        for (; slot >= 0; slot = rows.next(slot)) {
          if (count === this.#slots.length) this.#slots = grown(this.#slots, count + 1)
          this.#slots[count++] = slot
        }
      }
      this.#starts[place + 1] = count
    }
    this.#reached = to
  }

  /** Of places that were reached. */
  count(from: number, to: number): number {
    return (this.#starts[to] as number) - (this.#starts[from] as number)
  }

  /** Writes the slots of these places, as far as their entries are allowed; says how many. */
  write(words: Uint32Array, at: number, from: number, to: number, allow: Bitset | undefined): number {
    const [starts, slots] = [this.#starts, this.#slots]
    if (allow === undefined) {
      words.set(slots.subarray(starts[from], starts[to]), at)
      return this.count(from, to)
    }
    let end = at
    for (let place = from; place < to; place++) {
      if (!allow.has(this.#entries[place] as EntryKey)) continue
      for (let slot = starts[place] as number; slot < (starts[place + 1] as number); slot++) {
        words[end++] = slots[slot] as number
      }
    }
    return end - at
  }
}

/** 1 for each of them, by number. */
export function flagsOf(partitions: readonly PartitionId[]): Uint8Array {
  const flags = new Uint8Array(1 + partitions.reduce((most, partition) => Math.max(most, partition), 0))
  for (const partition of partitions) flags[partition] = 1
  return flags
}

/**
 * Edges as typed arrays, 25 bytes each: those of one owner stand together, so walking them reads memory in order, and
 * adding, changing or removing one costs what its owner's edges cost. Agents are numbers here.
 */
import { fadingRate } from './fading.ts'

const MANUAL = 1
const PERSISTENT = 2
/** Counts in others' routes though its owner is not hosted. */
const EXPOSED = 4
const NO_DOMAINS: ReadonlyMap<string, number> = new Map()

interface EdgeValues {
  readonly level: number
  readonly lastUsed: number
  readonly manual: boolean
  readonly persistent: boolean
  readonly exposed: boolean
  readonly domains: Readonly<Record<string, number>>
  /** Uses before the last, ascending. */
  readonly usedBefore: readonly number[]
}

const NO_USES: readonly number[] = []
/** More agents than there are numbers for. */
const MOST_AGENTS = 2 ** 26

export class EdgeArrays {
  /** By slot. */
  target: Int32Array = new Int32Array(1024)
  level: Float64Array = new Float64Array(1024)
  lastUsed: Float64Array = new Float64Array(1024)
  /** Number of its entries by domain; 0: it has none. */
  domains: Int32Array = new Int32Array(1024)
  #flags = new Uint8Array(1024)
  /** By owner: where its slots begin, how many are used, how many there is room for. */
  #start = new Int32Array(256)
  #count = new Int32Array(256)
  #room = new Int32Array(256)
  /** Slots given to an owner, now or once. */
  #end = 0
  #left = 0
  #size = 0
  /** By owner and target, as one number; those that have some. */
  readonly #usedBefore = new Map<number, readonly number[]>()
  readonly #entries: ReadonlyMap<string, number>[] = [NO_DOMAINS]
  readonly #entryNumbers = new Map<string, number>([['{}', 0]])

  get size(): number {
    return this.#size
  }

  /** One more than the highest slot in use. */
  get slots(): number {
    return this.#end
  }

  /** Entries by domain, by number. */
  get entries(): readonly ReadonlyMap<string, number>[] {
    return this.#entries
  }

  get byteLength(): number {
    return this.target.length * 25 + this.#start.length * 12
  }

  begin(owner: number): number {
    return this.#start[owner] ?? 0
  }

  end(owner: number): number {
    return this.begin(owner) + (this.#count[owner] ?? 0)
  }

  /** -1: there is none. */
  slotOf(owner: number, target: number): number {
    for (let slot = this.begin(owner), end = this.end(owner); slot < end; slot++) {
      if (this.target[slot] === target) return slot
    }
    return -1
  }

  rate(slot: number): number {
    const flags = this.#flags[slot] as number
    return fadingRate(this.level[slot] as number, (flags & MANUAL) !== 0, (flags & PERSISTENT) !== 0)
  }

  /** The last use before a moment; the last of all where none was. */
  lastUsedBefore(owner: number, slot: number, asOf: number): number {
    const last = this.lastUsed[slot] as number
    if (last < asOf) return last
    const before = this.#usedBefore.get(owner * MOST_AGENTS + (this.target[slot] as number)) ?? NO_USES
    return before.findLast(use => use < asOf) ?? last
  }

  isExposed(slot: number): boolean {
    return ((this.#flags[slot] as number) & EXPOSED) !== 0
  }

  put(owner: number, target: number, values: EdgeValues): void {
    let slot = this.slotOf(owner, target)
    if (slot < 0) {
      slot = this.#append(owner)
      this.target[slot] = target
      this.#size++
    }
    this.level[slot] = values.level
    this.lastUsed[slot] = values.lastUsed
    this.domains[slot] = this.#entryNumber(values.domains)
    if (values.usedBefore.length > 0) this.#usedBefore.set(owner * MOST_AGENTS + target, values.usedBefore)
    else this.#usedBefore.delete(owner * MOST_AGENTS + target)
    this.#flags[slot] =
      (values.manual ? MANUAL : 0) | (values.persistent ? PERSISTENT : 0) | (values.exposed ? EXPOSED : 0)
  }

  remove(owner: number, target: number): boolean {
    const slot = this.slotOf(owner, target)
    if (slot < 0) return false
    this.#usedBefore.delete(owner * MOST_AGENTS + target)
    this.#move(this.end(owner) - 1, slot)
    this.#count[owner] = (this.#count[owner] as number) - 1
    this.#size--
    return true
  }

  #append(owner: number): number {
    if (owner >= this.#start.length) this.#growOwners(owner + 1)
    const count = this.#count[owner] as number
    if (count === this.#room[owner]) this.#giveRoom(owner, Math.max(4, count * 2))
    this.#count[owner] = count + 1
    return (this.#start[owner] as number) + count
  }

  /** Moves an owner's slots to the end, where there is more room. */
  #giveRoom(owner: number, room: number): void {
    if (this.#left > 1024 && this.#left > this.#end / 2) this.#compact()
    const [from, count] = [this.#start[owner] as number, this.#count[owner] as number]
    if (this.#end + room > this.target.length) this.#growSlots(this.#end + room)
    for (let at = 0; at < count; at++) this.#move(from + at, this.#end + at)
    this.#left += this.#room[owner] as number
    this.#start[owner] = this.#end
    this.#room[owner] = room
    this.#end += room
  }

  /** Closes the gaps that owners left behind. */
  #compact(): void {
    const owners = [...this.#start.keys()].filter(owner => (this.#room[owner] as number) > 0)
    owners.sort((a, b) => (this.#start[a] as number) - (this.#start[b] as number))
    let end = 0
    for (const owner of owners) {
      const [from, count] = [this.#start[owner] as number, this.#count[owner] as number]
      for (let at = 0; at < count; at++) this.#move(from + at, end + at)
      this.#start[owner] = end
      this.#room[owner] = count
      end += count
    }
    this.#end = end
    this.#left = 0
  }

  #move(from: number, to: number): void {
    this.target[to] = this.target[from] as number
    this.level[to] = this.level[from] as number
    this.lastUsed[to] = this.lastUsed[from] as number
    this.domains[to] = this.domains[from] as number
    this.#flags[to] = this.#flags[from] as number
  }

  #growSlots(least: number): void {
    const length = Math.max(least, Math.ceil(this.target.length * 1.5))
    const grown = <A extends Int32Array | Float64Array | Uint8Array>(made: A, from: A): A => {
      made.set(from)
      return made
    }
    this.target = grown(new Int32Array(length), this.target)
    this.level = grown(new Float64Array(length), this.level)
    this.lastUsed = grown(new Float64Array(length), this.lastUsed)
    this.domains = grown(new Int32Array(length), this.domains)
    this.#flags = grown(new Uint8Array(length), this.#flags)
  }

  #growOwners(least: number): void {
    const length = Math.max(least, this.#start.length * 2)
    const grown = (from: Int32Array): Int32Array<ArrayBuffer> => {
      const made = new Int32Array(length)
      made.set(from)
      return made
    }
    this.#start = grown(this.#start)
    this.#count = grown(this.#count)
    this.#room = grown(this.#room)
  }

  /** Equal entries are kept once; those nobody has any more until the graph is read anew. */
  #entryNumber(domains: Readonly<Record<string, number>>): number {
    const pairs = Object.entries(domains).sort(([a], [b]) => (a < b ? -1 : 1))
    const text = pairs.length === 0 ? '{}' : JSON.stringify(pairs)
    const known = this.#entryNumbers.get(text)
    if (known !== undefined) return known
    const made = this.#entries.length
    this.#entries.push(new Map(pairs))
    this.#entryNumbers.set(text, made)
    return made
  }
}

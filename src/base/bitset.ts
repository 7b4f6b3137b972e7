/**
 * A set of small non-negative integers (keys of entries) as an array of bits: constant-time membership, 12.5 kB for keys up to 100,000. The
 * array grows when a larger integer is added; `has` is false for an integer beyond the present array.
 */
export class Bitset {
  #words: Uint32Array
  #size = 0
  #revision = 0

  constructor(capacity = 1024) {
    this.#words = new Uint32Array((capacity + 31) >>> 5)
  }

  static of(members: Iterable<number>): Bitset {
    const set = new Bitset()
    for (const member of members) set.add(member)
    return set
  }

  /** Number of members of the set. */
  get size(): number {
    return this.#size
  }

  /** Revision number of the set, which changes with every modification: a value computed from the set can be cached under this number. */
  get revision(): number {
    return this.#revision
  }

  get byteLength(): number {
    return this.#words.byteLength
  }

  has(member: number): boolean {
    return (((this.#words[member >>> 5] ?? 0) >>> (member & 31)) & 1) === 1
  }

  add(member: number): void {
    const word = member >>> 5
    if (word >= this.#words.length) this.#grow(word + 1)
    const before = this.#words[word] as number
    const after = before | (1 << (member & 31))
    if (after >>> 0 === before) return
    this.#words[word] = after
    this.#size++
    this.#revision++
  }

  delete(member: number): void {
    if (!this.has(member)) return
    this.#words[member >>> 5] = (this.#words[member >>> 5] as number) & ~(1 << (member & 31))
    this.#size--
    this.#revision++
  }

  /** Members of the set in ascending order. */
  *[Symbol.iterator](): Iterator<number> {
    for (let word = 0; word < this.#words.length; word++) {
      let bits = this.#words[word] as number
      while (bits !== 0) {
        const low = bits & -bits
        yield (word << 5) + (31 - Math.clz32(low))
        bits ^= low
      }
    }
  }

  /**
   * Writes the membership of the integers from 0 to 32 × `into.length` - 1 into a caller's array of 32-bit words as bits, lowest bit first,
   * for WebAssembly code that tests the bits itself.
   */
  copyTo(into: Uint32Array): void {
    into.set(this.#words.length > into.length ? this.#words.subarray(0, into.length) : this.#words)
    into.fill(0, Math.min(this.#words.length, into.length))
  }

  /** The intersection of this set and another, as a new set. */
  and(other: Bitset): Bitset {
    return this.#combine(other, (a, b) => a & b)
  }

  /** The union of this set and another, as a new set. */
  or(other: Bitset): Bitset {
    return this.#combine(other, (a, b) => a | b)
  }

  /** The members of this set that are not in the other set, as a new set. */
  without(other: Bitset): Bitset {
    return this.#combine(other, (a, b) => a & ~b)
  }

  #combine(other: Bitset, merge: (a: number, b: number) => number): Bitset {
    const length = Math.max(this.#words.length, other.#words.length)
    const result = new Bitset(length << 5)
    for (let word = 0; word < length; word++) {
      const bits = merge(this.#words[word] ?? 0, other.#words[word] ?? 0)
      result.#words[word] = bits
      result.#size += countBits(bits)
    }
    return result
  }

  #grow(words: number): void {
    const grown = new Uint32Array(Math.max(words, this.#words.length * 2))
    grown.set(this.#words)
    this.#words = grown
  }
}

/** Number of bits that are 1 in a 32-bit word. */
function countBits(word: number): number {
  let v = word - ((word >>> 1) & 0x55555555)
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333)
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

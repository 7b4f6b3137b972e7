/**
 * A set of small non-negative integers (entry keys) as bits: 12.5 kB for 100,000 members, constant-time membership. Grows on `add`; `has`
 * is false for a member beyond the present size.
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

  /** Changes with every modification of the set, so that a value computed from the set can be cached by this number. */
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

  /** Copies the membership of 0 to 32 × `into.length` - 1 as bits, lowest bit first, for kernels that test the bits themselves. */
  copyTo(into: Uint32Array): void {
    into.set(this.#words.length > into.length ? this.#words.subarray(0, into.length) : this.#words)
    into.fill(0, Math.min(this.#words.length, into.length))
  }

  /** A new set: the intersection of both sets. */
  and(other: Bitset): Bitset {
    return this.#combine(other, (a, b) => a & b)
  }

  /** A new set: the union of both sets. */
  or(other: Bitset): Bitset {
    return this.#combine(other, (a, b) => a | b)
  }

  /** A new set: the members of this set that the other set does not have. */
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

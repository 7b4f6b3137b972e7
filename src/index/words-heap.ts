/**
 * The k best entries of a stream of chunks, each with its best chunk. Higher score first, then the lower chunk key. Plain
 * arrays in place of `TopK`: chunks of an entry that is in already must find it there, and this is the hot path.
 */
import type { ChunkKey, EntryKey } from '../model/entry.ts'
import type { Hit } from './contract.ts'

export class EntryHeap {
  readonly #k: number
  readonly #scores: number[] = []
  readonly #entries: EntryKey[] = []
  readonly #chunks: ChunkKey[] = []
  /** By entry: place in the heap + 1. All zero before and after. */
  readonly #places: Int32Array

  constructor(k: number, places: Int32Array) {
    this.#k = k
    this.#places = places
  }

  /** A chunk with a lower score cannot get in; one with the same may. */
  get threshold(): number {
    return this.#scores.length < this.#k ? Number.NEGATIVE_INFINITY : (this.#scores[0] as number)
  }

  offer(entry: EntryKey, chunk: ChunkKey, score: number): void {
    const held = (this.#places[entry] as number) - 1
    if (held >= 0) {
      if (!this.#isWorse(held, score, chunk)) return
      this.#sink(held, entry, chunk, score)
    } else if (this.#scores.length < this.#k) {
      this.#rise(this.#scores.length, entry, chunk, score)
    } else if (this.#isWorse(0, score, chunk)) {
      this.#places[this.#entries[0] as number] = 0
      this.#sink(0, entry, chunk, score)
    }
  }

  /** Best first. Empties the heap. */
  drain(): Hit[] {
    const hits = this.#scores.map((score, at) => {
      const entry = this.#entries[at] as number
      this.#places[entry] = 0
      return { entry, chunk: this.#chunks[at] as number, score }
    })
    this.#scores.length = 0
    this.#entries.length = 0
    this.#chunks.length = 0
    return hits.sort((a, b) => b.score - a.score || a.chunk - b.chunk)
  }

  /** Whether what is at `place` comes after a chunk with this score. */
  #isWorse(place: number, score: number, chunk: ChunkKey): boolean {
    const held = this.#scores[place] as number
    return held < score || (held === score && (this.#chunks[place] as number) > chunk)
  }

  /** Puts an item where a better or free place was, towards the root, which is the worst. */
  #rise(from: number, entry: EntryKey, chunk: ChunkKey, score: number): void {
    let place = from
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (this.#isWorse(parent, score, chunk)) break
      this.#move(parent, place)
      place = parent
    }
    this.#set(place, entry, chunk, score)
  }

  /** Puts an item where a worse one was, away from the root. */
  #sink(from: number, entry: EntryKey, chunk: ChunkKey, score: number): void {
    const size = this.#scores.length
    let place = from
    for (;;) {
      let worst = 2 * place + 1
      if (worst >= size) break
      const right = worst + 1
      if (right < size && this.#isWorse(right, this.#scores[worst] as number, this.#chunks[worst] as number))
        worst = right
      if (!this.#isWorse(worst, score, chunk)) break
      this.#move(worst, place)
      place = worst
    }
    this.#set(place, entry, chunk, score)
  }

  #move(from: number, to: number): void {
    this.#set(to, this.#entries[from] as number, this.#chunks[from] as number, this.#scores[from] as number)
  }

  #set(place: number, entry: EntryKey, chunk: ChunkKey, score: number): void {
    this.#scores[place] = score
    this.#entries[place] = entry
    this.#chunks[place] = chunk
    this.#places[entry] = place + 1
  }
}

/**
 * The k best entries of a stream of chunks, each with its best chunk. Higher score first, then the lower chunk key. Chunks
 * of an entry must come one after the other. Three plain arrays in place of `TopK` and its objects: this is the hot path.
 */
import type { ChunkKey, EntryKey } from '../model/entry.ts'
import type { Hit } from './contract.ts'

export class EntryHeap {
  readonly #k: number
  /** A binary heap with the worst at its root. */
  readonly #scores: number[] = []
  readonly #entries: EntryKey[] = []
  readonly #chunks: ChunkKey[] = []
  /** The best chunk so far of the entry that is coming in. */
  #entry: EntryKey = -1
  #chunk: ChunkKey = -1
  #score = 0

  constructor(k: number) {
    this.#k = k
  }

  /** A chunk with a lower score cannot get in; one with the same may. */
  get threshold(): number {
    return this.#scores.length < this.#k ? Number.NEGATIVE_INFINITY : (this.#scores[0] as number)
  }

  offer(entry: EntryKey, chunk: ChunkKey, score: number): void {
    if (entry !== this.#entry) {
      this.#take()
      this.#entry = entry
    } else if (score < this.#score || (score === this.#score && chunk > this.#chunk)) {
      return
    }
    this.#chunk = chunk
    this.#score = score
  }

  /** Best first. Empties the heap. */
  drain(): Hit[] {
    this.#take()
    this.#entry = -1
    const hits: Hit[] = new Array(this.#scores.length)
    for (let rank = hits.length - 1; rank >= 0; rank--) {
      hits[rank] = {
        entry: this.#entries[0] as number,
        chunk: this.#chunks[0] as number,
        score: this.#scores[0] as number,
      }
      const [entry, chunk, score] = [this.#entries.pop(), this.#chunks.pop(), this.#scores.pop()]
      if (rank > 0) this.#sink(entry as number, chunk as number, score as number)
    }
    return hits
  }

  /** Puts the entry that came in where it belongs. */
  #take(): void {
    if (this.#entry < 0) return
    if (this.#scores.length < this.#k) this.#rise(this.#entry, this.#chunk, this.#score)
    else if (this.#isWorse(0, this.#score, this.#chunk)) this.#sink(this.#entry, this.#chunk, this.#score)
  }

  /** Whether what is at `place` comes after a chunk with this score. */
  #isWorse(place: number, score: number, chunk: ChunkKey): boolean {
    const held = this.#scores[place] as number
    return held < score || (held === score && (this.#chunks[place] as number) > chunk)
  }

  /** Adds an item at the end and moves it towards the root. */
  #rise(entry: EntryKey, chunk: ChunkKey, score: number): void {
    let place = this.#scores.length
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (this.#isWorse(parent, score, chunk)) break
      this.#copy(parent, place)
      place = parent
    }
    this.#set(place, entry, chunk, score)
  }

  /** Replaces the root and moves it towards the leaves. */
  #sink(entry: EntryKey, chunk: ChunkKey, score: number): void {
    const size = this.#scores.length
    let place = 0
    for (;;) {
      let worst = 2 * place + 1
      if (worst >= size) break
      const right = worst + 1
      if (right < size && this.#isWorse(right, this.#scores[worst] as number, this.#chunks[worst] as number))
        worst = right
      if (!this.#isWorse(worst, score, chunk)) break
      this.#copy(worst, place)
      place = worst
    }
    this.#set(place, entry, chunk, score)
  }

  #copy(from: number, to: number): void {
    this.#set(to, this.#entries[from] as number, this.#chunks[from] as number, this.#scores[from] as number)
  }

  #set(place: number, entry: EntryKey, chunk: ChunkKey, score: number): void {
    this.#scores[place] = score
    this.#entries[place] = entry
    this.#chunks[place] = chunk
  }
}

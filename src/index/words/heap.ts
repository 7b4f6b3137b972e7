/**
 * The k best entries of a stream of chunks, each with its best chunk. Higher score first, then the lower chunk key. Chunks
 * of an entry must come one after the other. Three typed arrays in place of `TopK` and its objects: this is the hot path.
 */
import type { ChunkKey, EntryKey } from '../../model/entry.ts'
import type { Hit } from '../contract.ts'

/** Room to begin with: few questions want more, and none should pay for what it may never fill. */
const ROOM = 256

export class EntryHeap {
  readonly #k: number
  /** A binary heap with the worst at its root. */
  #scores = new Float64Array(ROOM)
  #entries = new Uint32Array(ROOM)
  #chunks = new Uint32Array(ROOM)
  #size = 0
  /** The best chunk so far of the entry that is coming in. */
  #entry: EntryKey = -1
  #chunk: ChunkKey = -1
  #score = 0
  /** A chunk with a lower score cannot get in; one with the same may. */
  threshold: number = Number.NEGATIVE_INFINITY

  constructor(k: number) {
    this.#k = k
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
    const scores = this.#scores
    const entries = this.#entries
    const chunks = this.#chunks
    const hits = new Array<Hit>(this.#size)
    while (this.#size > 0) {
      this.#size--
      hits[this.#size] = { entry: entries[0] as number, chunk: chunks[0] as number, score: scores[0] as number }
      const last = this.#size
      if (last > 0) this.#sink(entries[last] as number, chunks[last] as number, scores[last] as number)
    }
    this.threshold = Number.NEGATIVE_INFINITY
    return hits
  }

  /** Puts the entry that came in where it belongs. */
  #take(): void {
    if (this.#entry < 0) return
    const score = this.#score
    if (this.#size < this.#k) {
      this.#rise(this.#entry, this.#chunk, score)
    } else if (score > this.threshold || (score === this.threshold && this.#chunk < (this.#chunks[0] as number))) {
      this.#sink(this.#entry, this.#chunk, score)
    }
    if (this.#size === this.#k) this.threshold = this.#scores[0] as number
  }

  /** Adds an item at the end and moves it towards the root. */
  #rise(entry: EntryKey, chunk: ChunkKey, score: number): void {
    if (this.#size === this.#scores.length) this.#grow()
    const scores = this.#scores
    const entries = this.#entries
    const chunks = this.#chunks
    let place = this.#size++
    while (place > 0) {
      const parent = (place - 1) >> 1
      const held = scores[parent] as number
      if (held < score || (held === score && (chunks[parent] as number) > chunk)) break
      scores[place] = held
      entries[place] = entries[parent] as number
      chunks[place] = chunks[parent] as number
      place = parent
    }
    scores[place] = score
    entries[place] = entry
    chunks[place] = chunk
  }

  /** Replaces the root and moves the new item towards the leaves. */
  #sink(entry: EntryKey, chunk: ChunkKey, score: number): void {
    const scores = this.#scores
    const entries = this.#entries
    const chunks = this.#chunks
    const size = this.#size
    let place = 0
    for (;;) {
      let worst = 2 * place + 1
      if (worst >= size) break
      let held = scores[worst] as number
      const other = scores[worst + 1] as number
      if (
        worst + 1 < size &&
        (other < held || (other === held && (chunks[worst + 1] as number) > (chunks[worst] as number)))
      ) {
        worst++
        held = other
      }
      if (held > score || (held === score && (chunks[worst] as number) < chunk)) break
      scores[place] = held
      entries[place] = entries[worst] as number
      chunks[place] = chunks[worst] as number
      place = worst
    }
    scores[place] = score
    entries[place] = entry
    chunks[place] = chunk
  }

  #grow(): void {
    const room = this.#scores.length * 2
    const scores = new Float64Array(room)
    const entries = new Uint32Array(room)
    const chunks = new Uint32Array(room)
    scores.set(this.#scores)
    entries.set(this.#entries)
    chunks.set(this.#chunks)
    this.#scores = scores
    this.#entries = entries
    this.#chunks = chunks
  }
}

/**
 * What was committed of entries, read once for all standing questions of an engine. Each question keeps its own place and
 * decides which of it exists for whoever asks.
 */
import { Recent } from '../../../base/recent.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { changesOrNull, reachesBack } from '../../../pipeline/feed.ts'
import type { Change, Store } from '../../../store/store.ts'

/** Of these a question can be asleep; who slept longer asks again. */
const KEPT = 4096
const PAGE = 1000
const VECTORS_KEPT = 256

export class BeliefNews {
  readonly #store: Store
  /** Ascending. */
  #changes: Change[] = []
  /** Changes after this place are kept; -1: nothing was read yet. */
  #from = -1
  #position = -1
  #version: number | null = null
  readonly #vectors = new Recent<EntryKey, { readonly vector: Float32Array | null }>(VECTORS_KEPT)

  constructor(store: Store) {
    this.#store = store
  }

  /** Place in the feed; call `refresh` before. */
  get position(): number {
    return this.#position
  }

  refresh(): void {
    const version = this.#store.version()
    if (version === this.#version) return
    this.#store.read(reader => {
      const last = reader.lastSeq()
      const isBroken = this.#position < 0 || !reachesBack(reader, this.#position)
      if (isBroken && last !== this.#position) {
        this.#changes = []
        this.#from = last
        this.#vectors.clear()
      } else {
        for (let at = this.#position; at < last; at = this.#changes.at(-1)?.seq ?? last) {
          const page = changesOrNull(reader, at, PAGE)
          if (page !== null) this.#changes.push(...page)
          else {
            // The feed is damaged there: what lies before its end is no longer known.
            this.#changes = []
            this.#from = last
            break
          }
        }
        this.#forgetVectors()
      }
      this.#position = last
    })
    this.#version = version
    if (this.#changes.length > 2 * KEPT) {
      this.#changes = this.#changes.slice(-KEPT)
      this.#from = (this.#changes[0]?.seq ?? 1) - 1
    }
  }

  /** After this place, ascending; null: it is no longer known. */
  since(position: number): readonly Change[] | null {
    if (position === this.#position) return NOTHING
    if (position < this.#from) return null
    let at = this.#changes.length
    while (at > 0 && (this.#changes[at - 1]?.seq ?? 0) > position) at--
    return this.#changes.slice(at)
  }

  /** By this model; null: it has none yet. As of the last `refresh`, or later. */
  vectorOf(entry: EntryKey, model: string): Float32Array | null {
    return this.#vectors.get(entry, () => {
      const chunk = this.#store.firstChunks([entry]).get(entry)
      const found = chunk === undefined ? [] : this.#store.vectorsOnly(model, [chunk])
      return { vector: found[0]?.vector ?? null }
    }).vector
  }

  #forgetVectors(): void {
    for (let at = this.#changes.length - 1; at >= 0; at--) {
      const change = this.#changes[at] as Change
      if (change.seq <= this.#position) break
      this.#vectors.forget(entry => entry === change.entry)
    }
  }
}

const NOTHING: readonly Change[] = []

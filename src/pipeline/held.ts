/**
 * Keeps values in memory under a text, such as the key for the place where a page ended, so that a requester who continues there can be
 * answered faster. A value may be dropped at any time, and the requester must then be answered without it.
 */
import type { Instant } from '../base/clock.ts'

export interface CachedBounds {
  /** Largest number of texts under which values are kept. */
  readonly most: number
  /** Largest total size of all kept values, in bytes, by the sizes that callers report. */
  readonly bytes: number
  readonly lifetimeMs: number
}

interface Kept<Value> {
  readonly viewer: string
  readonly share: Share
  readonly value: Value
  readonly body: object
  readonly until: Instant
}

/** The texts under which values are kept for one requester, and their total size. */
interface Share {
  /** The requester's texts in order of use, the least recently used first. */
  readonly texts: Set<string>
  bytes: number
}

interface Weight {
  readonly bytes: number
  readonly share: Share
  texts: number
}

/**
 * A cache that all requesters share. When it is full, the requester with the most values (or bytes) loses the least recently used one, so
 * that a requester with no more than an equal share loses nothing. Several values may refer to one large object (`body`), whose size then
 * counts once.
 */
export class Held<Value extends object> {
  readonly #bounds: CachedBounds
  readonly #whose: (viewer: string) => string
  readonly #kept = new Map<string, Kept<Value>>()
  readonly #shares = new Map<string, Share>()
  readonly #weights = new Map<object, Weight>()
  #bytes = 0

  /**
   * `whose`: maps a viewer to the requester whose share of the cache holds the viewer's values. Needed where several viewers count as one
   * requester; by default each viewer is one.
   */
  constructor(bounds: CachedBounds, whose: (viewer: string) => string = viewer => viewer) {
    this.#bounds = bounds
    this.#whose = whose
  }

  get size(): number {
    return this.#kept.size
  }

  get bytes(): number {
    return this.#bytes
  }

  /**
   * Keeps a value under a text for a viewer. `body`: the object that the value refers to, which several values may share. `bytes`: the size
   * of `body`, counted once; if it exceeds the size of the whole cache, nothing is kept.
   */
  hold(text: string, viewer: string, value: Value, bytes: number, now: Instant, body: object = value): void {
    this.release(text)
    if (bytes > this.#bounds.bytes) return
    const share = this.#shareOf(viewer)
    share.texts.add(text)
    this.#kept.set(text, { viewer, share, value, body, until: now + this.#bounds.lifetimeMs })
    this.#weigh(body, bytes, share)
    while (this.#kept.size > this.#bounds.most) this.#dropOne(({ texts }) => texts.size)
    while (this.#bytes > this.#bounds.bytes) this.#dropOne(one => one.bytes)
  }

  /** The value kept under the text for this viewer; null: there is none, or it has expired or was dropped. */
  find(text: string, viewer: string, now: Instant): Value | null {
    const kept = this.#kept.get(text)
    if (kept === undefined || kept.viewer !== viewer) return null
    if (now >= kept.until) {
      this.release(text)
      return null
    }
    kept.share.texts.delete(text)
    kept.share.texts.add(text)
    return kept.value
  }

  release(text: string): void {
    const kept = this.#kept.get(text)
    if (kept === undefined) return
    this.#kept.delete(text)
    kept.share.texts.delete(text)
    this.#lighten(kept.body)
    if (kept.share.texts.size === 0) this.#shares.delete(this.#whose(kept.viewer))
  }

  /** All values in the cache, of all requesters, in no particular order. */
  *values(): Generator<Value> {
    for (const { value } of this.#kept.values()) yield value
  }

  clear(): void {
    this.#kept.clear()
    this.#shares.clear()
    this.#weights.clear()
    this.#bytes = 0
  }

  #shareOf(viewer: string): Share {
    const whose = this.#whose(viewer)
    const known = this.#shares.get(whose)
    if (known !== undefined) return known
    const made: Share = { texts: new Set(), bytes: 0 }
    this.#shares.set(whose, made)
    return made
  }

  /**
   * Drops one cached value: the least recently used one of the requester who uses most of the cache. `measure`: how much a requester uses,
   * in values or in bytes.
   */
  #dropOne(measure: (share: Share) => number): void {
    let most: Share | null = null
    for (const share of this.#shares.values()) if (most === null || measure(share) > measure(most)) most = share
    const oldest = most?.texts.values().next()
    if (oldest === undefined || oldest.done === true) throw new Error('invariant broken: too much is held, by nobody')
    this.release(oldest.value)
  }

  #weigh(body: object, bytes: number, share: Share): void {
    const known = this.#weights.get(body)
    if (known !== undefined) {
      known.texts++
      return
    }
    this.#weights.set(body, { bytes, share, texts: 1 })
    share.bytes += bytes
    this.#bytes += bytes
  }

  #lighten(body: object): void {
    const weight = this.#weights.get(body)
    if (weight === undefined || --weight.texts > 0) return
    this.#weights.delete(body)
    weight.share.bytes -= weight.bytes
    this.#bytes -= weight.bytes
  }
}

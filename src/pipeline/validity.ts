/**
 * Which entries do not hold at a given moment. Every question leaves them out, and most entries hold for ever, so the few
 * that do not are followed here along the feed instead of being asked of the store each time.
 */
import { Bitset } from '../base/bitset.ts'
import type { Instant } from '../base/clock.ts'
import type { EntryKey, EntryValidity } from '../model/entry.ts'
import type { StoreReader } from '../store/store.ts'
import { entriesChangedAfter } from './feed.ts'

/** Changes followed one by one; beyond that everything is read again. */
const MOST_CHANGES = 10_000

export class ValidityWatch {
  readonly #bounded = new Map<EntryKey, EntryValidity>()
  #seq = -1
  #answer: Answer | null = null

  /** Not to be changed. Costs a comparison while `at` crosses no bound and nothing is written. */
  invalid(reader: StoreReader, at: Instant): Bitset {
    this.#follow(reader)
    if (this.#answer === null || at < this.#answer.from || at >= this.#answer.until) this.#answer = this.#look(at)
    return this.#answer.invalid
  }

  /** The first bound after `at` of an entry of which this is true; infinite when there is none. */
  nextBound(reader: StoreReader, at: Instant, isMeant: (entry: EntryKey) => boolean): Instant {
    this.#follow(reader)
    let next = Number.POSITIVE_INFINITY
    for (const { key, from, until } of this.#bounded.values()) {
      for (const bound of [from, until]) {
        if (bound !== null && bound > at && bound < next && isMeant(key)) next = bound
      }
    }
    return next
  }

  #follow(reader: StoreReader): void {
    const seq = reader.lastSeq()
    if (seq === this.#seq) return
    const news = this.#seq < 0 ? null : entriesChangedAfter(reader, this.#seq, MOST_CHANGES)
    const keys = news === null ? null : [...news.entries]
    if (keys === null) this.#bounded.clear()
    else for (const key of keys) this.#bounded.delete(key)
    for (const validity of reader.validities(keys)) this.#bounded.set(validity.key, validity)
    this.#seq = seq
    this.#answer = null
  }

  /** The answer for `at`, and how long before and after it is the same. */
  #look(at: Instant): Answer {
    const invalid = new Bitset()
    let [from, until] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
    for (const validity of this.#bounded.values()) {
      if (!holds(validity, at)) invalid.add(validity.key)
      for (const bound of [validity.from, validity.until]) {
        if (bound === null) continue
        if (bound <= at) from = Math.max(from, bound)
        else until = Math.min(until, bound)
      }
    }
    return { invalid, from, until }
  }
}

interface Answer {
  readonly invalid: Bitset
  /** The answer holds from here (included) … */
  readonly from: Instant
  /** … to here (excluded). */
  readonly until: Instant
}

function holds({ from, until }: EntryValidity, at: Instant): boolean {
  return (from === null || from <= at) && (until === null || until > at)
}

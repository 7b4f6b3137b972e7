/**
 * Which entries do not hold at a given moment. Every question leaves them out, and most entries hold for ever, so the few
 * that do not are followed here along the feed instead of being asked of the store each time.
 */
import { Bitset } from '../base/bitset.ts'
import type { Instant } from '../base/clock.ts'
import type { Steps } from '../base/turns.ts'
import type { EntryKey, EntryValidity } from '../model/entry.ts'
import type { StoreReader } from '../store/store.ts'
import { changesOrNull, reachesBack } from './feed.ts'

/** Changes followed one by one; beyond that everything is read again. */
const MOST_CHANGES = 10_000
/** Changes, or entries, taken in one step: some milliseconds of work. */
const PAGE = 500

export class ValidityWatch {
  readonly #bounded = new Map<EntryKey, EntryValidity>()
  /** Position in the change feed; -1: not all was read yet. */
  #seq = -1
  /** The last key that was read, and the position in the feed to follow from once all are; null: none is under way. */
  #loading: { readonly after: EntryKey; readonly seq: number } | null = null
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

  /**
   * Reads what `invalid` and `nextBound` would read first, a step for each page. Several may be at work: each takes the next page.
   * Who asks meanwhile reads the rest in one piece.
   */
  *followInSteps(reader: StoreReader): Steps<void> {
    while (this.#advance(reader)) yield
  }

  #follow(reader: StoreReader): void {
    while (this.#advance(reader));
  }

  /** Takes in one page of what is missing. False: nothing is missing. */
  #advance(reader: StoreReader): boolean {
    if (this.#seq < 0) {
      this.#loadPage(reader)
      return true
    }
    if (reader.lastSeq() === this.#seq) return false
    const changes = reachesBack(reader, this.#seq, MOST_CHANGES) ? changesOrNull(reader, this.#seq, PAGE) : null
    if (changes === null) {
      this.#seq = -1
      return true
    }
    const keys = [...new Set(changes.flatMap(({ entry, kind }) => (kind === 'vectors' ? [] : [entry])))]
    for (const key of keys) this.#bounded.delete(key)
    this.#put(reader, keys)
    this.#seq = changes.at(-1)?.seq ?? this.#seq
    return changes.length === PAGE
  }

  /** The last page sets the position: that of the feed when the first was read. */
  #loadPage(reader: StoreReader): void {
    if (this.#loading === null) this.#bounded.clear()
    const { after, seq } = this.#loading ?? { after: 0, seq: reader.lastSeq() }
    const keys = reader.scanBounded(after, PAGE)
    this.#put(reader, keys)
    this.#loading = { after: keys.at(-1) ?? after, seq }
    if (keys.length === PAGE) return
    this.#loading = null
    this.#seq = seq
  }

  #put(reader: StoreReader, keys: readonly EntryKey[]): void {
    for (const validity of reader.validities(keys)) this.#bounded.set(validity.key, validity)
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

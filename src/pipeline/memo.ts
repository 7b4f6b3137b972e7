/**
 * What one engine remembers between questions: sets of entries that fulfil a filter, and which entries do not hold at a
 * moment. Both follow the feed: after a write only what it changed is looked at. Remembering never changes an answer.
 */
import { Bitset } from '../base/bitset.ts'
import { canonicalJson, type Json } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import { Recent } from '../base/recent.ts'
import type { Steps } from '../base/turns.ts'
import type { Entry, EntryIdentity, EntryKey, EntryValidity } from '../model/entry.ts'
import { ENTRY_FIELDS, type FieldName, type Filter, matches } from '../model/filter.ts'
import type { AccessScope } from '../model/viewer.ts'
import type { StoreReader } from '../store/store.ts'
import { SAMPLE, shownLanguage } from '../text/language.ts'
import type { Language } from '../text/stopwords.ts'
import { entriesChangedAfter, FeedFollower, RecentOfEntries } from './columns.ts'

const MAX_SETS = 4_096
/** A set takes 12.5 kB for 100,000 entries. */
const MAX_SET_BYTES = 32 * 2 ** 20
/** A hundred bytes each. */
const LANGUAGES = 10_000
/** Two hundred bytes each. */
const IDENTITIES = 20_000
/** Changes that a set is brought forward by; each costs reading an entry, and beyond that all are asked for again. */
const MAX_CHANGES = 250

/** Fulfilled by every entry. */
const EVERYTHING: Filter = { op: 'and', of: [] }

/** Entries that fulfilled a filter when the feed ended there. */
interface Followed {
  readonly set: Bitset
  readonly seq: number
}

export class Memo {
  readonly #sets = new Recent<string, Followed>(MAX_SETS, { max: MAX_SET_BYTES, of: ({ set }) => set.byteLength })
  readonly #languages = new Recent<string, { title: string; language: Language }>(LANGUAGES)
  readonly #identities = new RecentOfEntries<EntryIdentity>(
    IDENTITIES,
    (reader, keys) => reader.identities(keys),
    ({ key }) => key,
  )
  readonly #shownLanguages = new RecentOfEntries<{ readonly key: EntryKey; readonly of: string | null }>(
    IDENTITIES,
    (reader, keys) => reader.entries(keys).map(entry => ({ key: entry.key, of: shownLanguageOf(entry) })),
    ({ key }) => key,
  )
  readonly #validity = new ValidityWatch()
  /** `changed`: null where it is not known. */
  #news: {
    readonly after: number
    readonly upTo: number
    readonly changed: readonly EntryKey[] | null
    readonly entries: readonly Entry[]
  } | null = null

  /** Visible entries that fulfil the filter. Not to be changed. */
  matching(reader: StoreReader, accessScope: AccessScope, filter: Filter): Bitset {
    if (!isTracked(filter)) return reader.matching(accessScope, filter)
    const seq = reader.lastSeq()
    const key = `${accessScope.partitions.join()} ${canonicalJson(filter as unknown as Json)}`
    const known = this.#sets.find(key)
    if (known?.seq === seq) return known.set
    const news = known && this.#newsOf(reader, known.seq, seq)
    const set =
      (known && news && followed(known.set, news, accessScope, filter)) ?? reader.matching(accessScope, filter)
    this.#sets.set(key, { set, seq })
    return set
  }

  /** What changed in between, read once for all sets that were made at the same place of the feed; null: too much, or the feed cannot say. */
  #newsOf(reader: StoreReader, after: number, upTo: number): News | null {
    if (this.#news?.after !== after || this.#news.upTo !== upTo) {
      const found = entriesChangedAfter(reader, after, MAX_CHANGES)
      const changed = found && [...found.entries]
      this.#news = { after, upTo, changed, entries: changed === null ? [] : reader.entries(changed) }
    }
    const { changed, entries } = this.#news
    return changed && { changed, entries }
  }

  /** All visible entries. Not to be changed. */
  visible(reader: StoreReader, accessScope: AccessScope): Bitset {
    return this.matching(reader, accessScope, EVERYTHING)
  }

  /** As they are stored now, of those that are there, in the order of the keys. */
  identities(reader: StoreReader, keys: readonly EntryKey[]): readonly EntryIdentity[] {
    return this.#identities.get(reader, keys)
  }

  /** The language of an entry, which is a function of its title and content. */
  language(entry: Pick<Entry, 'contentHash' | 'title'>, make: () => Language): Language {
    const { contentHash, title } = entry
    const known = this.#languages.get(contentHash, () => ({ title, language: make() }))
    return known.title === title ? known.language : make()
  }

  /** The languages that these entries show, of those that are there. */
  shownLanguages(
    reader: StoreReader,
    keys: readonly EntryKey[],
  ): readonly { readonly key: EntryKey; readonly of: string | null }[] {
    return this.#shownLanguages.get(reader, keys)
  }

  /** Entries, visible or not, that do not hold at this moment. Not to be changed. */
  invalid(reader: StoreReader, at: Instant): Bitset {
    return this.#validity.invalid(reader, at)
  }

  /** Reads in steps what `invalid` reads first: for all entries, when it is the first of a process. */
  followInSteps(reader: StoreReader): Steps<void> {
    return this.#validity.followInSteps(reader)
  }

  /** When a visible entry next begins or ceases to hold, after this moment; infinite: never. */
  nextBound(reader: StoreReader, accessScope: AccessScope, at: Instant): Instant {
    const partitions = new Set(accessScope.partitions)
    const isVisible = (key: EntryKey) => partitions.has(reader.entry(key)?.partition ?? -1)
    return this.#validity.nextBound(reader, at, isVisible)
  }
}

function shownLanguageOf({ title, content }: Entry): string | null {
  return shownLanguage(`${title}\n${content.slice(0, SAMPLE)}`)
}

/** Entries that changed, and those of them that are still there. */
interface News {
  readonly changed: readonly EntryKey[]
  readonly entries: readonly Entry[]
}

/** The set as it is now, another one where it changed. */
function followed(set: Bitset, { changed, entries }: News, accessScope: AccessScope, filter: Filter): Bitset {
  const visible = new Set(accessScope.partitions)
  const fulfils = entries
    .filter(entry => visible.has(entry.partition) && matches(filter, { entry, access: null, aspect: () => null }))
    .map(({ key }) => key)
  const isSame = changed.every(key => set.has(key) === fulfils.includes(key))
  if (isSame) return set
  const next = set.or(new Bitset())
  for (const key of changed) next.delete(key)
  for (const key of fulfils) next.add(key)
  return next
}

/** Whether the feed tells of every change that could change what fulfils the filter: changes of access and of aspects may be missing in it. */
export function isTracked(filter: Filter): boolean {
  switch (filter.op) {
    case 'and':
    case 'or':
      return filter.of.every(isTracked)
    case 'not':
      return isTracked(filter.of)
    default:
      return isTrackedField(filter.field)
  }
}

function isTrackedField(field: FieldName): boolean {
  return field !== 'accessed' && (ENTRY_FIELDS.includes(field) || field.startsWith('metadata.'))
}

/**
 * Which entries do not hold at a given moment. Every question leaves them out, and most entries hold for ever, so the few
 * that do not are followed here along the feed instead of being asked of the store each time.
 */

/** Changes followed one by one; beyond that everything is read again. */
const MAX_FOLLOWED = 10_000
/** Entries read in one step: some milliseconds of work. */
const PAGE = 500

export class ValidityWatch {
  readonly #bounded = new Map<EntryKey, EntryValidity>()
  readonly #feed = new FeedFollower(
    {
      clear: () => this.#bounded.clear(),
      pages: reader => this.#pages(reader),
      take: (reader, changed) => {
        for (const key of changed.keys()) this.#bounded.delete(key)
        this.#put(reader, [...changed.keys()])
      },
      most: () => MAX_FOLLOWED,
    },
    'thrown',
  )
  #answer: Answer | null = null

  /** Not to be changed. Costs a comparison while `at` crosses no bound and nothing is written. */
  invalid(reader: StoreReader, at: Instant): Bitset {
    this.#feed.follow(reader)
    if (this.#answer === null || at < this.#answer.from || at >= this.#answer.until) this.#answer = this.#look(at)
    return this.#answer.invalid
  }

  /** The first bound after `at` of an entry of which this is true; infinite when there is none. */
  nextBound(reader: StoreReader, at: Instant, isMeant: (entry: EntryKey) => boolean): Instant {
    this.#feed.follow(reader)
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
   * A query that comes meanwhile reads the rest in one piece.
   */
  *followInSteps(reader: StoreReader): Steps<void> {
    while (this.#feed.advance(reader)) yield
  }

  *#pages(first: StoreReader): Generator<undefined, void, StoreReader> {
    for (let [after, reader] = [0, first]; ; reader = yield) {
      const keys = reader.scanBounded(after, PAGE)
      this.#put(reader, keys)
      if (keys.length < PAGE) return
      after = keys.at(-1) ?? after
    }
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

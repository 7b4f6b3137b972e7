/**
 * Caches of one engine that are shared by its queries: the sets of entries that meet a filter, and the entries that are outside their
 * period of validity at a time. Both follow the store's change feed, so after a write only the changed entries are examined. Caching never
 * changes an answer.
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
/** Memory limit in bytes (32 MiB) of all cached sets of entries; one set takes 12.5 kB per 100,000 entries. */
const MAX_SET_BYTES = 32 * 2 ** 20
/** Largest number of entries whose recognised language is cached, about 100 bytes each. */
const LANGUAGES = 10_000
/** Largest number of entries whose identity fields are cached, about 200 bytes each. */
const IDENTITIES = 20_000
/**
 * Largest number of changed entries for which a cached set is updated by reading each of them; after more changes, the whole set is read
 * from the store again.
 */
const MAX_CHANGES = 250

/** A filter that every entry meets. */
const EVERYTHING: Filter = { op: 'and', of: [] }

/**
 * The set of entries that met a filter. `seq`: number of the last change in the store's change feed that is already reflected in the set.
 */
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
  /** Entries changed after one position of the change feed, up to another. `changed` null: it is unknown which entries changed. */
  #news: {
    readonly after: number
    readonly upTo: number
    readonly changed: readonly EntryKey[] | null
    readonly entries: readonly Entry[]
  } | null = null

  /**
   * The visible entries that meet a filter, from the cache where possible. The returned set is shared, so the caller must not change it.
   */
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

  /**
   * The entries changed between two positions of the change feed, read once for all cached sets at the same position. Null: there are too
   * many changes, or the feed no longer contains the older ones.
   */
  #newsOf(reader: StoreReader, after: number, upTo: number): News | null {
    if (this.#news?.after !== after || this.#news.upTo !== upTo) {
      const found = entriesChangedAfter(reader, after, MAX_CHANGES)
      const changed = found && [...found.entries]
      this.#news = { after, upTo, changed, entries: changed === null ? [] : reader.entries(changed) }
    }
    const { changed, entries } = this.#news
    return changed && { changed, entries }
  }

  /** All entries that the viewer may see. The returned set is shared, so the caller must not change it. */
  visible(reader: StoreReader, accessScope: AccessScope): Bitset {
    return this.matching(reader, accessScope, EVERYTHING)
  }

  /** Current identity fields (such as holder, id and partition) of those entries that exist, in the order of the given keys. */
  identities(reader: StoreReader, keys: readonly EntryKey[]): readonly EntryIdentity[] {
    return this.#identities.get(reader, keys)
  }

  /** Language of an entry, cached by its content and title, on which alone the language depends. */
  language(entry: Pick<Entry, 'contentHash' | 'title'>, make: () => Language): Language {
    const { contentHash, title } = entry
    const known = this.#languages.get(contentHash, () => ({ title, language: make() }))
    return known.title === title ? known.language : make()
  }

  /** For those of the given entries that exist, the language recognised in each; null: not recognisable. */
  shownLanguages(
    reader: StoreReader,
    keys: readonly EntryKey[],
  ): readonly { readonly key: EntryKey; readonly of: string | null }[] {
    return this.#shownLanguages.get(reader, keys)
  }

  /**
   * Entries, visible or not, that are outside their period of validity at this time. The returned set is shared, so the caller must not
   * change it.
   */
  invalid(reader: StoreReader, at: Instant): Bitset {
    return this.#validity.invalid(reader, at)
  }

  /**
   * Reads the validity periods that `invalid` would otherwise read in one piece for the first query of a process. A generator that pauses
   * between pages, so that other work can run.
   */
  followInSteps(reader: StoreReader): Steps<void> {
    return this.#validity.followInSteps(reader)
  }

  /** The first time after `at` at which a visible entry becomes valid or stops being valid; infinite when there is none. */
  nextBound(reader: StoreReader, accessScope: AccessScope, at: Instant): Instant {
    const partitions = new Set(accessScope.partitions)
    const isVisible = (key: EntryKey) => partitions.has(reader.entry(key)?.partition ?? -1)
    return this.#validity.nextBound(reader, at, isVisible)
  }
}

function shownLanguageOf({ title, content }: Entry): string | null {
  return shownLanguage(`${title}\n${content.slice(0, SAMPLE)}`)
}

/**
 * Entries that changed since a set of entries was cached. `changed`: their keys; `entries`: the current contents of those that still exist.
 */
interface News {
  readonly changed: readonly EntryKey[]
  readonly entries: readonly Entry[]
}

/**
 * A cached set with the changed entries added or removed according to the filter; the old set is returned unchanged where nothing differs.
 */
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

/**
 * Whether the change feed reports every change that can affect a filter, so that a cached set for it can be kept current. False for filters
 * on access state and on columns of lens tables (aspects), whose changes may be missing in the feed.
 */
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
 * Keeps track of which entries are outside their period of validity at a given time, since every query leaves these out. Most entries are
 * valid forever; the few others are kept in memory and updated from the change feed, instead of being read from the store for each query.
 */

/** Largest number of changes after which changed entries are read one by one; after more, the validity of all entries is read again. */
const MAX_FOLLOWED = 10_000
/** Number of entries whose validity is read before the work pauses so that other requests can run: some milliseconds. */
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

  /**
   * Entries that are outside their period of validity at `at`. The returned set is shared, so the caller must not change it. Costs one
   * comparison as long as nothing is written and no validity period begins or ends between two calls.
   */
  invalid(reader: StoreReader, at: Instant): Bitset {
    this.#feed.follow(reader)
    if (this.#answer === null || at < this.#answer.from || at >= this.#answer.until) this.#answer = this.#look(at)
    return this.#answer.invalid
  }

  /**
   * The first time after `at` at which an entry becomes valid or stops being valid; infinite when there is none. `isMeant`: tells which
   * entries to consider.
   */
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
   * Reads the validity periods that `invalid` and `nextBound` need. A generator that pauses after each page, so that other work can run;
   * several callers may run it at once, and each takes the next page. A query that arrives in a pause reads the remaining pages without
   * pausing.
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

  /** The entries that are not valid at `at`, and the period around `at` in which this set stays the same. */
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
  /** The set of entries that are not valid during a period. `from`: start of the period during which the set stays the same (included). */
  readonly from: Instant
  /** End of the period during which this set of invalid entries stays the same (excluded). */
  readonly until: Instant
}

function holds({ from, until }: EntryValidity, at: Instant): boolean {
  return (from === null || from <= at) && (until === null || until > at)
}

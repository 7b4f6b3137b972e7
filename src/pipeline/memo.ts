/**
 * What one engine remembers between questions: sets of entries that fulfil a filter, and which entries do not hold at a
 * moment. Both follow the feed: after a write only what it changed is looked at. Remembering never changes an answer.
 */
import { Bitset } from '../base/bitset.ts'
import { canonicalJson, type Json } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import { Recent } from '../base/recent.ts'
import type { Steps } from '../base/turns.ts'
import type { Entry, EntryKey } from '../model/entry.ts'
import { ENTRY_FIELDS, type FieldName, type Filter, matches } from '../model/filter.ts'
import type { Sight } from '../model/viewer.ts'
import type { StoreReader } from '../store/store.ts'
import type { Language } from '../text/stopwords.ts'
import { entriesChangedAfter } from './feed.ts'
import { ValidityWatch } from './validity.ts'

/** A set takes 12.5 kB for 100,000 entries. */
const SETS = 200
/** A hundred bytes each. */
const LANGUAGES = 10_000
/** Changes that a set is brought forward by; each costs reading an entry, and beyond that all are asked for again. */
const MOST_CHANGES = 250

/** Fulfilled by every entry. */
const EVERYTHING: Filter = { op: 'and', of: [] }

/** Entries that fulfilled a filter when the feed ended there. */
interface Followed {
  readonly set: Bitset
  readonly seq: number
}

export class Memo {
  readonly #sets = new Recent<string, Followed>(SETS)
  readonly #languages = new Recent<string, { title: string; language: Language }>(LANGUAGES)
  readonly #validity = new ValidityWatch()

  /** Visible entries that fulfil the filter. Not to be changed. */
  matching(reader: StoreReader, sight: Sight, filter: Filter): Bitset {
    if (!isTracked(filter)) return reader.matching(sight, filter)
    const seq = reader.lastSeq()
    const key = `${sight.partitions.join()} ${canonicalJson(filter as unknown as Json)}`
    const known = this.#sets.find(key)
    if (known?.seq === seq) return known.set
    const set = (known && followed(known, reader, sight, filter)) ?? reader.matching(sight, filter)
    this.#sets.set(key, { set, seq })
    return set
  }

  /** All visible entries. Not to be changed. */
  visible(reader: StoreReader, sight: Sight): Bitset {
    return this.matching(reader, sight, EVERYTHING)
  }

  /** The language of an entry, which is a function of its title and content. */
  language(entry: Pick<Entry, 'contentHash' | 'title'>, make: () => Language): Language {
    const { contentHash, title } = entry
    const known = this.#languages.get(contentHash, () => ({ title, language: make() }))
    return known.title === title ? known.language : make()
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
  nextBound(reader: StoreReader, sight: Sight, at: Instant): Instant {
    const partitions = new Set(sight.partitions)
    const isVisible = (key: EntryKey) => partitions.has(reader.entry(key)?.partition ?? -1)
    return this.#validity.nextBound(reader, at, isVisible)
  }
}

/** The set as it is now, another one where it changed; null: too much did, or the feed cannot say. */
function followed({ set, seq }: Followed, reader: StoreReader, sight: Sight, filter: Filter): Bitset | null {
  const news = entriesChangedAfter(reader, seq, MOST_CHANGES)
  if (news === null) return null
  const changed = [...news.entries]
  if (changed.length === 0) return set
  const visible = new Set(sight.partitions)
  const next = set.or(new Bitset())
  for (const key of changed) next.delete(key)
  for (const entry of reader.entries(changed)) {
    const subject = { entry, access: null, aspect: () => null }
    if (visible.has(entry.partition) && matches(filter, subject)) next.add(entry.key)
  }
  return next
}

/** Whether the feed tells of every change that could change what fulfils the filter: access and aspects need not be told. */
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

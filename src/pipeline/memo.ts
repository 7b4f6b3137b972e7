/**
 * What one engine remembers between questions: sets of entries that fulfil a filter, and which entries do not hold at a
 * moment. Kept by feed position, so that a change of any entry makes them anew; remembering never changes an answer.
 */
import type { Bitset } from '../base/bitset.ts'
import { canonicalJson, type Json } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import { Recent } from '../base/recent.ts'
import type { Entry, EntryKey } from '../model/entry.ts'
import { ENTRY_FIELDS, type FieldName, type Filter } from '../model/filter.ts'
import type { Sight } from '../model/viewer.ts'
import type { StoreReader } from '../store/store.ts'
import type { Language } from '../text/stopwords.ts'
import { ValidityWatch } from './validity.ts'

/** A set takes 12.5 kB for 100,000 entries. */
const SETS = 200
/** A hundred bytes each. */
const LANGUAGES = 10_000

/** Fulfilled by every entry. */
const EVERYTHING: Filter = { op: 'and', of: [] }

export class Memo {
  readonly #sets = new Recent<string, Bitset>(SETS)
  readonly #languages = new Recent<string, { title: string; language: Language }>(LANGUAGES)
  readonly #validity = new ValidityWatch()
  #seq = -1

  /** Visible entries that fulfil the filter. Not to be changed. */
  matching(reader: StoreReader, sight: Sight, filter: Filter): Bitset {
    if (!isTracked(filter)) return reader.matching(sight, filter)
    this.#follow(reader)
    const key = `${sight.partitions.join()} ${canonicalJson(filter as unknown as Json)}`
    return this.#sets.get(key, () => reader.matching(sight, filter))
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

  /** When a visible entry next begins or ceases to hold, after this moment; infinite: never. */
  nextBound(reader: StoreReader, sight: Sight, at: Instant): Instant {
    const partitions = new Set(sight.partitions)
    const isVisible = (key: EntryKey) => partitions.has(reader.entry(key)?.partition ?? -1)
    return this.#validity.nextBound(reader, at, isVisible)
  }

  #follow(reader: StoreReader): void {
    const seq = reader.lastSeq()
    if (seq !== this.#seq) this.#sets.clear()
    this.#seq = seq
  }
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

/** What the change feed tells of entries that came, changed or went. */
import type { EntryKey } from '../../../model/entry.ts'
import type { StoreReader } from '../../../store/store.ts'

const PAGE = 1000

export interface News {
  readonly entries: ReadonlySet<EntryKey>
  /** The place behind them. */
  readonly position: number
}

/** What changed after this place; new vectors change no belief. Null: the feed no longer reaches back so far. */
export function changesAfter(reader: StoreReader, position: number): News | null {
  const last = reader.lastSeq()
  if (position > last || reader.firstSeq() > position + 1) return null
  const entries = new Set<EntryKey>()
  for (let at = position; at < last; ) {
    for (const { seq, entry, kind } of reader.changesSince(at, PAGE)) {
      if (kind !== 'vectors') entries.add(entry)
      at = seq
    }
  }
  return { entries, position: last }
}

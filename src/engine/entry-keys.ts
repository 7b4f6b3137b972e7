/** The keys of all entries, ascending, a page at a time. */
import type { EntryKey } from '../model/entry.ts'
import type { StoreReader } from '../store/store.ts'

export function* entryKeys(reader: StoreReader, page: number): Generator<readonly EntryKey[]> {
  for (let after: EntryKey | undefined = 0; after !== undefined; ) {
    const keys: readonly EntryKey[] = reader.scanEntries(after, page)
    if (keys.length > 0) yield keys
    after = keys.at(-1)
  }
}

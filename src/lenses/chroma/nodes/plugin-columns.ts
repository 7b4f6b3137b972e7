/** What the lens needs of the columns that plug-ins add (CQ-131, CQ-132). */
import type { JsonObject } from '../../../base/canonical.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'

export interface PluginColumns {
  /** Every installed column of an entry, null where unset. */
  read(reader: StoreReader, entry: EntryKey): JsonObject
  /** Throws ValidationError for unknown columns and wrong types, PluginError for core fields. */
  check(fields: unknown): JsonObject
  /** These columns, checked; the others stay. */
  write(writer: StoreWriter, entry: EntryKey, fields: JsonObject): void
}

/** Without plug-ins. */
export const NO_COLUMNS: PluginColumns = {
  read: () => ({}),
  check: () => ({}),
  write: () => {},
}

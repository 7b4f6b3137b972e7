/** Rows of the concepts of one file. */
import type { EntryKey } from '../../../model/entry.ts'
import type { Row } from '../../../model/table.ts'
import type { StoreReader } from '../../../store/store.ts'
import type { ConceptAt } from '../mind/rows.ts'
import { CONCEPTS } from '../tables.ts'

export interface FileRows {
  /** Those of the indexer. */
  readonly own: readonly Row[]
  /** Those that only a patch knows of. */
  readonly patched: readonly Row[]
}

export function rowsOf(reader: StoreReader, url: string): FileRows {
  const rows = reader.table(CONCEPTS).scan({ url })
  return {
    own: rows.filter(row => row['symbol'] !== null),
    patched: rows.filter(row => row['symbol'] === null),
  }
}

/** Symbol -> where the concept is; of those that were read out of the file. */
export function conceptsOf(reader: StoreReader, url: string): ReadonlyMap<string, ConceptAt> {
  return new Map(rowsOf(reader, url).own.map(row => [row['symbol'] as string, atOf(row)]))
}

export function entryOf(row: Row): EntryKey {
  return row['entry'] as EntryKey
}

export function atOf(row: Row): ConceptAt {
  return { id: row['id'] as number, entry: entryOf(row) }
}

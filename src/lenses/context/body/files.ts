/** The registered files in memory: which entry holds the text of which URL. */
import type { EntryKey } from '../../../model/entry.ts'
import type { PartitionId } from '../../../model/partition.ts'
import type { Row } from '../../../model/table.ts'
import { TableRows } from '../../../pipeline/columns.ts'
import type { Store } from '../../../store/store.ts'
import { FILES } from '../tables.ts'

const COLUMNS = ['entry', 'url', 'hash', 'size', 'mtime', 'indexed_hash']

export interface RegisteredFile {
  readonly entry: EntryKey
  readonly partition: PartitionId
  readonly url: string
  readonly hash: string
  readonly size: number
  readonly mtime: number
  /** Null: its text is not kept. */
  readonly indexedHash: string | null
}

/** What one viewer sees. Of several entries of one URL the oldest counts. */
export interface VisibleFiles {
  readonly all: readonly RegisteredFile[]
  byUrl(url: string): RegisteredFile | undefined
  byEntry(entry: EntryKey): RegisteredFile | undefined
}

export class Files {
  readonly #rows: TableRows<RegisteredFile>
  readonly #views = new WeakMap<readonly RegisteredFile[], VisibleFiles>()

  constructor(store: Store) {
    this.#rows = new TableRows(store, FILES, COLUMNS, registered)
  }

  visible(partitions: readonly PartitionId[]): VisibleFiles {
    const all = this.#rows.visible(partitions)
    const known = this.#views.get(all)
    if (known !== undefined) return known
    const urls = new Map(all.toReversed().map(file => [file.url, file]))
    const entries = new Map(all.map(file => [file.entry, file]))
    const view: VisibleFiles = { all, byUrl: url => urls.get(url), byEntry: entry => entries.get(entry) }
    this.#views.set(all, view)
    return view
  }
}

function registered(row: Row, partition: PartitionId): RegisteredFile {
  return { ...fileIn(row), partition }
}

export function fileIn(row: Row): Omit<RegisteredFile, 'partition'> {
  return {
    entry: row['entry'] as EntryKey,
    url: row['url'] as string,
    hash: row['hash'] as string,
    size: row['size'] as number,
    mtime: row['mtime'] as number,
    indexedHash: row['indexed_hash'] as string | null,
  }
}

/** Files that were added, by where they are: which entry was made of the file at a place on the disk. */
import type { EntryKey } from '../model/entry.ts'
import { ADDED_PATHS, FILES } from '../store/core-tables.ts'
import type { StoreReader } from '../store/store.ts'

/** The place of an entry's file; parts of paths are separated by `/` on every system. */
export interface AddedFile {
  readonly entry: EntryKey
  readonly root: string
  readonly path: string
}

export class AddedFiles {
  readonly #reader: StoreReader
  #roots: readonly string[] | null = null

  /** For one read: what is written later may be missed. */
  constructor(reader: StoreReader) {
    this.#reader = reader
  }

  /** Of these entries those that were made of files. */
  of(entries: readonly EntryKey[]): readonly AddedFile[] {
    const rows = this.#reader.table(FILES).scan({}, { entries, columns: ['entry', 'root', 'path'] })
    return rows.map(row => ({
      entry: row['entry'] as EntryKey,
      root: row['root'] as string,
      path: row['path'] as string,
    }))
  }

  /** Entries that were made of the file at this absolute path, whichever folder it was added with. */
  at(absolute: string): readonly EntryKey[] {
    return this.roots.flatMap(root => {
      const folder = slashed(root)
      if (!absolute.startsWith(`${folder}/`)) return []
      const path = absolute.slice(folder.length + 1)
      return this.#reader
        .table(FILES)
        .scan({ root, path })
        .map(row => row['entry'] as EntryKey)
    })
  }

  get roots(): readonly string[] {
    const rows = () => this.#reader.table(ADDED_PATHS).scan({}, { columns: ['holder', 'path', 'root'] })
    this.#roots ??= [...new Set(rows().map(row => row['root'] as string))]
    return this.#roots
  }
}

/** As `/` separates parts everywhere in this module, without one at the end. */
export function slashed(path: string): string {
  return path.replaceAll('\\', '/').replace(/\/$/, '')
}

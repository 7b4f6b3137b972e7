/** Files that were added, by where they are: which entry was made of the file at a place on the disk. */

import type { Bitset } from '../base/bitset.ts'
import type { EntryKey } from '../model/entry.ts'
import { ADDED_PATHS, FILES } from '../store/core-tables.ts'
import type { StoreReader } from '../store/store.ts'
import type { QueryContext } from './context.ts'

/** The place of an entry's file; parts of paths are separated by `/` on every system. */
export interface AddedFile {
  readonly entry: EntryKey
  readonly root: string
  readonly path: string
}

export class FilePlaces {
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

// A file that was added as a document and read as code is shown once: as the document, which holds the author's text. What was
// read from the file besides is left out of an answer that the document may be in.

const NONE: ReadonlySet<EntryKey> = new Set()

/** Those of these entries that a document stands for which the viewer may see and which fulfils the conditions (`allow`; null: none). */
export function readOfDocuments(
  entries: readonly EntryKey[],
  allow: Bitset | null,
  { readings = [], reader, accessScope }: QueryContext,
): ReadonlySet<EntryKey> {
  const files = new FilePlaces(reader)
  if (readings.length === 0 || files.roots.length === 0) return NONE
  const byUrl = new Map<string, EntryKey[]>()
  for (const table of readings) {
    const { url, symbol } = table.readOf
    const columns = [...new Set([...table.key, 'entry', url, symbol ?? url])]
    for (const row of reader.table(table).scan({}, { entries, columns })) {
      if (row[url] === null || (symbol !== undefined && row[symbol] === null)) continue
      const file = String(row[url])
      byUrl.set(file, [...(byUrl.get(file) ?? []), row['entry'] as EntryKey])
    }
  }
  if (byUrl.size === 0) return NONE
  const visible = new Set(accessScope.partitions)
  const isInAnswer = (entry: EntryKey) => {
    if (allow !== null) return allow.has(entry)
    return reader.identities([entry]).some(({ partition }) => visible.has(partition))
  }
  const stoodFor = [...byUrl].filter(([url]) => files.at(placeOf(url)).some(isInAnswer))
  return new Set(stoodFor.flatMap(([, read]) => read))
}

/** The path of a file URL, with `/` between its parts. */
function placeOf(url: string): string {
  try {
    return decodeURIComponent(new URL(url).pathname).replace(/^\/(?=[A-Za-z]:\/)/, '')
  } catch {
    return ''
  }
}

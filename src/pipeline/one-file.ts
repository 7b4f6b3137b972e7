/**
 * A file that was added as a document and read as code is shown once: as the document, which holds the author's text. What was
 * read from the file besides is left out of an answer that the document may be in.
 */
import type { Bitset } from '../base/bitset.ts'
import type { EntryKey } from '../model/entry.ts'
import { AddedFiles } from './added-files.ts'
import type { QueryContext } from './context.ts'

const NONE: ReadonlySet<EntryKey> = new Set()

/** Those of these entries that a document stands for which the viewer may see and which fulfils the conditions (`allow`; null: none). */
export function readOfDocuments(
  entries: readonly EntryKey[],
  allow: Bitset | null,
  { readings = [], reader, accessScope }: QueryContext,
): ReadonlySet<EntryKey> {
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
  const files = new AddedFiles(reader)
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

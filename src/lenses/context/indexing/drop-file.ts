/** Taking back what came from files that are gone, or no longer say it. Run inside a write transaction. */
import type { EntryKey } from '../../../model/entry.ts'
import type { Row } from '../../../model/table.ts'
import type { StoreWriter } from '../../../store/store.ts'
import { forgetFile, type OwnFile } from '../body/register.ts'
import { type ConceptAt, deleteConcept, NOTE } from '../mind/rows.ts'
import { CARDS, CONCEPTS, EXTRACTIONS, FILES, PROVENANCE, READ_ERRORS } from '../tables.ts'
import type { CodeBase } from './code-base.ts'
import { atOf, entryOf, rowsOf } from './file-rows.ts'
import { changeRevision } from './revision.ts'

/** With its concepts, and whatever else comes from it alone. */
export function dropFile(writer: StoreWriter, codeBase: CodeBase, file: OwnFile, path: string | null): void {
  dropConceptsOf(writer, file.url)
  if (path !== null) codeBase.drop(path)
  forgetFile(writer, file)
}

/** Concepts of files that are registered no more: a scan has found them gone. */
export function dropOrphans(writer: StoreWriter): void {
  const files = writer.table(FILES).scan({}, { columns: ['entry', 'url'] })
  const known = new Set(files.map(({ url }) => url))
  const urls = new Set<string>()
  for (const { url, symbol } of writer.table(CONCEPTS).scan({}, { columns: ['entry', 'url', 'symbol'] })) {
    if (url !== null && symbol !== null && !known.has(url)) urls.add(url as string)
  }
  for (const url of urls) dropConceptsOf(writer, url)
}

/** What also comes from another file stays, as if a call had made it. */
export function dropConcept(writer: StoreWriter, row: Row, url: string): void {
  const entry = entryOf(row)
  writer.table(PROVENANCE).delete({ entry, url })
  const [other] = writer.table(PROVENANCE).scan({ entry })
  if (other === undefined) {
    deleteConcept(writer, atOf(row))
    return
  }
  writer.table(CONCEPTS).put({ ...row, url: other['url'] ?? null, start_line: null, end_line: null, symbol: null })
  writer.announce(entry)
}

/**
 * Outside of a run. A file whose last concept goes this way is read again by the next run: none is kept as read that has no
 * concepts (CX-075).
 */
export function deleteByCall(writer: StoreWriter, at: ConceptAt): void {
  const row = writer.table(CONCEPTS).get({ entry: at.entry })
  deleteConcept(writer, at)
  if (row === undefined || row['symbol'] === null) return
  changeRevision(writer)
  const url = row['url'] as string | null
  if (url === null || rowsOf(writer, url).own.length > 0) return
  for (const { entry } of writer.table(FILES).scan({ url }, { columns: ['entry', 'url'] })) {
    writer.table(EXTRACTIONS).delete({ entry: entry as EntryKey })
    writer.table(CARDS).delete({ entry: entry as EntryKey })
    writer.table(READ_ERRORS).delete({ entry: entry as EntryKey })
  }
}

function dropConceptsOf(writer: StoreWriter, url: string): void {
  for (const row of rowsOf(writer, url).own) dropConcept(writer, row, url)
  for (const link of writer.table(PROVENANCE).scan({ url })) {
    const entry = link['entry'] as EntryKey
    const row = writer.table(CONCEPTS).get({ entry })
    writer.table(PROVENANCE).delete({ entry, url })
    const isLeft = writer.table(PROVENANCE).count({ entry }) > 0 || row?.['type'] === NOTE
    if (row !== undefined && !isLeft) deleteConcept(writer, atOf(row))
  }
}

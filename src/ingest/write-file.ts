/** Writes what was read from one file: its entries are put, those it no longer gives are deleted, all or nothing. */
import { pathToFileURL } from 'node:url'
import type { Instant } from '../base/clock.ts'
import type { Entry, EntryDraft } from '../model/entry.ts'
import { QuerentError } from '../model/errors.ts'
import type { FileDocument } from '../model/ingester.ts'
import { MAX_TAGS } from '../model/limits.ts'
import type { Audience } from '../model/partition.ts'
import { FILES } from '../store/core-tables.ts'
import type { StoreWriter } from '../store/store.ts'
import { idsOfFile } from './entry-ids.ts'
import type { KnownFile } from './known-files.ts'
import { ownEntries, withTimesOf } from './own-entry.ts'

/** What entries get from the request. */
export interface EntrySettings {
  readonly collection: string
  /** Null: what the ingester says. */
  readonly kind: string | null
  readonly tags: readonly string[]
  readonly audience: Audience
  readonly now: Instant
}

/** A file that was read and differs from what is known of it. */
export interface ReadFile {
  readonly absolute: string
  readonly root: string
  readonly path: string
  readonly known: KnownFile | undefined
  readonly hash: string
  readonly size: number
  readonly modifiedAt: Instant
  readonly documents: readonly FileDocument[]
}

export interface Written {
  added: number
  updated: number
  unchanged: number
  deleted: number
  chunks: number
}

export function writeFile(writer: StoreWriter, file: ReadFile, settings: EntrySettings): Written {
  const written: Written = { added: 0, updated: 0, unchanged: 0, deleted: 0, chunks: 0 }
  const kept = new Set<number>()
  const inTheWay = ownEntries(writer, settings.audience.holder)
  for (const document of file.documents) {
    const { id, before } = placeOf(file, document, inTheWay)
    const { key, changed, created } = writer.put(draftOf(id, file, document, before, settings), document.chunks)
    kept.add(key)
    written[created ? 'added' : changed ? 'updated' : 'unchanged']++
    if (changed) written.chunks += document.chunks.length
    writeRows(writer, file, document, key)
  }
  for (const { key } of file.known?.entries.values() ?? []) {
    if (!kept.has(key) && writer.delete(key)) written.deleted++
  }
  return written
}

/** The id of a document and the entry that has it now. Throws `conflict` when the id belongs to something else. */
function placeOf(
  file: ReadFile,
  document: FileDocument,
  inTheWay: (id: string) => Entry | undefined,
): { readonly id: string; readonly before: Entry | undefined } {
  const ids = document.id === null ? idsOfFile(file.root, file.path, document.part) : [document.id]
  const mine = ids.map(id => file.known?.entries.get(id)).find(entry => entry !== undefined)
  if (mine !== undefined) return { id: mine.id, before: mine }
  const free = ids.find(id => inTheWay(id) === undefined)
  if (free !== undefined) return { id: free, before: undefined }
  const [id = ''] = ids
  const where = document.line === null ? '' : `line ${document.line}: `
  const message = `${where}the id ${id} belongs to another entry; delete that one or change the id`
  throw new QuerentError('conflict', message, { id })
}

function draftOf(
  id: string,
  file: ReadFile,
  document: FileDocument,
  before: Entry | undefined,
  settings: EntrySettings,
): EntryDraft {
  const draft: EntryDraft = {
    id,
    collection: settings.collection,
    kind: settings.kind ?? document.kind,
    title: document.title,
    content: document.content,
    tags: [...new Set([...document.tags, ...settings.tags])].slice(0, MAX_TAGS),
    metadata: document.metadata,
    audience: settings.audience,
    origin: pathToFileURL(file.absolute).href,
    createdAt: document.createdAt ?? file.modifiedAt,
    updatedAt: document.updatedAt ?? file.modifiedAt,
    validFrom: document.validFrom,
    validUntil: document.validUntil,
    knownAt: settings.now,
  }
  if (before === undefined) return draft
  const { createdAt, updatedAt, knownAt } = withTimesOf(before, draft)
  return { ...draft, createdAt: document.createdAt ?? createdAt, updatedAt: document.updatedAt ?? updatedAt, knownAt }
}

function writeRows(writer: StoreWriter, file: ReadFile, document: FileDocument, key: number): void {
  const { root, path, hash, size, modifiedAt } = file
  writer.table(FILES).put({ entry: key, root, path, hash, size, modified_at: modifiedAt })
  const rows = document.rows ?? []
  for (const table of new Set(rows.map(row => row.table))) writer.table(table).delete({ entry: key })
  for (const { table, row } of rows) writer.table(table).put({ ...row, entry: key })
}

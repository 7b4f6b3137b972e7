/** Writes what was read from one file: its entries are put, those it no longer gives are deleted, all or nothing. */
import { pathToFileURL } from 'node:url'
import type { Instant } from '../base/clock.ts'
import type { Steps } from '../base/turns.ts'
import type { Entry, EntryDraft } from '../model/entry.ts'
import { QuerentError } from '../model/errors.ts'
import { foldCase } from '../model/filter.ts'
import type { FileDocument } from '../model/ingester.ts'
import { MAX_TAGS } from '../model/limits.ts'
import { type Audience, audience, partitionKey } from '../model/partition.ts'
import { FILE_LINKS, FILE_NAMES, FILES } from '../store/core-tables.ts'
import type { StoreWriter } from '../store/store.ts'
import { lastPart, withoutMarkdownEnding } from '../text/note-links.ts'
import type { GivenOptions, PathOptions } from './added-paths.ts'
import { idsOfFile } from './entry-ids.ts'
import type { KnownFile } from './known-files.ts'
import { ownEntries, withTimesOf } from './own-entry.ts'

/** What entries get from the request, and from what was given before for their path. */
export interface EntrySettings {
  /** An entry that is there keeps its collection and its audience unless these are given. */
  readonly given: Pick<GivenOptions, 'collection' | 'audience'>
  readonly options: PathOptions
  readonly holder: string
  readonly now: Instant
}

const DEFAULT_COLLECTION = 'documents'

/** Of a new entry, where the file has none yet. */
export function newCollection({ collection, lens }: PathOptions): string {
  return collection ?? lens ?? DEFAULT_COLLECTION
}

/** Of a new entry, where the file has none yet. */
export function newAudience({ options, holder }: Pick<EntrySettings, 'options' | 'holder'>): Audience {
  return options.audience ?? audience('private', holder)
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
  readonly settings: EntrySettings
}

export interface Written {
  added: number
  updated: number
  unchanged: number
  deleted: number
  chunks: number
}

/** `moved` is called for each entry that others may see now than before. */
export function* writeFile(
  writer: StoreWriter,
  file: ReadFile,
  moved: (from: Audience, to: Audience) => void = () => {},
): Steps<Written> {
  const written: Written = { added: 0, updated: 0, unchanged: 0, deleted: 0, chunks: 0 }
  const kept = new Set<number>()
  const inTheWay = ownEntries(writer, file.settings.holder)
  for (const document of file.documents) {
    const { id, before } = placeOf(file, document, inTheWay)
    const draft = draftOf(id, file, document, before)
    const { key, changed, created } = yield* writer.putInSteps(draft, document.chunks)
    if (before !== undefined) moved(before.audience, draft.audience)
    kept.add(key)
    written[created ? 'added' : changed ? 'updated' : 'unchanged']++
    if (changed) written.chunks += document.chunks.length
    writeRows(writer, file, document, key)
    yield
  }
  for (const { key } of file.known?.entries.values() ?? []) {
    if (!kept.has(key) && writer.delete(key)) written.deleted++
    yield
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

function draftOf(id: string, file: ReadFile, document: FileDocument, before: Entry | undefined): EntryDraft {
  const { settings } = file
  const { given, options, now } = settings
  const like = before ?? file.known?.entries.values().next().value
  const tags = options.tags ?? before?.tags ?? []
  const draft: EntryDraft = {
    id,
    collection: given.collection ?? like?.collection ?? newCollection(options),
    kind: options.kind ?? document.kind,
    title: document.title,
    content: document.content,
    tags: [...new Set([...document.tags, ...tags])].slice(0, MAX_TAGS),
    metadata: document.metadata,
    audience: given.audience ?? before?.audience ?? audienceBeside(file),
    origin: pathToFileURL(file.absolute).href,
    createdAt: document.createdAt ?? file.modifiedAt,
    updatedAt: document.updatedAt ?? file.modifiedAt,
    validFrom: document.validFrom,
    validUntil: document.validUntil,
    knownAt: now,
  }
  if (before === undefined) return draft
  const { createdAt, updatedAt, knownAt } = withTimesOf(before, draft)
  return { ...draft, createdAt: document.createdAt ?? createdAt, updatedAt: document.updatedAt ?? updatedAt, knownAt }
}

/** Of a new entry: as the file's others, and private where they differ, for it may be one of them under another id. */
function audienceBeside({ known, settings }: ReadFile): Audience {
  const [first, ...others] = [...(known?.entries.values() ?? [])].map(entry => entry.audience)
  if (first === undefined) return newAudience(settings)
  const areAlike = others.every(other => partitionKey(other) === partitionKey(first))
  return areAlike ? first : audience('private', settings.holder)
}

function writeRows(writer: StoreWriter, file: ReadFile, document: FileDocument, key: number): void {
  const { root, path, hash, size, modifiedAt } = file
  writer.table(FILES).put({ entry: key, root, path, hash, size, modified_at: modifiedAt })
  if (document.id === null && document.part === null) writeNames(writer, path, document, key)
  const rows = document.rows ?? []
  for (const table of new Set(rows.map(row => row.table))) writer.table(table).delete({ entry: key })
  for (const { table, row } of rows) writer.table(table).put({ ...row, entry: key })
}

/** What links find the file by, and its own links. */
function writeNames(writer: StoreWriter, path: string, document: FileDocument, entry: number): void {
  const { title, aliases = [], links = [] } = document
  const [names, targets] = [writer.table(FILE_NAMES), writer.table(FILE_LINKS)]
  const put = (kind: string, name: string) => names.put({ entry, kind, name: foldCase(name) })
  names.delete({ entry })
  put('file', lastPart(withoutMarkdownEnding(path)))
  if (title !== '') put('title', title)
  for (const alias of aliases) put('alias', alias)
  targets.delete({ entry })
  for (const { target, isRelative } of links) {
    targets.put({ entry, target, relative: Number(isRelative), name: foldCase(lastPart(target)) })
  }
}

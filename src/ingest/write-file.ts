/** Writes what was read from one file: its entries are put, those it no longer gives are deleted, all or nothing. */
import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import { sha256 } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import type { Steps } from '../base/turns.ts'
import type { Entry, EntryDraft } from '../model/entry.ts'
import { QuerentError } from '../model/errors.ts'
import { foldCase } from '../model/filter.ts'
import type { FileDocument } from '../model/ingester.ts'
import { MAX_ID_LENGTH, MAX_TAGS } from '../model/limits.ts'
import { type Audience, audience, partitionKey } from '../model/partition.ts'
import { FILE_LINKS, FILE_NAMES, FILES, lastPart, withoutMarkdownEnding } from '../store/core-tables.ts'
import type { StoreReader, StoreWriter } from '../store/store.ts'
import type { GivenOptions, PathOptions } from './added-paths.ts'
import type { KnownFile } from './known-files.ts'

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
  const byPart = entriesByPart(file)
  for (const document of file.documents) {
    const { id, before } = placeOf(file, document, byPart, inTheWay)
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
  byPart: ReadonlyMap<string | null, Entry>,
  inTheWay: (id: string) => Entry | undefined,
): { readonly id: string; readonly before: Entry | undefined } {
  const turns = document.id === null ? MAX_TURNS : 1
  const idAt = (turn: number) => document.id ?? idOfFile(file.root, file.path, document.part, turn)
  const known = file.known?.entries
  const mine =
    known?.get(idAt(0)) ?? known?.get(idAt(1)) ?? (document.id === null ? byPart.get(document.part) : undefined)
  if (mine !== undefined) return { id: mine.id, before: mine }
  for (let turn = 0; turn < turns; turn++) {
    if (inTheWay(idAt(turn)) === undefined) return { id: idAt(turn), before: undefined }
  }
  const id = idAt(0)
  const where = document.line === null ? '' : `line ${document.line}: `
  const message = `${where}the id ${id} belongs to another entry; delete that one or change the id`
  throw new QuerentError('conflict', message, { id })
}

/** As `inParts` names parts of a document, and as records without an id are named. */
const PART = /#(part-\d+|[0-9a-f]{16})$/

/** Entries of the file by what tells them apart: their ids say where the file was first, which is another place where it was moved. */
function entriesByPart({ known, root }: ReadFile): ReadonlyMap<string | null, Entry> {
  const entries = [...(known?.entries.values() ?? [])].filter(({ id }) => id.startsWith(plainId(basename(root))))
  return new Map(entries.map(entry => [PART.exec(entry.id)?.[1] ?? null, entry]))
}

/** Ids that an entry of one place may have. */
const MAX_TURNS = 20

/**
 * Ids of entries that come from files: `<name of the folder added>/<path in it>`, so `docs/guide/intro.md`. They depend on where the file
 * was first, so they stay the same from run to run. Two folders of one name may hold the same path, and a file may be moved and another
 * one take its place: then the one that comes second has `~` and six signs of a hash behind it. `turn` from 0: which one.
 */
function idOfFile(root: string, path: string, part: string | null, turn: number): string {
  const plain = plainId([basename(root), path].filter(name => name !== '').join('/'))
  const hash = turn === 0 ? '' : `~${sha256(turn === 1 ? root : `${root} ${turn}`).slice(0, 6)}`
  return fitting(`${plain}${hash}${part === null ? '' : `#${part}`}`)
}

/** Control characters (a line end in a file name, say) as `%0A`; `%` itself then as `%25`. */
function plainId(path: string): string {
  return path.replace(/[\p{Cc}%]/gu, sign => encodeURIComponent(sign))
}

/** What is too long keeps its beginning and gets a hash of the whole. */
function fitting(id: string): string {
  if (id.length <= MAX_ID_LENGTH) return id
  return `${id.slice(0, MAX_ID_LENGTH - 17).toWellFormed()}~${sha256(id).slice(0, 16)}`
}

/** Finds the holder's entry of an id, whoever may see it. */
function ownEntries(reader: StoreReader, holder: string): (id: string) => Entry | undefined {
  const partitions = reader.partitions().map(partition => partition.id)
  return id => {
    // One that is damaged is written again as if it were not there.
    const entries = reader.around(
      () => undefined,
      () => reader.entries(reader.find(id, partitions)),
    )
    return entries.find(entry => entry.audience.holder === holder)
  }
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

/**
 * The draft as a change of that entry. It was created when it was; the same title and text were known before and did not
 * change now.
 */
function withTimesOf(before: Entry, draft: EntryDraft): EntryDraft {
  const { createdAt } = before
  if (before.content !== draft.content || before.title !== draft.title) return { ...draft, createdAt }
  return { ...draft, createdAt, knownAt: before.knownAt, updatedAt: before.updatedAt }
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
  for (const { target: written, isRelative } of links) {
    const target = withoutMarkdownEnding(written)
    targets.put({ entry, target, relative: Number(isRelative), name: foldCase(lastPart(target)) })
  }
}

/**
 * Writes the result of reading one file to the store: writes its entries, and deletes earlier entries that the file no longer gives. Either
 * everything is written or nothing.
 */
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

/** Settings for the entries of a file: those of the request itself, and the options that apply to the file's path. */
export interface EntrySettings {
  /**
   * Collection and audience (who may see the entry) that the request itself gives. If one of them is absent, an existing entry keeps its
   * present value.
   */
  readonly given: Pick<GivenOptions, 'collection' | 'audience'>
  readonly options: PathOptions
  readonly holder: string
  readonly now: Instant
}

const DEFAULT_COLLECTION = 'documents'

/** Collection of an entry made from a file that has no entries yet. */
export function newCollection({ collection, lens }: PathOptions): string {
  return collection ?? lens ?? DEFAULT_COLLECTION
}

/** Audience of an entry made from a file that has no entries yet. */
export function newAudience({ options, holder }: Pick<EntrySettings, 'options' | 'holder'>): Audience {
  return options.audience ?? audience('private', holder)
}

/**
 * A file that was read because the file itself, or the way in which such files are read, has changed since the file's entries were written.
 */
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

/** Writes the entries of a file. `moved` is called for each existing entry whose audience changes. */
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

/**
 * The id of the entry for a document, and the present entry with that id, if there is one. Throws `conflict` if an entry that was not made
 * from this file has the id.
 */
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

/** Matches the suffix of an entry id: the part of a long document (`#part-2`), or the hash of a record without an id of its own. */
const PART = /#(part-\d+|[0-9a-f]{16})$/

/**
 * Existing entries of the file, by the suffix of their id (such as the number of a part; null: no suffix). The rest of the id is ignored:
 * it contains the path at the time when the id was made, which is no longer right if the file was moved.
 */
function entriesByPart({ known, root }: ReadFile): ReadonlyMap<string | null, Entry> {
  const entries = [...(known?.entries.values() ?? [])].filter(({ id }) => id.startsWith(plainId(basename(root))))
  return new Map(entries.map(entry => [PART.exec(entry.id)?.[1] ?? null, entry]))
}

/** Maximum number of ids that are tried for a file before it is rejected. */
const MAX_TURNS = 20

/**
 * Id of an entry made from a file: `<name of the added folder>/<path in it>`, for example `docs/guide/intro.md`. An entry keeps its id if
 * its file is moved, and two added folders may have the same name, so an id may already be taken: then the second entry's id gets `~` and
 * six characters of a hash. `turn`: how many ids were tried before this one.
 */
function idOfFile(root: string, path: string, part: string | null, turn: number): string {
  const plain = plainId([basename(root), path].filter(name => name !== '').join('/'))
  const hash = turn === 0 ? '' : `~${sha256(turn === 1 ? root : `${root} ${turn}`).slice(0, 6)}`
  return fitting(`${plain}${hash}${part === null ? '' : `#${part}`}`)
}

/** Encodes control characters, such as a line end in a file name, in the form `%0A`, and therefore `%` as `%25`. */
function plainId(path: string): string {
  return path.replace(/[\p{Cc}%]/gu, sign => encodeURIComponent(sign))
}

/** Shortens an id that is too long: its beginning, then `~` and a hash of the whole id. */
function fitting(id: string): string {
  if (id.length <= MAX_ID_LENGTH) return id
  return `${id.slice(0, MAX_ID_LENGTH - 17).toWellFormed()}~${sha256(id).slice(0, 16)}`
}

/** Returns a function that finds the holder's entry with a given id, whatever the entry's audience is. */
function ownEntries(reader: StoreReader, holder: string): (id: string) => Entry | undefined {
  const partitions = reader.partitions().map(partition => partition.id)
  return id => {
    // A damaged entry is skipped, so that it is written again as if it did not exist.
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
 * Sets the times of a changed entry: the creation time is kept; if title and text are unchanged, the times of knowledge and update are kept
 * too.
 */
function withTimesOf(before: Entry, draft: EntryDraft): EntryDraft {
  const { createdAt } = before
  if (before.content !== draft.content || before.title !== draft.title) return { ...draft, createdAt }
  return { ...draft, createdAt, knownAt: before.knownAt, updatedAt: before.updatedAt }
}

/**
 * Audience (who may see it) of a new entry of a file: that of the file's existing entries. If these have different audiences, the new entry
 * is private: it may be the text of one that was private, only with a new id.
 */
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

/**
 * Stores the names under which links in other files refer to this one (file name, title, aliases), and the targets of this file's own
 * links.
 */
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

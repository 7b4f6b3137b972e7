/** Writing registered files: entries that hold what is known of a file, and its text once that is indexed. */
import { sha256 } from '../../../base/canonical.ts'
import type { EntryDraft, EntryKey } from '../../../model/entry.ts'
import { MAX_ID_LENGTH } from '../../../model/limits.ts'
import { audience } from '../../../model/partition.ts'
import type { Viewer } from '../../../model/viewer.ts'
import type { WorkspaceFile } from '../../../model/workspace.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { chunkContent } from '../../../text/chunk.ts'
import type { Call } from '../call.ts'
import { FILES } from '../tables.ts'
import { fileIn, type RegisteredFile } from './files.ts'

const FILE_KIND = 'code'
const FILE_COLLECTION = 'code'

/** What tells one state of a file from another. */
export interface FileStamp {
  readonly url: string
  readonly hash: string
  readonly size: number
  /** Unix seconds. */
  readonly mtime: number
}

/** Undefined for a file that could not be read. */
export function stampOf(file: WorkspaceFile): FileStamp | undefined {
  if (!file.ok) return undefined
  const { url, hash, size, modifiedAt } = file
  return { url, hash, size, mtime: Math.floor(modifiedAt / 1000) }
}

export type OwnFile = Omit<RegisteredFile, 'partition'>

/** The viewer's own, by URL; of these URLs or (null) all. */
export function ownFiles(
  { host: { store }, viewer }: Call,
  urls: readonly string[] | null = null,
): ReadonlyMap<string, OwnFile> {
  const table = store.table(FILES)
  const rows = urls === null ? table.scan() : urls.flatMap(url => table.scan({ url }))
  const own = ownEntries(
    store,
    viewer,
    rows.map(row => row['entry'] as EntryKey),
  )
  return new Map(rows.filter(row => own.has(row['entry'] as EntryKey)).map(row => [row['url'] as string, fileIn(row)]))
}

function ownEntries(store: StoreReader, viewer: Viewer, entries: readonly EntryKey[]): ReadonlySet<EntryKey> {
  // Of the public partition alone it cannot be told who holds what.
  const isAlone = store
    .partitions()
    .every(({ audience: { holder, kind } }) => holder === viewer.id && kind !== 'public')
  if (isAlone) return new Set(entries)
  const held = store.identities(entries).filter(({ holder }) => holder === viewer.id)
  return new Set(held.map(({ key }) => key))
}

/** Keeps the text there is until the new one is indexed. */
export function registerFile(writer: StoreWriter, call: Call, stamp: FileStamp, before: OwnFile | undefined): void {
  const { url, hash, size, mtime } = stamp
  const entry = before?.entry ?? putText(writer, call, url, '')
  writer.table(FILES).put({ entry, url, hash, size, mtime, indexed_hash: before?.indexedHash ?? null })
  writer.announce(entry)
}

/** `hash` is that of the bytes. */
export function indexText(
  writer: StoreWriter,
  call: Call,
  { url, size, mtime }: Omit<FileStamp, 'hash'>,
  text: string,
  hash: string,
): EntryKey {
  const entry = putText(writer, call, url, text)
  writer.table(FILES).put({ entry, url, hash, size, mtime, indexed_hash: hash })
  writer.announce(entry)
  return entry
}

export function forgetFile(writer: StoreWriter, { entry }: Pick<OwnFile, 'entry'>): void {
  writer.delete(entry)
}

function putText(writer: StoreWriter, { host, viewer }: Call, url: string, content: string): number {
  const id = url.length <= MAX_ID_LENGTH ? url : `${url.slice(0, MAX_ID_LENGTH - 65).toWellFormed()}~${sha256(url)}`
  const now = host.clock.now()
  const everywhere = writer.partitions().map(partition => partition.id)
  const before = writer.entries(writer.find(id, everywhere)).find(entry => entry.audience.holder === viewer.id)
  const draft: EntryDraft = {
    id,
    collection: FILE_COLLECTION,
    kind: FILE_KIND,
    title: decodeURI(url.slice(url.lastIndexOf('/') + 1)),
    content,
    tags: [],
    metadata: {},
    audience: before?.audience ?? audience('private', viewer.id),
    origin: url,
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
    validFrom: null,
    validUntil: null,
    knownAt: before !== undefined && before.content === content ? before.knownAt : now,
  }
  return writer.put(draft, chunkContent(content, { format: 'code' })).key
}

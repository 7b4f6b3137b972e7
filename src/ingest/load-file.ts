/** Reads one file from disk and makes the documents for its entries, or gives the reason why there are none. */
import { sha256 } from '../base/canonical.ts'
import type { Turns } from '../base/turns.ts'
import type { ChunkDraft } from '../model/entry.ts'
import type {
  DocumentIngester,
  FileDocument,
  FileName,
  FileProblem,
  FileReading,
  Ingester,
  IngestSettings,
  Unreadable,
} from '../model/ingester.ts'
import { MAX_CONTENT_LENGTH } from '../model/limits.ts'
import { partitionKey } from '../model/partition.ts'
import { lineEnds } from '../text/lines.ts'
import { delimited } from './delimited.ts'
import { documents } from './documents/documents.ts'
import { extensionOf } from './file-types.ts'
import { html } from './html.ts'
import { json } from './json.ts'
import { jsonl } from './jsonl.ts'
import type { KnownFile, KnownRow } from './known-files.ts'
import { markdown } from './markdown.ts'
import { notebook } from './notebook.ts'
import { messageOf } from './place.ts'
import { code, plainText } from './plain-text.ts'
import { type FileData, type NoFile, readData, readText } from './read-file.ts'
import { subtitles } from './subtitles.ts'
import type { SkipReason } from './walk.ts'
import type { EntrySettings, ReadFile } from './write-file.ts'

export interface FileToLoad {
  readonly absolute: string
  /** `root`: absolute path of the folder that is being added; `path`: path of the file from that folder, with `/` between its parts. */
  readonly root: string
  readonly path: string
  /** Rows of the table of files (which entry was made from which file) for this file. */
  readonly rows: readonly KnownRow[]
  /** The file's existing entries of this holder; called only if the file has changed. */
  own(): KnownFile | undefined
  readonly maxBytes: number
  readonly ingesters: readonly Ingester[]
  readonly reading: IngestSettings
  readonly settings: EntrySettings
  /** Hash of everything besides the file's bytes that determines its entries. */
  readonly fingerprint: string
}

export type FileOutcome = { readonly absolute: string } & (
  | {
      readonly kind: 'read'
      readonly file: ReadFile
      readonly problems: readonly string[]
      readonly warnings: readonly string[]
    }
  | { readonly kind: 'unchanged'; readonly entries: number }
  | { readonly kind: 'skipped'; readonly reason: SkipReason }
  | { readonly kind: 'failed'; readonly message: string }
)

/** Reads a file and makes its documents. `turns`: decides when the work pauses so that other work can run. */
export async function loadFile(turns: Turns, file: FileToLoad, signal: AbortSignal): Promise<FileOutcome> {
  const { absolute } = file
  const ingester = ingesterFor(named(file.path), file.ingesters)
  const opened = await openFile(turns, file, ingester, signal)
  if (opened.kind === 'skipped') return { absolute, ...opened }
  if (opened.kind === 'failed') return { absolute, kind: 'failed', message: messageOf(opened.error) }

  const { bytes, sha256: sum, modifiedAt } = opened
  const hash = sha256(`${file.fingerprint} ${ingester.name} ${ingester.version} ${sum}`)
  const same = file.rows.filter(row => row.hash === hash).length
  const isGiven = file.settings.given.collection !== undefined || file.settings.given.audience !== undefined
  const known = same === 0 || isGiven ? file.own() : undefined
  if (same > 0 && areAsGiven(known, file.settings)) return { absolute, kind: 'unchanged', entries: same }

  const { root, path } = known ?? file
  const reading = await opened.read(path)
  if ('kind' in reading) return { absolute, ...reading }
  const { documents: whole, problems, warnings = [] } = withTrueValidity(reading)
  const documents = whole.flatMap(document => inParts(document))
  if (documents.length === 0 && problems.length === 0 && known === undefined) {
    return { absolute, kind: 'skipped', reason: 'empty' }
  }
  const read = { absolute, root, path, known, hash, size: bytes, modifiedAt, documents, settings: file.settings }
  return {
    absolute,
    kind: 'read',
    file: read,
    problems: problems.map(problemText),
    warnings: warnings.map(problemText),
  }
}

type OpenedFile =
  | (Pick<FileData, 'kind' | 'bytes' | 'sha256' | 'modifiedAt'> & {
      /** Makes the documents of the opened file. `path`: path of the file from the folder with which it was added. */
      readonly read: (path: string) => Promise<FileReading | Unreadable>
    })
  | NoFile

async function openFile(
  turns: Turns,
  { absolute, maxBytes, reading }: FileToLoad,
  ingester: Ingester | DocumentIngester,
  signal: AbortSignal,
): Promise<OpenedFile> {
  const most = Math.max(maxBytes, ingester.maxBytes ?? 0)
  if ('readBytes' in ingester) {
    const opened = await readData(turns, absolute, most)
    if (opened.kind !== 'data') return opened
    const { data, ...about } = opened
    const read = async (path: string) =>
      data.length === 0 ? { documents: [], problems: [] } : await ingester.readBytes(data, named(path), signal)
    return { ...about, read }
  }
  const opened = await readText(turns, absolute, most)
  if (opened.kind !== 'text') return opened
  const { text, ...about } = opened
  const read = (path: string) =>
    turns.run(ingester.read({ ...named(path), text, modifiedAt: opened.modifiedAt }, reading))
  return { ...about, kind: 'data', read }
}

/**
 * Whether the file's existing entries already have the requested collection and audience; these can be changed without the file being
 * changed.
 */
function areAsGiven(known: KnownFile | undefined, { given }: EntrySettings): boolean {
  return [...(known?.entries.values() ?? [])].every(
    entry =>
      (given.collection ?? entry.collection) === entry.collection &&
      partitionKey(given.audience ?? entry.audience) === partitionKey(entry.audience),
  )
}

/**
 * A document whose validity ends before it begins could never apply: the document is kept without the two times, and a warning is added.
 */
function withTrueValidity({ documents, problems, warnings = [] }: FileReading): FileReading {
  const isWrong = ({ validFrom, validUntil }: FileDocument) =>
    validFrom !== null && validUntil !== null && validUntil <= validFrom
  const wrong = documents.filter(isWrong)
  if (wrong.length === 0) return { documents, problems, warnings }
  const message = 'valid_until is not after valid_from; both were left out'
  return {
    documents: documents.map(one => (isWrong(one) ? { ...one, validFrom: null, validUntil: null } : one)),
    problems,
    warnings: [...warnings, ...wrong.map(({ line }) => ({ line, message }))],
  }
}

/** Path, name and extension of a file; by these an ingester (file reader) decides whether it accepts the file. */
export function named(path: string): FileName {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return { path, name, extension: extensionOf(name) }
}

function problemText({ line, message }: FileProblem): string {
  return line === null ? message : `line ${line}: ${message}`
}

// Chooses the ingester (file reader) for a file: the first one that accepts the file; ingesters of a lens come before the built-in ones.

/** Built-in ingesters (file readers) in the order in which they are tried; the last one accepts every file. */
const BUILT_IN: readonly (Ingester | DocumentIngester)[] = [
  ...[markdown, html, json, jsonl, notebook, delimited, subtitles],
  ...documents,
  ...[code, plainText],
]

export function ingesterFor(file: FileName, others: readonly Ingester[]): Ingester | DocumentIngester {
  return [...others, ...BUILT_IN].find(ingester => ingester.accepts(file)) ?? plainText
}

// Splits documents that exceed the maximum length of an entry's content: the first part has the id of the document, the others have
// `#part-2` and so on appended. Offsets and lines of a part count from its own beginning.

/**
 * The parts of a document; only the document itself if its content is at most `most` UTF-16 units long. A part ends where a chunk begins,
 * so no part is longer than `most` unless a single chunk is.
 */
export function inParts(document: FileDocument, most = MAX_CONTENT_LENGTH): readonly FileDocument[] {
  const { id, content, chunks, title, metadata, rows } = document
  if (content.length <= most) return [document]
  const groups = groupsOf(chunks, content.length, most)
  return groups.map(({ start, end, chunks: own }, at) => {
    const firstLine = at === 0 ? 1 : (own[0] as ChunkDraft).startLine
    const number = at + 1
    return {
      ...document,
      id: id === null || at === 0 ? id : `${id}#part-${number}`,
      part: at === 0 ? document.part : `part-${number}`,
      title: `${title} (part ${number} of ${groups.length})`,
      content: content.slice(start, end),
      chunks: own.map(chunk => moved(within(chunk, end, content), start, firstLine)),
      metadata: { ...metadata, part: number, parts: groups.length, first_line: firstLine },
      rows: at === 0 ? rows : undefined,
    }
  })
}

interface Group {
  readonly start: number
  readonly end: number
  readonly chunks: readonly ChunkDraft[]
}

/**
 * Divides the chunks of a document into groups, one for each part. A group's text extends from the start of its first chunk to the start of
 * the next group's first chunk.
 */
function groupsOf(chunks: readonly ChunkDraft[], length: number, most: number): readonly Group[] {
  const groups: Group[] = []
  let start = 0
  let own: ChunkDraft[] = []
  for (const chunk of chunks) {
    if (own.length > 0 && chunk.end - start > most) {
      groups.push({ start, end: chunk.start, chunks: own })
      start = chunk.start
      own = []
    }
    own.push(chunk)
  }
  return [...groups, { start, end: length, chunks: own }]
}

/** Cuts a chunk at `end`, the end of its part: chunks overlap, so the last chunk of a part may extend into the next part. */
function within(chunk: ChunkDraft, end: number, content: string): ChunkDraft {
  if (chunk.end <= end) return chunk
  const endLine = chunk.startLine + lineEnds(content, chunk.start, end - 1)
  const sections = chunk.sections?.filter(({ at }) => chunk.start + at < end)
  return { ...chunk, end, endLine, ...(sections !== undefined && { sections }) }
}

function moved(chunk: ChunkDraft, by: number, firstLine: number): ChunkDraft {
  const lines = firstLine - 1
  return {
    ...chunk,
    ...{ start: chunk.start - by, end: chunk.end - by },
    ...{ startLine: chunk.startLine - lines, endLine: chunk.endLine - lines },
  }
}

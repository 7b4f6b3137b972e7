/**
 * Reads one sort of file into entries. The ingest layer finds files, decodes them and writes what an ingester makes of
 * them; a lens brings ingesters of its own, which are asked before the built-in ones.
 */
import type { JsonObject } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import type { Steps } from '../base/turns.ts'
import type { ChunkDraft } from './entry.ts'
import type { Row, TableDeclaration } from './table.ts'

/** What an ingester is chosen by. */
export interface FileName {
  /** From the folder that is added, parts separated by `/`. */
  readonly path: string
  /** The last part of the path. */
  readonly name: string
  /** Lower case, without the dot; empty when there is none. */
  readonly extension: string
}

/** A file as an ingester sees it: decoded, without a byte order mark. */
export interface SourceFile extends FileName {
  readonly text: string
  readonly modifiedAt: Instant
}

export interface IngestSettings {
  /** What relative times in a file would refer to. */
  readonly now: Instant
  /** For records: our field to theirs. */
  readonly map: Readonly<Record<string, string>>
}

/** One entry to be. What is null is filled by the ingest layer. */
export interface FileDocument {
  /** Its own id where the file gives it one; null: made from the path and `part`. */
  readonly id: string | null
  /** What tells it from the file's other documents, where there are several without an id. */
  readonly part: string | null
  readonly title: string
  readonly content: string
  readonly chunks: readonly ChunkDraft[]
  readonly kind: string
  readonly tags: readonly string[]
  readonly metadata: JsonObject
  readonly createdAt: Instant | null
  readonly updatedAt: Instant | null
  readonly validFrom: Instant | null
  readonly validUntil: Instant | null
  /** Where in the file it begins, for messages. */
  readonly line: number | null
  /** Of a whole file: other files that its text links to, as it names them, and other names that it goes by. */
  readonly links?: readonly FileLink[] | undefined
  readonly aliases?: readonly string[] | undefined
  /** Rows of this entry in tables with `ofEntry`, written with it; the column `entry` is filled in. */
  readonly rows?: readonly { readonly table: TableDeclaration; readonly row: Row }[] | undefined
}

export interface FileLink {
  /** A path or a name, `/` between its parts, without heading, block and query. Never empty. */
  readonly target: string
  /** From the folder of the file; else from the folder that was added, or anywhere in it. */
  readonly isRelative: boolean
}

export interface FileProblem {
  /** From 1; null when it concerns the whole file. */
  readonly line: number | null
  readonly message: string
}

export interface FileReading {
  readonly documents: readonly FileDocument[]
  /** What could not be read and is not among the documents; the others count all the same. */
  readonly problems: readonly FileProblem[]
  /** What was read otherwise than it is written; it is among the documents. */
  readonly warnings?: readonly FileProblem[] | undefined
}

export interface Ingester {
  readonly name: string
  /** Raised when it reads differently: then every file is read again. */
  readonly version: number
  /** Larger files are skipped; absent: the limit of the request. */
  readonly maxBytes?: number | undefined
  accepts(file: FileName): boolean
  /** In steps of some milliseconds. Never throws for what a file holds: that is a problem in the reading. */
  read(file: SourceFile, settings: IngestSettings): Steps<FileReading>
}

/** Why a file gives no text: it is encrypted, it has none, or what keeps it from being read. */
export type Unreadable =
  | { readonly kind: 'skipped'; readonly reason: 'encrypted' | 'no_text' }
  | { readonly kind: 'failed'; readonly message: string }

/** Reads one sort of file that is no text as it is, a PDF say. */
export interface DocumentIngester extends Pick<Ingester, 'name' | 'version' | 'accepts'> {
  /** Larger files are skipped. */
  readonly maxBytes: number
  /** `bytes` are its own: they may be transferred. Rejects only when `signal` aborts. */
  readBytes(bytes: Uint8Array<ArrayBuffer>, file: FileName, signal: AbortSignal): Promise<FileReading | Unreadable>
}

/**
 * An ingester reads one type of file into entries. The ingest layer finds files, decodes them and writes what an ingester returns;
 * ingesters of lenses are tried before the built-in ones.
 */
import type { JsonObject } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import type { Steps } from '../base/turns.ts'
import type { ChunkDraft } from './entry.ts'
import type { Row, TableDeclaration } from './table.ts'

/** File name by which an ingester is chosen. */
export interface FileName {
  /** Path relative to the folder that is added, with parts separated by `/`. */
  readonly path: string
  /** File name, which is the last part of the path. */
  readonly name: string
  /** Extension in lower case, without the dot; empty when there is none. */
  readonly extension: string
}

/** A file as an ingester sees it: decoded, without a byte order mark. */
export interface SourceFile extends FileName {
  readonly text: string
  readonly modifiedAt: Instant
}

export interface IngestSettings {
  /** Time to which relative times in a file refer. */
  readonly now: Instant
  /** For records: the record's field for each field of an entry. */
  readonly map: Readonly<Record<string, string>>
}

/** An entry to be written. Fields that are null are filled in by the ingest layer. */
export interface FileDocument {
  /** Id that the file gives to the document; null: derived from the path and `part`. */
  readonly id: string | null
  /** Distinguishes the document from others of the same file that have no id either. */
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
  /** Line of the file where the document begins, for messages. */
  readonly line: number | null
  /** For a document that is a whole file: other files to which its text links, as named there, and other names of the file. */
  readonly links?: readonly FileLink[] | undefined
  readonly aliases?: readonly string[] | undefined
  /** Rows for this entry in tables with `ofEntry`, written with it; the column `entry` is filled in. */
  readonly rows?: readonly { readonly table: TableDeclaration; readonly row: Row }[] | undefined
}

export interface FileLink {
  /** Target of the link: a path or a name, with `/` between its parts, without heading, block and query. Never empty. */
  readonly target: string
  /** Whether the target is relative to the file's folder; otherwise to the added folder, or anywhere in it. */
  readonly isRelative: boolean
}

export interface FileProblem {
  /** Line of the problem, from 1; null when it concerns the whole file. */
  readonly line: number | null
  readonly message: string
}

export interface FileReading {
  readonly documents: readonly FileDocument[]
  /** Parts that could not be read and are not among the documents; the other documents are valid. */
  readonly problems: readonly FileProblem[]
  /** Parts that were read differently from how they are written; they are among the documents. */
  readonly warnings?: readonly FileProblem[] | undefined
}

export interface Ingester {
  readonly name: string
  /** Version of the ingester, raised when its results change: then every file is read again. */
  readonly version: number
  /** Largest file in bytes; larger ones are skipped. Absent: the limit of the request. */
  readonly maxBytes?: number | undefined
  accepts(file: FileName): boolean
  /** Reads a file in steps of some milliseconds. Never throws because of the file's content, which is reported as a problem. */
  read(file: SourceFile, settings: IngestSettings): Steps<FileReading>
}

/** Why a file gives no text: it is encrypted, it contains none, or an error that prevents reading. */
export type Unreadable =
  | { readonly kind: 'skipped'; readonly reason: 'encrypted' | 'no_text' }
  | { readonly kind: 'failed'; readonly message: string }

/** An ingester for a file type that is not text, such as PDF. */
export interface DocumentIngester extends Pick<Ingester, 'name' | 'version' | 'accepts'> {
  /** Largest file in bytes; larger ones are skipped. */
  readonly maxBytes: number
  /** Reads a file from its bytes, which the ingester owns and may transfer. Rejects only when `signal` aborts. */
  readBytes(bytes: Uint8Array<ArrayBuffer>, file: FileName, signal: AbortSignal): Promise<FileReading | Unreadable>
}

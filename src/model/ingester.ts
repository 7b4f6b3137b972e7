/**
 * An ingester turns files of one type into entries. Other code finds and decodes the files, and writes what an ingester returns; ingesters
 * of lenses are tried before the built-in ones.
 */
import type { JsonObject } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import type { Steps } from '../base/turns.ts'
import type { ChunkDraft } from './entry.ts'
import type { Row, TableDeclaration } from './table.ts'

/** Name of a file, by which the ingester for it is chosen. */
export interface FileName {
  /** Path of the file relative to the added folder, with parts separated by `/`. */
  readonly path: string
  /** File name, which is the last part of the path. */
  readonly name: string
  /** Extension of the file name in lower case, without the dot; empty when there is none. */
  readonly extension: string
}

/** A text file as given to an ingester: decoded, and without a byte order mark. */
export interface SourceFile extends FileName {
  readonly text: string
  readonly modifiedAt: Instant
}

export interface IngestSettings {
  /** Time to which relative times in a file, such as "yesterday", refer. */
  readonly now: Instant
  /** For records: a map from an entry's fields to the names of the record's fields. */
  readonly map: Readonly<Record<string, string>>
}

/** A document read from a file, which becomes an entry. Fields that are null are filled in before the entry is written. */
export interface FileDocument {
  /** Id that the file gives the document; null: an id is derived from the file's path and `part`. */
  readonly id: string | null
  /** Name of the document within its file, which distinguishes it from other documents of the file without an id; null: none is needed. */
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
  /** Line of the file where the document begins, for messages to the user; null: not known. */
  readonly line: number | null
  /**
   * `links`: other files to which the document's text links, as the text names them; `aliases`: other names under which links refer to this
   * file. Both only for a document that is a whole file.
   */
  readonly links?: readonly FileLink[] | undefined
  readonly aliases?: readonly string[] | undefined
  /** Rows to be written with the entry, in tables whose rows belong to entries; the column `entry` is filled in. */
  readonly rows?: readonly { readonly table: TableDeclaration; readonly row: Row }[] | undefined
}

export interface FileLink {
  /**
   * Target of the link, a path or a name with `/` between its parts, without references to a heading or block and without a query part.
   * Never empty.
   */
  readonly target: string
  /**
   * Whether the target is relative to the folder of the linking file; otherwise it is relative to the added folder, or the name of a file
   * anywhere in it.
   */
  readonly isRelative: boolean
}

export interface FileProblem {
  /** Line of the problem, from 1; null when it concerns the whole file. */
  readonly line: number | null
  readonly message: string
}

export interface FileReading {
  readonly documents: readonly FileDocument[]
  /** Parts of the file that could not be read and are missing from the documents; the documents are valid nevertheless. */
  readonly problems: readonly FileProblem[]
  /** Parts of the file that were read differently from how they are written; the documents contain them. */
  readonly warnings?: readonly FileProblem[] | undefined
}

export interface Ingester {
  readonly name: string
  /** Version of the ingester, raised when its results change; every file is then read again. */
  readonly version: number
  /** Size in bytes above which files are skipped; absent: the limit given with the request. */
  readonly maxBytes?: number | undefined
  accepts(file: FileName): boolean
  /**
   * Reads a file, pausing every few milliseconds for other work. Problems in the file's content are reported in the result, never thrown.
   */
  read(file: SourceFile, settings: IngestSettings): Steps<FileReading>
}

/** Why no text was read from a file: it is encrypted, it contains no text, or an error prevented reading. */
export type Unreadable =
  | { readonly kind: 'skipped'; readonly reason: 'encrypted' | 'no_text' }
  | { readonly kind: 'failed'; readonly message: string }

/** An ingester for files that are not text, such as PDF. */
export interface DocumentIngester extends Pick<Ingester, 'name' | 'version' | 'accepts'> {
  /** Size in bytes above which files are skipped. */
  readonly maxBytes: number
  /**
   * Reads a file from its bytes. The ingester owns the bytes and may transfer them to another thread. Rejects only when `signal` aborts.
   */
  readBytes(bytes: Uint8Array<ArrayBuffer>, file: FileName, signal: AbortSignal): Promise<FileReading | Unreadable>
}

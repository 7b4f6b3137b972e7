/** Documents that are no text as they are. The parsers are loaded by the thread that reads them, when the first one is read. */
import { Turns } from '../../base/turns.ts'
import type { DocumentIngester, FileName, FileReading, Unreadable } from '../../model/ingester.ts'
import { chunkInSteps } from '../../text/chunk.ts'
import { firstHeading } from '../../text/outline.ts'
import { nameWithoutExtension, titleOf, WHOLE_FILE } from '../values.ts'
import type { DocumentText } from './document.ts'
import type { DocumentFormat } from './document-worker.ts'

const MAX_BYTES = 64 * 1024 * 1024

const EXTENSIONS: Readonly<Record<DocumentFormat, readonly string[]>> = {
  docx: ['docx', 'docm', 'dotx'],
  eml: ['eml'],
  epub: ['epub'],
  odp: ['odp'],
  ods: ['ods'],
  odt: ['odt', 'ott'],
  pdf: ['pdf'],
  pptx: ['pptx', 'pptm', 'ppsx'],
  rtf: ['rtf'],
  xlsx: ['xlsx', 'xlsm'],
}

/** Raised when that format is read differently. */
const VERSIONS: Readonly<Partial<Record<DocumentFormat, number>>> = { pdf: 2 }

export const documents: readonly DocumentIngester[] = Object.entries(EXTENSIONS).map(([name, extensions]) => {
  const format = name as DocumentFormat
  return {
    ...{ name, version: VERSIONS[format] ?? 1, maxBytes: MAX_BYTES },
    accepts: file => extensions.includes(file.extension),
    readBytes: (bytes, file, signal) => read(format, bytes, file, signal),
  }
})

async function read(
  format: DocumentFormat,
  bytes: Uint8Array<ArrayBuffer>,
  file: FileName,
  signal: AbortSignal,
): Promise<FileReading | Unreadable> {
  const { inDocumentThread } = await import('./document-thread.ts')
  const reply = await inDocumentThread({ format, bytes, file }, signal)
  return reply.kind === 'text' ? await readingOf(reply.document, file) : reply
}

async function readingOf(document: DocumentText, file: FileName): Promise<FileReading> {
  const { text, headings, blocks, places, tags = [], metadata, createdAt, updatedAt, warnings = [] } = document
  const chunks = await new Turns().run(chunkInSteps(text, { form: 'prose', headings, blocks, places }))
  const entry = {
    ...WHOLE_FILE,
    title: titleOf(document.title) || titleOf(firstHeading(headings)) || nameWithoutExtension(file),
    ...{ content: text, chunks, kind: 'document', tags, metadata: { ...metadata, path: file.path } },
    ...{ createdAt: createdAt ?? null, updatedAt: updatedAt ?? null },
  }
  return { documents: [entry], problems: [], warnings: warnings.map(message => ({ line: null, message })) }
}

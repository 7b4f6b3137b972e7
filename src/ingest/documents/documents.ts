/**
 * Ingesters for documents that are not plain text, such as PDF or Word. Such a document is read in a worker thread, which loads a format's
 * parser when it reads the first document of that format.
 */

import { siblingModule } from '../../base/module-url.ts'
import { Thread } from '../../base/thread.ts'
import { Turns } from '../../base/turns.ts'
import type { DocumentIngester, FileName, FileReading, Unreadable } from '../../model/ingester.ts'
import { chunkInSteps } from '../../text/chunk.ts'
import { firstHeading } from '../../text/outline.ts'
import { nameWithoutExtension, titleOf, WHOLE_FILE } from '../values.ts'
import type { DocumentText } from './document.ts'
import type { DocumentFormat, DocumentReply, DocumentRequest } from './document-worker.ts'

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

/**
 * Version of the reader of each format; 1 if not listed. It is increased when the reader gives a different text, so that files read by an
 * earlier version are read again.
 */
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

// Reads documents one after the other in a worker thread, each within limits of time and memory. A document that exceeds a limit is
// rejected, and the thread is ended. A thread without work ends itself after a while.

/** Time limit for reading one document in milliseconds. For comparison: a PDF of 10,000 pages takes 16 s. */
const TIME_LIMIT = 60_000
/** Limit of the JavaScript heap of the thread that reads documents, in MiB; the bytes of files are outside the heap and do not count. */
const MEMORY_LIMIT = 1024
/** Time without work after which the thread that reads documents ends, in milliseconds. */
const IDLE = 1_000

const thread = new Thread<DocumentRequest, DocumentReply>(siblingModule(import.meta.url, 'document-worker'), {
  name: 'querent documents',
  resourceLimits: { maxOldGenerationSizeMb: MEMORY_LIMIT },
  idleMs: IDLE,
})

/**
 * Reads a document in the worker thread. The document's bytes are transferred to the thread, so the caller can no longer use them. Rejects
 * if `signal` is aborted.
 */
export async function inDocumentThread(
  request: DocumentRequest,
  signal: AbortSignal,
  timeLimit: number = TIME_LIMIT,
): Promise<DocumentReply> {
  try {
    return await thread.ask(request, { transfer: [request.bytes.buffer], signal, timeLimit })
  } catch (error) {
    if (signal.aborted) throw signal.reason
    const { code, message } = error as Error & { readonly code?: string }
    return { kind: 'failed', message: reasonOf(code, timeLimit) ?? `damaged: ${message}` }
  }
}

/** Message that names the exceeded limit of the worker thread; undefined if the thread did not end because of a limit. */
function reasonOf(code: string | undefined, timeLimit: number): string | undefined {
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return `reading it took more than ${MEMORY_LIMIT} MiB of memory`
  return code === 'ERR_THREAD_LATE' ? `reading it took more than ${timeLimit / 1000} seconds` : undefined
}

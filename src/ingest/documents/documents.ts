/** Documents that are no text as they are. The parsers are loaded by the thread that reads them, when the first one is read. */

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

// Reads documents one after the other in a thread of their own, each within a time and a memory: one that needs more is refused, and
// the thread ended with it. The thread ends by itself when there has been nothing to read for a while.

/** Milliseconds for one document. 10,000 pages of a PDF take 16 s. */
const TIME_LIMIT = 60_000
/** MiB of the heap of JavaScript; buffers come on top. */
const MEMORY_LIMIT = 1024
/** Milliseconds. */
const IDLE = 1_000

const thread = new Thread<DocumentRequest, DocumentReply>(siblingModule(import.meta.url, 'document-worker'), {
  name: 'querent documents',
  resourceLimits: { maxOldGenerationSizeMb: MEMORY_LIMIT },
  idleMs: IDLE,
})

/** The bytes are transferred. Rejects when `signal` aborts. */
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

/** Undefined: the document itself is the reason. */
function reasonOf(code: string | undefined, timeLimit: number): string | undefined {
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return `reading it took more than ${MEMORY_LIMIT} MiB of memory`
  return code === 'ERR_THREAD_LATE' ? `reading it took more than ${timeLimit / 1000} seconds` : undefined
}

/**
 * Reads documents one after the other in a thread of their own, each within a time and a memory: one that needs more is refused, and
 * the thread ended with it. The thread ends by itself when there has been nothing to read for a while.
 */
import { siblingModule } from '../../base/module-url.ts'
import { Thread } from '../../base/thread.ts'
import type { DocumentReply, DocumentRequest } from './document-worker.ts'

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

/**
 * Starts worker threads that work on a store file (`store-worker.ts`), since a single SQLite statement may read all of the file or write
 * much of it, which would block the main thread (QE-019).
 */
import { siblingModule } from '../base/module-url.ts'
import { Thread } from '../base/thread.ts'
import { type ErrorCode, QuerentError } from '../model/errors.ts'
import type { StoreFinding } from './care/problem.ts'
import type { StoreOrder } from './store-worker.ts'

/**
 * Starts a thread that folds the write-ahead log. The thread does not keep the process alive, since the log is also folded when the store
 * is closed.
 */
export function foldThread(file: string): Thread<StoreOrder, boolean> {
  return new Thread(siblingModule(import.meta.url, 'store-worker'), { workerData: file, keepsAlive: false })
}

/**
 * Examines a store file for damage in a separate thread. Rejects with the errors of the examination, and with `cancelled` where the signal
 * ends it.
 */
export async function examineAside(file: string, signal: AbortSignal): Promise<readonly StoreFinding[]> {
  const thread = new Thread<StoreOrder, readonly StoreFinding[]>(siblingModule(import.meta.url, 'store-worker'), {
    workerData: file,
  })
  try {
    return await thread.ask('examine', { signal })
  } catch (error) {
    if (signal.aborted) throw new QuerentError('cancelled', 'the caller ended the examination')
    const { code, details, message } = error as QuerentError
    throw details === undefined ? error : new QuerentError(code as ErrorCode, message, details)
  } finally {
    await thread.end()
  }
}

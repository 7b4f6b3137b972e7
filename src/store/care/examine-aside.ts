/** The examination of a store file in a thread of its own (QE-019): one statement of SQLite reads the whole file. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { siblingModule } from '../../base/module-url.ts'
import { type ErrorCode, QuerentError } from '../../model/errors.ts'
import type { StoreFinding } from './problem.ts'

export type ExaminedAside =
  | { readonly findings: readonly StoreFinding[] }
  | { readonly failure: Pick<QuerentError, 'code' | 'message' | 'details'> }

/** As `examineStore`. Rejects with what that throws, and with `cancelled` where the signal ends it. */
export async function examineAside(file: string, signal: AbortSignal): Promise<readonly StoreFinding[]> {
  const worker = new Worker(siblingModule(import.meta.url, 'examine-worker'), { workerData: file })
  try {
    const [reply] = (await once(worker, 'message', { signal })) as [ExaminedAside]
    if ('findings' in reply) return reply.findings
    const { code, message, details } = reply.failure
    throw new QuerentError(code as ErrorCode, message, details)
  } catch (error) {
    if (signal.aborted) throw new QuerentError('cancelled', 'the caller ended the examination')
    throw error
  } finally {
    await worker.terminate()
  }
}

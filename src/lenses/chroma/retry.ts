/** Database trouble (CQ-106): work that met a busy store is tried again, and what remains is told as a DatabaseError. */
import { QuerentError } from '../../model/errors.ts'
import type { LensHost } from '../lens.ts'
import { ChromaError, DatabaseError } from './errors.ts'

/** Before the second to the fifth attempt, ms. */
const WAITS: readonly number[] = [50, 100, 200, 400]

/** Codes by which a store tells of its file, not of what it was asked. */
const FAILURES: readonly string[] = ['store_readonly', 'store_corrupt', 'io_failed', 'internal']

/** `work` must have no effect when it throws: it is run again. */
export async function retrying<T>(work: () => T | Promise<T>, sleep: Sleep): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof QuerentError) || error instanceof ChromaError) throw error
      const wait = WAITS[attempt - 1]
      if (error.kind === 'busy' && wait !== undefined) await sleep(wait)
      else throw asDatabaseError(error, attempt)
    }
  }
}

/** As `retrying`, for work that writes at once: it waits for a long write of this process, so as not to run that to its end in one piece. */
export async function retryingWrite<T>(
  work: () => T | Promise<T>,
  { host: { store }, sleep }: { readonly host: Pick<LensHost, 'store'>; readonly sleep: Sleep },
): Promise<T> {
  for (let busy = store.whenFree(); busy !== null; busy = store.whenFree()) await busy
  return retrying(work, sleep)
}

/** Trouble of the store as a `DatabaseError`; any other error as it is. */
export function asDatabaseError(error: unknown, attempts: number): unknown {
  if (!(error instanceof QuerentError) || error instanceof ChromaError) return error
  if (error.kind === 'busy') return new DatabaseError(error.message, { retryable: true, attempts }, error)
  if (!FAILURES.includes(error.code)) return error
  const reason = error.code === 'store_corrupt' ? { reason: error.code } : {}
  return new DatabaseError(error.message, { retryable: false, attempts, ...reason }, error)
}

/** Machine time for what waits or is put off: it is no matter of the engine's clock. */

export type Sleep = (ms: number) => Promise<void>

export const sleepFor: Sleep = ms => new Promise(resolve => setTimeout(resolve, ms))

/** Calls `run` once after so many ms; what it returns calls that off. */
export type Timer = (run: () => void, ms: number) => () => void

/** Does not keep the process alive. */
export const machineTimer: Timer = (run, ms) => {
  const timeout = setTimeout(run, ms).unref()
  return () => clearTimeout(timeout)
}

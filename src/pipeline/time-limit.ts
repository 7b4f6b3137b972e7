/** Errors of a query that runs out of time or is cancelled, and helpers that throw them. */
import type { Deadline } from '../base/clock.ts'
import { Turns } from '../base/turns.ts'
import { QuerentError } from '../model/errors.ts'
import type { QueryContext } from './context.ts'

/** Throws `deadline_exceeded` or `cancelled` when the query's time is over. */
export function assertTimeLeft(context: QueryContext): void {
  assertNotCancelled(context)
  if (context.deadline.over) throw lateError(context)
}

/** Throws `cancelled` when the caller has cancelled the query. */
export function assertNotCancelled({ deadline }: QueryContext): void {
  if (deadline.signal.aborted) throw calledOff()
}

/** Makes the scheduler of pauses for a piece of work that ends with the error `cancelled` when the signal is aborted. */
export function turnsUntil(signal: AbortSignal): Turns {
  return new Turns(() => {
    if (signal.aborted) throw calledOff()
  })
}

export function lateError({ query: { timeoutMs } }: QueryContext): QuerentError {
  return new QuerentError('deadline_exceeded', `the query took longer than ${timeoutMs} ms`, {
    timeout_ms: timeoutMs,
  })
}

/** Whether time ran out before the query's vector was ready. */
export function isLate({ notes }: QueryContext): boolean {
  return notes.some(({ code }) => code === 'meaning_late')
}

/**
 * The result of `work`, or null when the time limit passes first; then the signal given to the work is aborted, since its result is no
 * longer needed, and `onLate` is called. Rejects with `cancelled` when the caller cancels.
 */
export async function inTime<T>(
  work: (late: AbortSignal) => Promise<T>,
  { signal, leftMs }: Pick<Deadline, 'signal' | 'leftMs'>,
  onLate: () => void = () => {},
): Promise<T | null> {
  const late = new AbortController()
  const done = untilAborted(work(late.signal), signal)
  if (leftMs === Number.POSITIVE_INFINITY) return done
  const timeUp = Promise.withResolvers<typeof TIME_UP>()
  const timer = setTimeout(() => timeUp.resolve(TIME_UP), leftMs)
  try {
    const result = await Promise.race([done, timeUp.promise])
    if (result !== TIME_UP) return result
    onLate()
    late.abort()
    return null
  } finally {
    clearTimeout(timer)
  }
}

const TIME_UP = Symbol('time was up')

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const stopped = Promise.withResolvers<never>()
  const stop = () => stopped.reject(calledOff())
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([work, stopped.promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function calledOff(): QuerentError {
  return new QuerentError('cancelled', 'the caller cancelled the query')
}

/** Searches the collections of one request in parallel. Each search ends separately, and all of them end at the deadline. */
import type { Deadline } from '../base/clock.ts'
import { type CollectionAnswer, failedCollection, type SourceAnswer, type SourceRequest } from '../pipeline/source.ts'
import { errorOf, SourceFailure } from './failure.ts'

export type AskOne = (collection: string, signal: AbortSignal) => Promise<CollectionAnswer>

/** Longest delay in ms that a JavaScript timer supports, about 25 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export async function askEach(source: string, request: SourceRequest, ask: AskOne): Promise<SourceAnswer> {
  const begin = performance.now()
  const { collections, deadline } = request
  const signal = signalOf(deadline)
  const answers = collections.map(collection => askOne(collection, ask, signal, deadline))
  return { source, collections: await Promise.all(answers), ms: performance.now() - begin }
}

/** A signal that is aborted when the deadline's time passes or the deadline's own signal is aborted. */
export function signalOf(deadline: Deadline): AbortSignal {
  const { leftMs, signal } = deadline
  if (leftMs > LONGEST_TIMER_MS) return signal
  return AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(leftMs))])
}

async function askOne(
  collection: string,
  ask: AskOne,
  signal: AbortSignal,
  deadline: Deadline,
): Promise<CollectionAnswer> {
  try {
    if (deadline.over) throw outOfTime(collection, deadline)
    return await untilAborted(ask(collection, signal), signal, () => outOfTime(collection, deadline))
  } catch (thrown) {
    // After an abort or the deadline, the failure is reported as a timeout or cancellation, not as the error that the client library throws
    // for an aborted request.
    const failure = signal.aborted || deadline.over ? outOfTime(collection, deadline) : thrown
    return failedCollection(collection, errorOf(failure, collection))
  }
}

/**
 * Resolves with the result of a request, or rejects with the given failure as soon as the signal is aborted, even if the other side ignores
 * the signal.
 */
export function untilAborted<T>(asked: Promise<T>, signal: AbortSignal, failure: () => SourceFailure): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(failure())
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    asked.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

function outOfTime(collection: string, { signal }: Deadline): SourceFailure {
  if (signal.aborted) return new SourceFailure('cancelled', `${collection}: the caller stopped it`)
  return new SourceFailure('timeout', `${collection}: no answer within the time allowed`)
}

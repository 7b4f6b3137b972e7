/** Asks several sources at once. Each has its own time; one that fails, or does not come back, costs the others nothing. */
import { Deadline } from '../base/clock.ts'
import { failedCollection, type Source, type SourceAnswer, type SourceRequest } from '../pipeline/source.ts'
import { signalOf } from './ask-each.ts'
import { errorOf, SourceFailure } from './failure.ts'

export interface FanOut {
  readonly request: SourceRequest
  /** Most time for any one source; the request's deadline holds too. */
  readonly timeoutMs: number
}

/** One answer a source, in the order given; an answer that did not come is one failure for each collection asked. */
export function askSources(
  sources: readonly Source[],
  { request, timeoutMs }: FanOut,
): Promise<readonly SourceAnswer[]> {
  return Promise.all(sources.map(source => askOne(source, request, timeoutMs)))
}

async function askOne(source: Source, request: SourceRequest, timeoutMs: number): Promise<SourceAnswer> {
  const begin = performance.now()
  const { signal: stop, leftMs } = request.deadline
  const deadline = new Deadline(Math.min(timeoutMs, leftMs), stop)
  try {
    return await orLate(source.ask({ ...request, deadline }), deadline)
  } catch (thrown) {
    const error = (collection: string) => errorOf(thrown, collection)
    const collections = request.collections.map(collection => failedCollection(collection, error(collection)))
    return { source: source.name, collections, ms: performance.now() - begin }
  }
}

/** A little more than the source was given: it knows better what it was waiting for. */
const GRACE_MS = 50

function orLate<T>(asked: Promise<T>, deadline: Deadline): Promise<T> {
  const signal = signalOf(new Deadline(deadline.leftMs + GRACE_MS))
  return new Promise((resolve, reject) => {
    const late = () => reject(new SourceFailure('timeout', 'the source did not come back in time'))
    signal.addEventListener('abort', late, { once: true })
    asked.then(resolve, reject).finally(() => signal.removeEventListener('abort', late))
  })
}

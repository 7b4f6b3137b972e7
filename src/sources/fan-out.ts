/**
 * Searches several sources in parallel, each with its own time limit; a source that fails or does not answer does not affect the others.
 */
import { Deadline } from '../base/clock.ts'
import { failedCollection, type Source, type SourceAnswer, type SourceRequest } from '../pipeline/source.ts'
import { signalOf, untilAborted } from './ask-each.ts'
import { errorOf, SourceFailure } from './failure.ts'

/** Time in ms that a source gets beyond its own limit to report its own timeout error, which says better what it was waiting for. */
const GRACE_MS = 50

export interface FanOut {
  readonly request: SourceRequest
  /** Time limit in ms for each source; the request's deadline applies too. */
  readonly timeoutMs: number
}

/**
 * Searches the sources and returns one answer per source, in the given order. A source that does not answer is reported as failed for each
 * requested collection.
 */
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
    const asked = source.ask({ ...request, deadline })
    const late = signalOf(new Deadline(deadline.leftMs + GRACE_MS))
    return await untilAborted(asked, late, () => new SourceFailure('timeout', 'the source did not answer in time'))
  } catch (thrown) {
    const error = (collection: string) => errorOf(thrown, collection)
    const collections = request.collections.map(collection => failedCollection(collection, error(collection)))
    return { source: source.name, collections, ms: performance.now() - begin }
  }
}

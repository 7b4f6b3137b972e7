/** Tells that answers have changed, for one listener: each question is a live query of the engine as the listener's viewer. */
import type { JsonObject } from '../../../base/canonical.ts'
import type { Engine } from '../../../engine/engine.ts'
import { invalidArgument } from '../../../model/errors.ts'
import type { CallContext } from '../../../model/operation.ts'
import { streamOperation } from '../../../ops/catalog.ts'
import { watch } from '../../../ops/watch-op.ts'
import type { ServerOptions } from '../server-options.ts'
import { questionAt } from './live-uri.ts'

export interface Listener {
  /** Once for what changed together. */
  changed(uri: string): void
  /** The engine tells no more of any of them: it was closed, or the viewer may ask no longer. */
  ended(): void
}

/** Questions that one request may listen to. */
const MOST_QUESTIONS = 20

/**
 * Resolves when every question stands. Rejects as asking would, with `invalid_argument` for what is no question's address,
 * and `rate_limited`; then none stands. Until the signal.
 */
export async function listenTo(
  engine: Engine,
  uris: readonly string[],
  options: ServerOptions,
  signal: AbortSignal,
  listener: Listener,
): Promise<void> {
  const asked = [...new Set(uris)]
  if (asked.length > MOST_QUESTIONS) {
    throw invalidArgument('resourceSubscriptions', asked.length, `at most ${MOST_QUESTIONS} resources`)
  }
  const failed = new AbortController()
  const until = AbortSignal.any([signal, failed.signal])
  const inputs = asked.map(uri => [uri, inputFor(uri, options.lens)] as const)
  const { viewer, remote } = options
  try {
    await Promise.all(
      inputs.map(([uri, input]) => follow(engine, input, { viewer, remote, signal: until }, listener, uri)),
    )
  } catch (thrown) {
    failed.abort()
    throw thrown
  }
}

function inputFor(uri: string, lens: string | undefined): JsonObject {
  const question = questionAt(uri, lens)
  if (question === null) {
    throw invalidArgument(
      'resourceSubscriptions',
      uri,
      'querent://live/<question>, URL-encoded: only questions are watched',
    )
  }
  return { ...question, notify_on_connect: false, include_reranks: true }
}

/** Resolves when it stands. */
async function follow(
  engine: Engine,
  input: JsonObject,
  call: CallContext,
  { changed, ended }: Listener,
  uri: string,
): Promise<void> {
  const pieces = streamOperation(watch, engine, input, call)[Symbol.asyncIterator]()
  await pieces.next()
  const tell = together(() => {
    if (!call.signal.aborted) changed(uri)
  })
  const listen = async (): Promise<void> => {
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
      // Others say that it still stands, or could not be asked for now.
      if ('seq' in next.value) tell()
    }
  }
  void listen()
    .catch(() => {})
    .then(() => {
      if (!call.signal.aborted) ended()
    })
}

/** Several changes of one answer are one reason to read it again. */
function together(act: () => void): () => void {
  let isDue = false
  return () => {
    if (isDue) return
    isDue = true
    setImmediate(() => {
      isDue = false
      act()
    })
  }
}

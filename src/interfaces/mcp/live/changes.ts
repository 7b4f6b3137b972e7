/** Tells that answers have changed, for one listener: each question is a live query of the engine as the listener's viewer. */
import type { McpServer, RequestId } from '@modelcontextprotocol/server'
import type { JsonObject } from '../../../base/canonical.ts'
import type { Engine } from '../../../engine/engine.ts'
import { invalidArgument } from '../../../model/errors.ts'
import type { CallContext } from '../../../model/operation.ts'
import { streamOperation } from '../../../ops/catalog.ts'
import { watch } from '../../../ops/watch-op.ts'
import { isObject } from '../brief.ts'
import { protocolError, type ServerOptions } from '../server-options.ts'

export interface Listener {
  /** Once for what changed together. */
  changed(uri: string): void
  /** The engine tells no more of any of them: it was closed, or the viewer may ask no longer. */
  ended(): void
}

/** Questions that one request may listen to. */
const MAX_QUESTIONS = 20

/**
 * Resolves when every subscription is active. Rejects as asking would, with `invalid_argument` for what is no question's address,
 * and `rate_limited`; then none is active. Until the signal.
 */
export async function listenTo(
  engine: Engine,
  uris: readonly string[],
  options: ServerOptions,
  signal: AbortSignal,
  listener: Listener,
): Promise<void> {
  const asked = [...new Set(uris)]
  if (asked.length > MAX_QUESTIONS) {
    throw invalidArgument('resourceSubscriptions', asked.length, `at most ${MAX_QUESTIONS} resources`)
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

/** Resolves when it is active. */
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
      // Other answers say that it is still active, or could not be asked for now.
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

export const LIVE_TEMPLATE = 'querent://live/{question}'
export const LENS_TEMPLATE = 'querent://live/{question}{?lens}'

export interface LiveQuestion {
  readonly text: string
  readonly lens?: string
}

const FORM = /^querent:\/\/live\/([^/?#]+)(?:\?lens=([^&#]+))?$/

/** Null: no address of a question. `lens` answers where the address names none. */
export function questionAt(uri: string, lens: string | undefined): LiveQuestion | null {
  const [, question, named] = FORM.exec(uri) ?? []
  if (question === undefined) return null
  try {
    const through = named === undefined ? lens : decodeURIComponent(named)
    return { text: decodeURIComponent(question), ...(through !== undefined && { lens: through }) }
  } catch {
    return null
  }
}

/** Of a `subscriptions/listen` request; all else of it the SDK reads and checks. */
export interface ListenMessage {
  readonly id: RequestId
  /** Resources whose changes the client wants to hear of. */
  readonly uris: readonly string[]
}

/** Null: another message, or one that asks for no resource. */
export function listenMessage(message: unknown): ListenMessage | null {
  if (!isObject(message) || message['method'] !== 'subscriptions/listen') return null
  const { id, params } = message
  const filter = isObject(params) ? params['notifications'] : undefined
  const uris = isObject(filter) ? filter['resourceSubscriptions'] : undefined
  if ((typeof id !== 'string' && typeof id !== 'number') || !Array.isArray(uris)) return null
  const texts = uris.filter(uri => typeof uri === 'string')
  // What holds anything else is refused whole.
  return texts.length === 0 || texts.length < uris.length ? null : { id, uris: texts }
}

/** All end with the signal. */
export function takeSubscriptions(
  { server }: McpServer,
  engine: Engine,
  options: ServerOptions,
  signal: AbortSignal,
): void {
  const listening = new Map<string, AbortController>()
  const end = (uri: string): void => {
    listening.get(uri)?.abort()
    listening.delete(uri)
  }
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }) => {
    if (listening.has(uri)) return {}
    const left = new AbortController()
    listening.set(uri, left)
    const changed = (): void => void server.sendResourceUpdated({ uri }).catch(() => end(uri))
    try {
      await listenTo(engine, [uri], options, AbortSignal.any([left.signal, signal]), { changed, ended: () => end(uri) })
    } catch (thrown) {
      end(uri)
      throw protocolError(thrown, options.viewer)
    }
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    end(uri)
    return {}
  })
}

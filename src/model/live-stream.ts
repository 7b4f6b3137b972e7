/** A live query as a stream: for operations whose streamed form is its events. */
import type { JsonObject } from '../base/canonical.ts'
import { Handover } from '../base/handover.ts'
import { QuerentError } from './errors.ts'
import { toIso } from './instant.ts'
import type { LiveEvent, LiveHandlers, Subscription } from './live.ts'

/**
 * First a piece that says that it is active, then an event for each change; each is checked and made when it is taken, so who is
 * slow gets fewer that say as much. Where asking fails for now, a piece of type `error` says so and it goes on. While nothing
 * changes, a piece of type `alive` brings a fresh token each minute, and when asking works again. Nothing is
 * subscribed before the first piece is asked for. Ends with the signal (quietly), when its taker returns, and with the
 * subscription.
 */
export function liveStream(subscribe: Subscribe, signal: AbortSignal, form: LiveStreamForm): AsyncIterable<JsonObject> {
  return { [Symbol.asyncIterator]: () => new LiveIterator(subscribe, signal, form) }
}

/** The signal ends it, also while it begins. */
type Subscribe = (handlers: LiveHandlers, signal: AbortSignal) => Promise<Subscription>

export interface LiveStreamForm {
  /** How an event is put in the stream; absent: as it is. */
  readonly asPiece?: (event: LiveEvent) => JsonObject
  /** What of a failure the viewer is told. */
  readonly told: (thrown: unknown) => QuerentError
}

class LiveIterator implements AsyncIterator<JsonObject, undefined> {
  readonly #subscribe: Subscribe
  readonly #signal: AbortSignal
  readonly #form: LiveStreamForm
  readonly #stopped = new AbortController()
  readonly #events = new Handover<JsonObject>()
  readonly #leave = () => this.#stop()
  #subscription: Promise<Subscription> | null = null
  #isOver = false

  constructor(subscribe: Subscribe, signal: AbortSignal, form: LiveStreamForm) {
    this.#subscribe = subscribe
    this.#signal = signal
    this.#form = form
  }

  async next(): Promise<IteratorResult<JsonObject, undefined>> {
    if (this.#subscription !== null || this.#isOver) return this.#events.next()
    if (this.#signal.aborted) throw new QuerentError('cancelled', 'the caller has gone')
    const { asPiece = (event: LiveEvent) => event as unknown as JsonObject, told } = this.#form
    this.#signal.addEventListener('abort', this.#leave, { once: true })
    const handlers: LiveHandlers = {
      wanted: () => this.#events.wanted(),
      onEvent: event => this.#events.give(asPiece(event)),
      onToken: token => this.#events.give({ type: 'alive', resume_token: token }),
      onError: thrown => this.#events.give({ type: 'error', error: told(thrown).toJSON() }),
      onEnd: why => this.#ended(why),
    }
    this.#subscription = this.#subscribe(handlers, this.#stopped.signal)
    try {
      return { done: false, value: head(await this.#subscription) }
    } catch (error) {
      const isLeft = this.#isOver
      this.#stop()
      if (isLeft) return { done: true, value: undefined }
      throw error
    }
  }

  return(): Promise<IteratorResult<JsonObject, undefined>> {
    this.#stop()
    return Promise.resolve({ done: true, value: undefined })
  }

  #stop(): void {
    this.#isOver = true
    this.#signal.removeEventListener('abort', this.#leave)
    this.#events.end()
    this.#stopped.abort()
    this.#subscription?.then(
      subscription => subscription.cancel(),
      () => undefined,
    )
  }

  #ended(why: 'cancelled' | 'closed' | 'unauthorized'): void {
    this.#events.end(why === 'cancelled' ? null : ending(why))
    this.#stop()
  }
}

function head(subscription: Subscription): JsonObject {
  return {
    type: 'subscribed',
    subscription_id: subscription.id,
    query: subscription.query,
    created_at: toIso(subscription.createdAt),
    began: subscription.began,
    resume_token: subscription.resumeToken(),
  }
}

function ending(why: 'closed' | 'unauthorized'): QuerentError {
  if (why === 'unauthorized') return new QuerentError('unauthenticated', 'watch: this viewer may ask no longer')
  return new QuerentError('cancelled', 'watch: the engine was closed; go on with the last resume token')
}

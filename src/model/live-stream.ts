/** A live query as a stream: for operations whose streamed form is its events. */
import type { JsonObject } from '../base/canonical.ts'
import { Handover } from '../base/handover.ts'
import { QuerentError } from './errors.ts'
import { toIso } from './instant.ts'
import type { LiveEvent, LiveHandlers, Subscription } from './live.ts'

/**
 * First a piece that says that it stands, then an event for each change; each is made when the one before was taken, so who
 * is slow gets fewer that say as much. Nothing is subscribed before the first piece is asked for. Ends with the signal
 * (quietly), when its taker returns, and with the subscription. `asPiece`: how an event is put in the stream.
 */
export function liveStream(
  subscribe: (handlers: LiveHandlers) => Promise<Subscription>,
  signal: AbortSignal,
  asPiece: (event: LiveEvent) => JsonObject = event => event as unknown as JsonObject,
): AsyncIterable<JsonObject> {
  return { [Symbol.asyncIterator]: () => new LiveIterator(subscribe, signal, asPiece) }
}

class LiveIterator implements AsyncIterator<JsonObject, undefined> {
  readonly #subscribe: (handlers: LiveHandlers) => Promise<Subscription>
  readonly #signal: AbortSignal
  readonly #asPiece: (event: LiveEvent) => JsonObject
  readonly #events = new Handover<JsonObject>()
  readonly #leave = () => this.#stop()
  #subscription: Promise<Subscription> | null = null
  #isOver = false

  constructor(
    subscribe: (handlers: LiveHandlers) => Promise<Subscription>,
    signal: AbortSignal,
    asPiece: (event: LiveEvent) => JsonObject,
  ) {
    this.#subscribe = subscribe
    this.#signal = signal
    this.#asPiece = asPiece
  }

  async next(): Promise<IteratorResult<JsonObject, undefined>> {
    if (this.#subscription !== null || this.#isOver) return this.#events.next()
    if (this.#signal.aborted) throw new QuerentError('cancelled', 'the caller has gone')
    this.#subscription = this.#subscribe({
      onEvent: event => this.#events.give(this.#asPiece(event)),
      onEnd: why => this.#ended(why),
    })
    this.#signal.addEventListener('abort', this.#leave, { once: true })
    try {
      return { done: false, value: head(await this.#subscription) }
    } catch (error) {
      this.#stop()
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

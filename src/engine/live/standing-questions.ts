/** Watching what the pipeline answers: makes standing questions of queries and hands them to the live queries of the engine. */
import type { LiveHandlers, LiveQueries, Subscription } from '../../model/live.ts'
import { partWatchInput, type WatchInput } from '../../model/live-input.ts'
import type { CallContext } from '../../model/operation.ts'
import { DEFAULT_LENS_STAGES } from '../../pipeline/default-stages.ts'
import { RecentChanges } from '../../pipeline/recent-changes.ts'
import type { Asking } from '../asking.ts'
import type { Parts } from '../parts.ts'
import { LocalLiveQueries } from './live-queries.ts'
import { PipelineQuestion } from './pipeline-question.ts'
import { ChangedEntries } from './reach.ts'

export class StandingQuestions {
  readonly #parts: Parts
  readonly #asking: Asking
  readonly #live: LocalLiveQueries
  readonly #changed: ChangedEntries
  #changes: RecentChanges | null = null

  constructor(parts: Parts, asking: Asking) {
    this.#parts = parts
    this.#asking = asking
    const { store, clock, random } = parts
    this.#changed = new ChangedEntries(store)
    this.#live = new LocalLiveQueries({ store, clock, random, secret: () => asking.secret() }, parts.live)
  }

  get live(): LiveQueries {
    return this.#live
  }

  async subscribe(input: WatchInput, handlers: LiveHandlers, call: CallContext): Promise<Subscription> {
    const { store, clock, defaultLens, registry } = this.#parts
    this.#changes ??= new RecentChanges(store)
    const { query, options } = partWatchInput(input)
    const question = new PipelineQuestion(query, call.viewer, {
      asking: this.#asking,
      clock,
      changes: this.#changes,
      changed: this.#changed,
      defaultLens,
      isPlain: lens => {
        const { stages } = registry.must(lens)
        return stages === undefined || stages === DEFAULT_LENS_STAGES
      },
      isAllowed: call.isStillAllowed ?? (() => true),
    })
    return subscribeUntil(call.signal, handlers, own => this.#live.subscribe(question, options, own, call.signal))
  }

  close(): void {
    this.#live.close()
  }
}

/** The signal ends the subscription, and is left alone when it has ended otherwise. */
async function subscribeUntil(
  signal: AbortSignal,
  handlers: LiveHandlers,
  subscribe: (handlers: LiveHandlers) => Promise<Subscription>,
): Promise<Subscription> {
  let stop = () => {}
  const subscription = await subscribe({
    wanted: () => handlers.wanted?.() ?? null,
    onEvent: event => handlers.onEvent(event),
    ...(handlers.onToken && { onToken: token => handlers.onToken?.(token) }),
    onError: error => handlers.onError?.(error),
    onEnd: why => {
      signal.removeEventListener('abort', stop)
      handlers.onEnd?.(why)
    },
  })
  stop = () => subscription.cancel()
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  return subscription
}

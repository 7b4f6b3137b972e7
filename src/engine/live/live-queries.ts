/**
 * The standing questions of an engine. While anybody subscribes it is looked at fixed times whether anything was committed,
 * here or by another process; then each subscription is asked whether that concerns it. Looking with each commit would be
 * sooner, and tell by its hour that something hidden was written (BQ-169).
 */
import type { Clock } from '../../base/clock.ts'
import { v4Id } from '../../base/random-id.ts'
import { Places } from '../../identity/places.ts'
import type {
  LiveHandlers,
  LiveOptions,
  LiveQueries,
  LiveState,
  StandingQuestion,
  Subscription,
} from '../../model/live.ts'
import { isOwner, type Viewer } from '../../model/viewer.ts'
import type { Store } from '../../store/store.ts'
import { closedError } from '../ending.ts'
import type { Delivered } from './difference.ts'
import { KeptStates, MOST_EVENTS_SINCE } from './kept-states.ts'
import { type Begun, LiveSubscription, type LiveWorld } from './live-subscription.ts'
import { LiveMachine } from './machine.ts'
import { type Resumption, readToken, TOKEN_REFRESH_MS } from './resume-token.ts'
import { Scheduler } from './scheduler.ts'
import { systemTimers, type Timers } from './timers.ts'

export interface LiveSettings {
  /**
   * Active and paused subscriptions that a viewer may have, and all keys that are no agent here together; the local owner
   * has no limit. Default 50 (BQ-167).
   */
  readonly mostPerViewer?: number | undefined
  /** How often to look for commits, in milliseconds: so late a loss of access may be told. Default 50. */
  readonly pollMs?: number | undefined
  /** Machine time; tests drive it by hand. */
  readonly timers?: Timers | undefined
}

export interface LiveParts {
  readonly store: Pick<Store, 'version'>
  readonly clock: Clock
  readonly random: (bytes: number) => Uint8Array
  /** Seals resume tokens; the same for every process on the store. */
  secret(): string
}

const MOST_PER_VIEWER = 50
export const DEFAULT_POLL_MS = 50
/** One may come back so long after a stream was lost (BQ-165). */
const LIFE_MS = 10 * 60_000
/** Subscriptions looked at before others get a turn. */
const CHECKS_A_TURN = 100

export class LocalLiveQueries implements LiveQueries {
  readonly #parts: LiveParts
  readonly #places: Places
  readonly #pollMs: number
  readonly #timers: Timers
  readonly #world: LiveWorld
  readonly #subscriptions = new Map<string, LiveSubscription>()
  /** What gives the place of each back. */
  readonly #frees = new WeakMap<LiveSubscription, () => void>()
  #version: number | null = null
  #stopPolling: (() => void) | null = null
  #isChecking = false
  readonly #closing = new AbortController()

  constructor(parts: LiveParts, { mostPerViewer, pollMs, timers = systemTimers }: LiveSettings = {}) {
    this.#parts = parts
    this.#places = new Places(mostPerViewer ?? MOST_PER_VIEWER, 'subscriptions')
    this.#pollMs = pollMs ?? DEFAULT_POLL_MS
    this.#timers = timers
    this.#world = {
      clock: parts.clock,
      timers,
      scheduler: new Scheduler(timers),
      kept: new KeptStates(),
      secret: () => parts.secret(),
      ended: subscription => this.#ended(subscription),
    }
  }

  async subscribe(
    question: StandingQuestion,
    options: LiveOptions,
    handlers: LiveHandlers,
    signal?: AbortSignal,
  ): Promise<Subscription> {
    const { viewer } = question
    this.#mustBeOpen()
    const resumption = this.#resumptionOf(question, options)
    // Who comes back takes the place of the subscription that was left behind.
    const isReturning = resumption !== null && this.#subscriptions.has(resumption.subscription)
    const free = this.#places.take(viewer.id, isReturning || isOwner(viewer))
    try {
      const state = await this.#firstAnswer(question, signal)
      this.#mustBeOpen()
      const begun = this.#begun(question, options, resumption, state)
      const subscription = this.#begin(question, options, handlers, begun)
      this.#frees.set(subscription, free)
      return subscription
    } catch (error) {
      free()
      throw error
    }
  }

  count(viewer?: Viewer): number {
    if (viewer === undefined) return this.#subscriptions.size
    return [...this.#subscriptions.values()].filter(({ question }) => question.viewer.id === viewer.id).length
  }

  endAll(viewer: Viewer): void {
    for (const subscription of [...this.#subscriptions.values()]) {
      if (subscription.question.viewer.id === viewer.id) subscription.end('unauthorized')
    }
  }

  close(): void {
    this.#closing.abort()
    for (const subscription of [...this.#subscriptions.values()]) subscription.end('closed')
  }

  #firstAnswer(question: StandingQuestion, caller: AbortSignal | undefined): Promise<LiveState> {
    const closing = this.#closing.signal
    const signal = caller === undefined ? closing : AbortSignal.any([closing, caller])
    return this.#world.scheduler.run(stop => question.ask(stop), { timeoutMs: question.timeoutMs, signal })
  }

  #begin(question: StandingQuestion, options: LiveOptions, handlers: LiveHandlers, begun: Begun): LiveSubscription {
    this.#subscriptions.get(begun.id)?.end('cancelled')
    const subscription = new LiveSubscription(question, options, handlers, begun, this.#world)
    this.#subscriptions.set(begun.id, subscription)
    if (this.#stopPolling === null) this.#poll()
    // After the caller has the subscription in hand. What happened while it was asked is looked for then too.
    void this.#timers.turn().then(() => {
      subscription.check(this.#parts.clock.now())
      subscription.pump()
    })
    return subscription
  }

  #begun(question: StandingQuestion, options: LiveOptions, resumption: Resumption | null, answer: LiveState): Begun {
    const delivered = resumption && this.#deliveredTo(resumption)
    const machine = new LiveMachine(options, delivered ?? { items: [], asOf: answer.asOf })
    const lost = question.lost([...machine.known, ...answer.items])
    machine.lose(lost)
    const state = { ...answer, items: answer.items.filter(({ key }) => !lost.includes(key)) }
    if (resumption === null) {
      machine.open(state, options.notifyOnConnect ? 'initial' : 'silent')
      return { id: v4Id(this.#parts.random), seq: 0, began: 'anew', machine, state }
    }
    const isLate = delivered === null || this.#isLate(resumption)
    machine.open(state, isLate ? 'resync' : 'continue')
    const { subscription: id, seq: given } = resumption
    const seq = isLate ? Math.max(given, this.#world.kept.progressOf(id)?.seq ?? 0) : given
    this.#world.kept.forget(id)
    return { id, seq, began: isLate ? 'resync' : 'continued', machine, state }
  }

  #resumptionOf(question: StandingQuestion, { resumeToken }: LiveOptions): Resumption | null {
    return resumeToken === null ? null : readToken(this.#parts.secret(), question, resumeToken)
  }

  /** What had been told with that token; null: nobody knows any more. */
  #deliveredTo({ subscription, seq, items, asOf }: Resumption): Delivered | null {
    if (items !== null) return { items, asOf }
    const { kept } = this.#world
    return kept.stateBefore(subscription, (kept.progressOf(subscription)?.seq ?? Number.POSITIVE_INFINITY) - seq)
  }

  #isLate({ subscription, seq, at }: Resumption): boolean {
    const progress = this.#world.kept.progressOf(subscription)
    if ((progress?.seq ?? seq) - seq > MOST_EVENTS_SINCE) return true
    const now = this.#parts.clock.now()
    // Of what was told it is the last, and it was left here, or is thought to stand still.
    const { left } = progress?.seq === seq ? progress : { left: at - 1 }
    if (left === null) return false
    if (left >= at) return now - left > LIFE_MS
    // Left elsewhere, or while it was being told more: at the latest when the next token was due.
    return now - at > LIFE_MS + TOKEN_REFRESH_MS
  }

  #mustBeOpen(): void {
    if (this.#closing.signal.aborted) throw closedError()
  }

  #ended(subscription: LiveSubscription): void {
    this.#subscriptions.delete(subscription.id)
    this.#frees.get(subscription)?.()
    if (this.#subscriptions.size > 0) return
    this.#stopPolling?.()
    this.#stopPolling = null
  }

  #poll(): void {
    this.#stopPolling = this.#timers.after(this.#pollMs, () => {
      this.#poll()
      this.#look()
    })
  }

  /** Time is looked at each time, what was written where the version says that anything was. */
  #look(): void {
    if (this.#isChecking) return
    const version = this.#versionNow()
    if (version !== this.#version) {
      this.#version = version
      void this.#checkAll()
      return
    }
    const now = this.#parts.clock.now()
    for (const subscription of [...this.#subscriptions.values()]) subscription.passed(now)
  }

  #versionNow(): number | null {
    try {
      return this.#parts.store.version()
    } catch {
      return null
    }
  }

  async #checkAll(): Promise<void> {
    this.#isChecking = true
    const now = this.#parts.clock.now()
    for (const [at, subscription] of [...this.#subscriptions.values()].entries()) {
      if (at > 0 && at % CHECKS_A_TURN === 0) await this.#timers.turn()
      subscription.check(now)
    }
    this.#isChecking = false
  }
}

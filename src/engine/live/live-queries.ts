/**
 * All live queries (subscriptions) of an engine. While there are any, the engine checks at fixed times whether anything was committed, by
 * any process; each subscription then checks whether the commits concern it. Checking right after each commit would be faster, but the time
 * of an event would reveal that something hidden was written (BQ-169).
 */
import { v4Id } from '../../base/canonical.ts'
import { systemTimers, type Timers } from '../../base/turns.ts'
import { Places } from '../../identity/rates.ts'
import type { LiveHandlers, LiveOptions, LiveQueries, LiveQuery, LiveState, Subscription } from '../../model/live.ts'
import { isOwner, type Viewer } from '../../model/viewer.ts'
import type { Store } from '../../store/store.ts'
import { closedError } from '../ending.ts'
import { DEFAULT_POLL_MS, type LiveSettings } from '../options.ts'
import { LiveMachine } from './difference.ts'
import { KeptStates, MAX_EVENTS_SINCE, type Resumption, readToken, TOKEN_LIFE_MS } from './resume.ts'
import { Scheduler } from './schedule.ts'
import { type Begun, LiveSubscription, type LiveWorld, valueOr } from './subscription.ts'

export interface LiveParts extends Pick<LiveWorld, 'clock' | 'secret'> {
  readonly store: Pick<Store, 'version' | 'read'>
  readonly random: (bytes: number) => Uint8Array
}

const MAX_PER_VIEWER = 50
/** Number of subscriptions that are checked for changes without a pause, before other tasks get a turn. */
const CHECKS_A_TURN = 100

export class LocalLiveQueries implements LiveQueries {
  readonly #parts: LiveParts
  readonly #places: Places
  readonly #pollMs: number
  readonly #timers: Timers
  readonly #world: LiveWorld
  readonly #subscriptions = new Map<string, LiveSubscription>()
  /**
   * For each subscription, the function to call at its end: it gives back the viewer's place in the limit on subscriptions, and stops
   * listening to the caller's abort signal.
   */
  readonly #releases = new WeakMap<LiveSubscription, () => void>()
  #version: number | null = null
  #stopPolling: (() => void) | null = null
  #isChecking = false
  readonly #closing = new AbortController()

  constructor(parts: LiveParts, { mostPerViewer, pollMs, timers = systemTimers }: LiveSettings = {}) {
    this.#parts = parts
    this.#places = new Places(mostPerViewer ?? MAX_PER_VIEWER, 'subscriptions')
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
    source: LiveQuery,
    options: LiveOptions,
    handlers: LiveHandlers,
    signal?: AbortSignal,
  ): Promise<Subscription> {
    const { viewer } = source
    this.#mustBeOpen()
    const { resumeToken } = options
    const resumption = resumeToken === null ? null : readToken(this.#parts.secret(), source, resumeToken)
    // A subscriber that reconnects with a resume token takes over the place, in the limit on subscriptions, of the subscription that lost
    // its connection.
    const isReturning = resumption !== null && this.#subscriptions.has(resumption.subscription)
    const free = this.#places.take(viewer.id, isReturning || isOwner(viewer))
    try {
      const closing = this.#closing.signal
      const turn = { timeoutMs: source.timeoutMs, signal: signal ? AbortSignal.any([closing, signal]) : closing }
      await source.load?.(turn.signal)
      const state = await this.#world.scheduler.run(stop => source.ask(stop), turn)
      this.#mustBeOpen()
      const begun = this.#begun(source, options, resumption, state)
      this.#subscriptions.get(begun.id)?.end('cancelled')
      const subscription = new LiveSubscription(source, options, handlers, begun, this.#world)
      const leave = () => subscription.cancel()
      signal?.addEventListener('abort', leave, { once: true })
      this.#releases.set(subscription, () => {
        free()
        signal?.removeEventListener('abort', leave)
      })
      this.#begin(subscription)
      if (signal?.aborted === true) leave()
      return subscription
    } catch (error) {
      free()
      throw error
    }
  }

  count(viewer?: Viewer): number {
    return viewer === undefined ? this.#subscriptions.size : this.#of(viewer).length
  }

  endAll(viewer: Viewer): void {
    for (const subscription of this.#of(viewer)) subscription.end('unauthorized')
  }

  close(): void {
    this.#closing.abort()
    for (const subscription of [...this.#subscriptions.values()]) subscription.end('closed')
  }

  #of({ id }: Viewer): readonly LiveSubscription[] {
    return [...this.#subscriptions.values()].filter(({ source }) => source.viewer.id === id)
  }

  #begin(subscription: LiveSubscription): void {
    this.#subscriptions.set(subscription.id, subscription)
    if (this.#stopPolling === null) this.#poll()
    // The first check of a subscription runs after its caller has received it; it also finds changes that were made while the first answer
    // was computed.
    void this.#timers.turn().then(() => {
      subscription.check(this.#parts.clock.now())
      subscription.pump()
    })
  }

  #begun(source: LiveQuery, options: LiveOptions, resumption: Resumption | null, answer: LiveState): Begun {
    const { kept } = this.#world
    const viewer = source.viewer.id
    const reached = resumption && kept.seqOf(resumption.subscription, viewer)
    const since = resumption === null || reached === null ? 0 : reached - resumption.seq
    const known = () => resumption && kept.stateBefore(resumption.subscription, viewer, reached === null ? -1 : since)
    const delivered = resumption?.items ? { items: resumption.items, asOf: resumption.asOf } : known()
    const machine = new LiveMachine(options, delivered ?? { items: [], asOf: answer.asOf })
    const lost = source.lost([...machine.known, ...answer.items])
    machine.lose(lost)
    const state = { ...answer, items: answer.items.filter(({ key }) => !lost.includes(key)) }
    if (resumption === null) {
      machine.open(state, options.notifyOnConnect ? 'initial' : 'silent')
      return { id: v4Id(this.#parts.random), seq: 0, began: 'anew', machine, state }
    }
    const { subscription: id, seq, at } = resumption
    const isLate = delivered === null || since > MAX_EVENTS_SINCE || this.#parts.clock.now() - at > TOKEN_LIFE_MS
    machine.open(state, isLate ? 'resync' : 'continue')
    kept.forget(id)
    const began = isLate ? 'resync' : 'continued'
    return { id, seq: isLate ? Math.max(seq, reached ?? 0) : seq, began, machine, state }
  }

  #mustBeOpen(): void {
    if (this.#closing.signal.aborted) throw closedError()
  }

  #ended(subscription: LiveSubscription): void {
    this.#subscriptions.delete(subscription.id)
    this.#releases.get(subscription)?.()
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

  /**
   * One check of all subscriptions, at fixed intervals: whether the passing of time affects their answers, and, if the version of the store
   * has changed, whether the commits do.
   */
  #look(): void {
    if (this.#isChecking) return
    // The present version of the store, which changes with every commit; null: the store cannot be read at the moment.
    const version = valueOr(null, () => this.#parts.store.version())
    if (version !== this.#version) {
      this.#version = version
      void this.#checkAll()
      return
    }
    const now = this.#parts.clock.now()
    for (const subscription of [...this.#subscriptions.values()]) subscription.passed(now)
  }

  async #checkAll(): Promise<void> {
    this.#isChecking = true
    const now = this.#parts.clock.now()
    const subscriptions = [...this.#subscriptions.values()]
    for (let at = 0; at < subscriptions.length; at += CHECKS_A_TURN) {
      if (at > 0) await this.#timers.turn()
      const some = subscriptions.slice(at, at + CHECKS_A_TURN)
      // The check of these subscriptions runs in one read of the store, so that commits of other processes are looked for only once.
      // Handlers of the subscribers must not be called within the read, because they may write.
      const all = () => some.map(subscription => subscription.isConcerned())
      const concerned = valueOr(null, () => this.#parts.store.read(all)) ?? all()
      for (const [place, subscription] of some.entries()) subscription.check(now, concerned[place] === true)
    }
    this.#isChecking = false
  }
}

/**
 * A running subscription to a query: notices commits, computes the query's answer again at the next point of a fixed grid of times, and
 * sends the changes one event at a time, as fast as the subscriber takes them. Because the grid is fixed at the start, changes that the
 * viewer may not see do not affect when events are sent (BQ-169).
 */
import type { JsonObject } from '../../base/canonical.ts'
import type { Clock, Instant } from '../../base/clock.ts'
import type { Timers } from '../../base/turns.ts'
import { QuerentError } from '../../model/errors.ts'
import { toIso } from '../../model/instant.ts'
import {
  LIVE_TEXTS,
  type LiveEvent,
  type LiveHandlers,
  type LiveName,
  type LiveOptions,
  type LiveQuery,
  type LiveState,
  type LiveStatus,
  type Subscription,
} from '../../model/live.ts'
import { asSent, type Cause, type Difference, type LiveMachine } from './difference.ts'
import { type KeptStates, MAX_ITEM_BYTES, writeToken } from './resume.ts'
import { GridAlarm, type Scheduler } from './schedule.ts'

/** Objects and functions that all subscriptions of one engine share. */
export interface LiveWorld {
  readonly clock: Clock
  readonly timers: Timers
  readonly scheduler: Scheduler
  readonly kept: KeptStates
  /** The secret key with which resume tokens are sealed; all processes on the store have the same key. */
  secret(): string
  /** Called once when a subscription has ended, so that it is no longer checked. */
  ended(subscription: LiveSubscription): void
}

export interface Begun {
  readonly id: string
  /** Number of the last event that was sent in the subscription, 0 before the first one. */
  readonly seq: number
  readonly began: Subscription['began']
  readonly machine: LiveMachine
  readonly state: LiveState
}

/** Number of events that are sent without a pause, before other tasks on the thread get a turn. */
const EVENTS_A_TURN = 32
/**
 * Milliseconds after which a subscriber that got no events gets a fresh resume token, so that its token is never old when the connection is
 * lost.
 */
const TOKEN_REFRESH_MS = 60_000
/**
 * Delay in milliseconds before the query of a subscription is retried after a failure: `FIRST_RETRY_MS`, doubled with each further failure,
 * at most `LAST_RETRY_MS`.
 */
const FIRST_RETRY_MS = 1_000
const LAST_RETRY_MS = 60_000

export class LiveSubscription implements Subscription {
  readonly id: string
  readonly query: JsonObject
  readonly createdAt: Instant
  readonly began: Subscription['began']
  readonly source: LiveQuery
  status: LiveStatus = 'active'
  eventsDelivered = 0
  lastEventAt: Instant | null = null
  handlerErrors = 0
  readonly #world: LiveWorld
  readonly #handlers: LiveHandlers
  readonly #machine: LiveMachine
  readonly #stop = new AbortController()
  readonly #alarm: GridAlarm
  #seq: number
  /** Machine time at which the subscriber is due a fresh resume token, unless an event carries one before. */
  #tokenDue: number
  /** The last answer that the query of the subscription gave. */
  #last: LiveState
  /** Why the answer must be computed again: a change of data (`change`) or the passing of time (`time`); null: it need not be. */
  #cause: Cause | null = null
  /**
   * Whether the time has come at which the answer is computed again: a point of the subscription's fixed time grid, so that the moment
   * reveals nothing about hidden writes.
   */
  #isDue = false
  #isAsking = false
  #isSending = false
  /** Whether access to the items could not be checked the last time: then no event is sent until the query succeeds again. */
  #isBlind = false
  /** Number of consecutive failures of the subscription's query; 0 after a success. */
  #failures = 0

  constructor(source: LiveQuery, options: LiveOptions, handlers: LiveHandlers, begun: Begun, world: LiveWorld) {
    const { id, seq, began, machine, state } = begun
    this.source = source
    this.query = source.query
    this.id = id
    this.began = began
    this.createdAt = world.clock.now()
    this.#world = world
    this.#handlers = handlers
    this.#machine = machine
    this.#last = state
    this.#seq = seq
    this.#alarm = new GridAlarm(world.timers, options.debounceMs, () => {
      if (this.#cause !== null) this.#isDue = true
      this.pump()
    })
    this.#tokenDue = world.timers.now() + TOKEN_REFRESH_MS
    world.kept.reached(id, source.viewer.id, seq)
  }

  resumeToken(): string {
    const { clock, kept } = this.#world
    const { bytes, asOf } = this.#machine
    const items = bytes < MAX_ITEM_BYTES ? this.#machine.delivered.items : null
    if (items === null) kept.keep(this.id, this.source.viewer.id, () => this.#machine.delivered)
    const resumption = { subscription: this.id, seq: this.#seq, at: clock.now(), asOf, items }
    return writeToken(this.#world.secret(), this.source, resumption)
  }

  pause(): void {
    if (!this.#isActive) return
    this.status = 'paused'
    this.#isDue = false
    this.#alarm.stop()
  }

  /** Computes the answer at once when the subscription is resumed, because changes during the pause were not noticed. */
  resume(): void {
    if (this.status !== 'paused') return
    this.status = 'active'
    this.#cause = 'change'
    this.#isDue = true
    this.#dropLost()
    this.pump()
  }

  cancel(): void {
    this.end('cancelled')
  }

  end(why: 'cancelled' | 'closed' | 'unauthorized'): void {
    if (this.status === 'cancelled') return
    this.status = 'cancelled'
    this.#alarm.stop()
    this.#stop.abort()
    this.#world.ended(this)
    this.#guarded(() => this.#handlers.onEnd?.(why))
  }

  /**
   * Whether the latest commits may affect the answer of this subscription. Takes microseconds if they do not. Must be called inside a read
   * of the store.
   */
  isConcerned(): boolean {
    return this.#isActive && valueOr(true, () => this.source.concerned(this.#last))
  }

  /**
   * Called after commits: ends the subscription if the viewer lost access, and plans to compute the answer again if the commits concern it
   * or if time alone may have changed it.
   */
  check(now: Instant, isConcerned: boolean = this.isConcerned()): void {
    if (this.status === 'cancelled') return
    // If the store cannot be read at the moment, the subscription is not ended for lack of access, and is treated as if a commit concerned
    // it.
    if (!valueOr(true, () => this.source.allowed?.() ?? true)) this.end('unauthorized')
    if (!this.#isActive) return
    if (isConcerned) this.#changed()
    this.passed(now)
  }

  /**
   * Called at intervals even if nothing was committed: time alone may have changed the answer, because an entry's validity began or ended,
   * or because the clock was set back.
   */
  passed(now: Instant): void {
    if (!this.#isActive) return
    this.#refreshToken()
    if (this.#cause !== null || this.#isAsking) return
    if (this.source.stirred?.() === true) this.#changed()
    else if (now >= this.#last.until || now < this.#last.asOf) {
      this.#cause = 'time'
      this.#arm()
    }
  }

  /**
   * Does what can be done now: computes a due answer, sends waiting events, or sets the timer for the rate limit. Asynchronous work calls
   * this method again when it ends.
   */
  pump(): void {
    if (!this.#isActive || this.#isSending) return
    if (this.#isDue && !this.#isAsking) void this.#ask()
    if (this.#isBlind) return
    const now = this.#world.timers.now()
    const freed = this.#isAsking ? null : this.#machine.heldUntil(now)
    if (this.#machine.peek(now, this.#isAsking) !== null) void this.#send()
    else if (freed !== null) this.#alarm.setFor(freed)
  }

  get #isActive(): boolean {
    return this.status === 'active'
  }

  #changed(): void {
    this.#cause = 'change'
    this.#dropLost()
    this.#arm()
    this.pump()
  }

  async #ask(): Promise<void> {
    let cause: Cause = 'change'
    this.#isAsking = true
    this.#isDue = false
    this.#alarm.stop()
    try {
      const turn = { timeoutMs: this.source.timeoutMs, signal: this.#stop.signal }
      const ask = (signal: AbortSignal) => {
        // The cause is reset only when the query starts, because commits made while the query waits for its turn are covered by this run as
        // well.
        cause = this.#cause ?? 'change'
        this.#cause = null
        return this.source.ask(signal)
      }
      const state = await this.#world.scheduler.run(ask, turn)
      // An answer that arrives while the subscription is paused is kept; its changes are sent when the subscription is resumed.
      if (!this.#stop.signal.aborted) this.#take(state, cause)
      // After a failure of the query was reported to the subscriber, the subscriber also learns of the recovery: by an event if the answer
      // changed, otherwise by a fresh resume token.
      if (this.#failures > 0) this.#tokenDue = Number.NEGATIVE_INFINITY
      this.#failures = 0
    } catch (error) {
      this.#failed(error)
    } finally {
      this.#isAsking = false
    }
    if (this.#cause !== null && !this.#alarm.isSet) this.#arm()
    this.pump()
  }

  #take(state: LiveState, cause: Cause): void {
    const lost = this.source.lost([...this.#machine.known, ...state.items])
    this.#isBlind = false
    this.#machine.lose(lost)
    this.#last = { ...state, items: state.items.filter(({ key }) => !lost.includes(key)) }
    this.#machine.answered(this.#last, cause)
  }

  #failed(error: unknown): void {
    if (this.status === 'cancelled') return
    if (error instanceof QuerentError && error.kind === 'denied') {
      this.end('unauthorized')
      return
    }
    this.#cause = 'change'
    const wait = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures)
    this.#failures += 1
    if (this.#isActive) this.#alarm.setFor(this.#world.timers.now() + wait)
    this.#guarded(() => this.#handlers.onError?.(error))
  }

  /** Keys of those items that the viewer may no longer see; null: access cannot be checked at the moment. */
  #lostOf(items: readonly LiveName[]): readonly string[] | null {
    try {
      return items.length === 0 ? [] : this.source.lost(items)
    } catch (error) {
      this.#isBlind = true
      this.#failed(error)
      return null
    }
  }

  #dropLost(): void {
    this.#machine.lose(this.#lostOf(this.#machine.known) ?? [])
  }

  /** Sets the timer for the next point of the time grid, at which the answer is computed again. */
  #arm(): void {
    if (!this.#isDue && !this.#isAsking) this.#alarm.setForNext()
  }

  /** Sends waiting events one after another, as many as the rate limit allows now. */
  async #send(): Promise<void> {
    this.#isSending = true
    try {
      for (let sent = 1; this.#isActive; sent++) {
        // There must be no `await` between the moment when the subscriber is ready and the sending of the event; otherwise something else
        // could be sent in between.
        for (let wait = this.#wanted(); wait !== null; wait = this.#wanted()) await wait
        // If the answer is due to be computed again, that happens before further events are sent: the changes not yet sent are then
        // replaced by those to the new answer.
        if (!this.#isActive || (this.#isDue && !this.#isAsking)) break
        const difference = this.#next()
        if (difference === null) break
        await this.#hand(difference)
        if (sent % EVENTS_A_TURN === 0) await this.#world.timers.turn()
      }
    } finally {
      this.#isSending = false
    }
    this.pump()
  }

  /**
   * Takes the next event whose item the viewer may see at this moment; null if there is none, if the rate limit does not allow one, or if
   * access cannot be checked.
   */
  #next(): Difference | null {
    const now = this.#world.timers.now()
    for (;;) {
      const next = this.#machine.peek(now, this.#isAsking)
      const lost = next?.now ? this.#lostOf([next.now]) : []
      if (lost === null) return null
      if (lost.length === 0) return this.#machine.take(now, this.#isAsking)
      this.#machine.lose(lost)
    }
  }

  async #hand({ type, key, id, passage, reason, details, now }: Difference): Promise<void> {
    const { kept, clock, timers } = this.#world
    const at = clock.now()
    this.#seq += 1
    this.eventsDelivered += 1
    this.lastEventAt = at
    this.#tokenDue = timers.now() + TOKEN_REFRESH_MS
    kept.reached(this.id, this.source.viewer.id, this.#seq)
    kept.changed(this.id, this.source.viewer.id, key, now && asSent(now), this.#machine.asOf)
    const event: LiveEvent = {
      subscription_id: this.id,
      seq: this.#seq,
      timestamp: toIso(at),
      type,
      id,
      ...(passage !== undefined && { passage }),
      ...(now && { item: now.shown }),
      reason,
      text: LIVE_TEXTS[reason],
      details,
      resume_token: this.resumeToken(),
    }
    try {
      await this.#handlers.onEvent(event)
    } catch (error) {
      this.handlerErrors += 1
      // Errors that the subscriber's handlers throw after the end of the subscription are dropped.
      if (this.status !== 'cancelled') this.#guarded(() => this.#handlers.onError?.(error))
    }
  }

  #wanted(): Promise<void> | null {
    return this.#handlers.wanted?.() ?? null
  }

  #refreshToken(): void {
    const now = this.#world.timers.now()
    if (this.#handlers.onToken === undefined || this.#isSending || now < this.#tokenDue || this.#wanted() !== null)
      return
    this.#tokenDue = now + TOKEN_REFRESH_MS
    this.#guarded(() => this.#handlers.onToken?.(this.resumeToken()))
  }

  #guarded(call: () => void): void {
    try {
      call()
    } catch {
      this.handlerErrors += 1
    }
  }
}

/** The result of `lookUp`, or the value `failed` if `lookUp` throws. */
export function valueOr<T>(failed: T, lookUp: () => T): T {
  try {
    return lookUp()
  } catch {
    return failed
  }
}

/**
 * A running subscription: notices commits, runs its query again at the next point of its time grid, and sends the changes one event at a
 * time, as events are taken. The grid is fixed at the start, so changes that the viewer may not see do not affect when events are sent
 * (BQ-169).
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

/** What all subscriptions of an engine share. */
export interface LiveWorld {
  readonly clock: Clock
  readonly timers: Timers
  readonly scheduler: Scheduler
  readonly kept: KeptStates
  /** The secret that seals resume tokens; the same for every process on the store. */
  secret(): string
  /** Called when a subscription has ended. */
  ended(subscription: LiveSubscription): void
}

export interface Begun {
  readonly id: string
  /** Number of the last event that was sent, 0 for none. */
  readonly seq: number
  readonly began: Subscription['began']
  readonly machine: LiveMachine
  readonly state: LiveState
}

/** Events that are sent before other tasks get a turn. */
const EVENTS_A_TURN = 32
/**
 * After this many milliseconds without a new token, a subscriber gets a fresh one, so that its token is never old when the connection is
 * lost.
 */
const TOKEN_REFRESH_MS = 60_000
/** Delay before a retry after a failure: 1 s, doubled with each failure, at most 1 min. */
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
  /** Machine time at which a new token is due, if no event carries one before. */
  #tokenDue: number
  /** The last answer of the query. */
  #last: LiveState
  /** Why the query has to run again; null: it does not. */
  #cause: Cause | null = null
  /** Whether the grid point at which the query runs again has been reached. */
  #isDue = false
  #isAsking = false
  #isSending = false
  /** Access to the items could not be checked: nothing is sent until the query succeeds again. */
  #isBlind = false
  /** Number of consecutive failures of the query. */
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

  /** Runs the query at once, because changes during the pause were not noticed. */
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

  /** Whether the latest commits may affect this subscription. Takes microseconds if they do not. Runs inside a read of the store. */
  isConcerned(): boolean {
    return this.#isActive && valueOr(true, () => this.source.concerned(this.#last))
  }

  /** Called after a commit, or when time has passed. */
  check(now: Instant, isConcerned: boolean = this.isConcerned()): void {
    if (this.status === 'cancelled') return
    // If the store cannot be read at the moment, the subscription keeps its access and assumes that something has changed.
    if (!valueOr(true, () => this.source.allowed?.() ?? true)) this.end('unauthorized')
    if (!this.#isActive) return
    if (isConcerned) this.#changed()
    this.passed(now)
  }

  /** Called when nothing was committed: time alone may have crossed a bound, also backwards if the clock was set back. */
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

  /** Does whatever can be done now; asynchronous work calls it again when it ends. */
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
        // Reset here, so that commits during the wait for its turn are covered by this run as well.
        cause = this.#cause ?? 'change'
        this.#cause = null
        return this.source.ask(signal)
      }
      const state = await this.#world.scheduler.run(ask, turn)
      // An answer that arrives during a pause is kept: it is sent after the pause, unless it has changed again.
      if (!this.#stop.signal.aborted) this.#take(state, cause)
      // A subscriber that received a failure also learns of the recovery: by an event if something changed, otherwise by a token.
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

  /** Keys of items that the viewer may no longer see; null: that cannot be checked. */
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

  /** Sets the timer so that the query runs again at the next grid point. */
  #arm(): void {
    if (!this.#isDue && !this.#isAsking) this.#alarm.setForNext()
  }

  /** Sends as many events as the rate limit allows now. */
  async #send(): Promise<void> {
    this.#isSending = true
    try {
      for (let sent = 1; this.#isActive; sent++) {
        // No `await` after the subscriber is ready: nothing else is handed over between that moment and the event.
        for (let wait = this.#wanted(); wait !== null; wait = this.#wanted()) await wait
        // A query that is due runs first: the events not yet sent are then merged with its answer.
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

  /** The next event whose item the viewer may see at this moment; null if there is none or if access cannot be checked. */
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
      // Errors after the end are not reported to the subscriber.
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

/** The value of `lookUp`, or `failed` if it throws. */
export function valueOr<T>(failed: T, lookUp: () => T): T {
  try {
    return lookUp()
  } catch {
    return failed
  }
}

/**
 * One subscription at work: looks when told that something was committed, asks again at the next point of its grid, and
 * hands events over one at a time. The grid is fixed when it begins, so what nobody may see moves no event in time (BQ-169).
 */

import type { JsonObject } from '../../base/canonical.ts'
import type { Instant } from '../../base/clock.ts'
import { QuerentError } from '../../model/errors.ts'
import type {
  LiveHandlers,
  LiveItem,
  LiveOptions,
  LiveState,
  LiveStatus,
  StandingQuestion,
  Subscription,
} from '../../model/live.ts'
import { GridAlarm } from './alarm.ts'
import { Announcer, type AnnouncerParts } from './announcer.ts'
import type { Difference } from './difference.ts'
import type { Cause, LiveMachine } from './machine.ts'
import type { Scheduler } from './scheduler.ts'
import type { Timers } from './timers.ts'
import { type Taker, TokenRefresh } from './token-refresh.ts'

/** After a failure it asks again after a second, two, four, at most a minute, if nothing changes before. */
const FIRST_RETRY_MS = 1_000
const LAST_RETRY_MS = 60_000
/** Events handed over before others get a turn. */
const EVENTS_A_TURN = 32

/** What subscriptions share. */
export interface LiveWorld extends AnnouncerParts {
  readonly timers: Timers
  readonly scheduler: Scheduler
  /** It has ended. */
  ended(subscription: LiveSubscription): void
}

export interface Begun {
  readonly id: string
  readonly seq: number
  readonly began: Subscription['began']
  readonly machine: LiveMachine
  readonly state: LiveState
}

export class LiveSubscription implements Subscription {
  readonly id: string
  readonly query: JsonObject
  readonly createdAt: Instant
  readonly began: Subscription['began']
  readonly question: StandingQuestion
  readonly #handlers: LiveHandlers
  readonly #world: LiveWorld
  readonly #machine: LiveMachine
  readonly #stop = new AbortController()
  readonly #alarm: GridAlarm
  readonly #announcer: Announcer
  #status: LiveStatus = 'active'
  #delivered = 0
  #lastEventAt: Instant | null = null
  #handlerErrors = 0
  /** The last answer. */
  #last: LiveState
  /** Why it has to be asked again; null: it has not. */
  #cause: Cause | null = null
  /** The point of the grid has come. */
  #isDue = false
  #isAsking = false
  #isDelivering = false
  #failures = 0
  /** Nothing is shown before: what is lost could not be looked up. Null: it could. */
  #blindUntil: number | null = null
  #blindLooks = 0
  /** Null: nobody wants any. */
  readonly #tokens: TokenRefresh | null

  constructor(
    question: StandingQuestion,
    options: LiveOptions,
    handlers: LiveHandlers,
    begun: Begun,
    world: LiveWorld,
  ) {
    this.question = question
    this.#handlers = handlers
    this.#world = world
    this.id = begun.id
    this.began = begun.began
    this.query = question.query
    this.createdAt = world.clock.now()
    this.#machine = begun.machine
    this.#last = begun.state
    this.#alarm = new GridAlarm(world.timers, options.debounceMs, () => this.#wake())
    this.#announcer = new Announcer(begun.id, begun.seq, question, world)
    const { onToken } = handlers
    this.#tokens = onToken === undefined ? null : new TokenRefresh(world.timers, this.#tokenTaker())
  }

  get status(): LiveStatus {
    return this.#status
  }

  get eventsDelivered(): number {
    return this.#delivered
  }

  get lastEventAt(): Instant | null {
    return this.#lastEventAt
  }

  get handlerErrors(): number {
    return this.#handlerErrors
  }

  resumeToken(): string {
    return this.#announcer.tokenOf(this.#machine, this.#world.clock.now())
  }

  pause(): void {
    if (this.#status !== 'active') return
    this.#status = 'paused'
    this.#isDue = false
    this.#alarm.stop()
  }

  /** Asks at once: what changed meanwhile was nobody's to notice. */
  resume(): void {
    if (this.#status !== 'paused') return
    this.#status = 'active'
    this.#cause = 'change'
    this.#isDue = true
    this.#dropLost()
    this.pump()
  }

  cancel(): void {
    this.end('cancelled')
  }

  end(why: 'cancelled' | 'closed' | 'unauthorized'): void {
    if (this.#status === 'cancelled') return
    this.#status = 'cancelled'
    this.#alarm.stop()
    this.#stop.abort()
    this.#tokens?.stop()
    this.#announcer.left(this.#world.clock.now())
    this.#world.ended(this)
    this.#guarded(() => this.#handlers.onEnd?.(why))
  }

  /** Something was committed, or time has passed. Takes microseconds where neither concerns it. */
  check(now: Instant): void {
    if (this.#status === 'cancelled') return
    if (!this.#isAllowed()) this.end('unauthorized')
    if (this.#status !== 'active') return
    if (this.#isConcerned()) this.#changed()
    else this.passed(now)
  }

  /** Nothing was committed: but a bound may have been crossed, also backwards. */
  passed(now: Instant): void {
    if (this.#status !== 'active') return
    this.#lookAgain()
    if (now < this.#last.until && now >= this.#last.asOf) return
    if (this.#cause !== null || this.#isAsking) return
    this.#cause = 'time'
    this.#arm()
  }

  /** Does what can be done now; whatever ends later comes back here. */
  pump(): void {
    if (this.#status !== 'active' || this.#isDelivering) return
    const now = this.#world.timers.now()
    if (this.#isDue && !this.#isAsking) void this.#ask()
    if (this.#blindUntil === null && this.#machine.ready(now, this.#isAsking)) {
      void this.#deliver()
      return
    }
    const freed = this.#isAsking ? null : this.#machine.heldUntil(now)
    if (freed !== null) this.#alarm.setFor(freed)
  }

  #changed(): void {
    this.#cause = 'change'
    this.#dropLost()
    this.#arm()
    this.pump()
  }

  async #ask(): Promise<void> {
    const cause = this.#cause ?? 'change'
    this.#isAsking = true
    this.#isDue = false
    this.#cause = null
    this.#alarm.stop()
    try {
      const state = await this.#askNow()
      // A pause throws nothing away: what was learned is told after it, unless it has changed again.
      if (!this.#stop.signal.aborted) this.#take(state, cause)
      // Who was told that asking fails is told that it does no longer: by what has changed, else by a token.
      if (this.#failures > 0) this.#tokens?.soon()
      this.#failures = 0
    } catch (error) {
      this.#failed(error)
    } finally {
      this.#isAsking = false
    }
    if (this.#cause !== null && !this.#alarm.isSet) this.#arm()
    this.pump()
  }

  #askNow(): Promise<LiveState> {
    const turn = { timeoutMs: this.question.timeoutMs, signal: this.#stop.signal }
    return this.#world.scheduler.run(signal => this.question.ask(signal), turn)
  }

  #take(state: LiveState, cause: Cause): void {
    const lost = this.question.lost([...this.#machine.known, ...state.items])
    this.#machine.lose(lost)
    const items = state.items.filter(({ key }) => !lost.includes(key))
    this.#last = { ...state, items }
    this.#machine.answered(this.#last, cause)
  }

  #failed(error: unknown): void {
    if (this.#status === 'cancelled') return
    if (error instanceof QuerentError && error.kind === 'denied') {
      this.end('unauthorized')
      return
    }
    this.#cause = 'change'
    if (this.#status === 'active') {
      this.#alarm.setFor(this.#world.timers.now() + retryAfter(this.#failures))
    }
    this.#failures += 1
    this.#tell(error)
  }

  async #deliver(): Promise<void> {
    this.#isDelivering = true
    try {
      for (let sent = 1; this.#status === 'active'; sent++) {
        // Without a pause once it is wanted: nothing else is handed over between that and the event.
        for (let wait = this.#wanted(); wait !== null; wait = this.#wanted()) await wait
        // What fell due meanwhile is asked first: then what was not told yet is merged with it.
        if (this.#status !== 'active' || (this.#isDue && !this.#isAsking)) break
        const difference = this.#next()
        if (difference === null) break
        await this.#handOver(difference)
        if (sent % EVENTS_A_TURN === 0) await this.#world.timers.turn()
      }
    } finally {
      this.#isDelivering = false
    }
    this.pump()
  }

  #wanted(): Promise<void> | null {
    return this.#handlers.wanted?.() ?? null
  }

  /** The next event, of an item that the viewer may see at this moment; null also where that cannot be looked up. */
  #next(): Difference | null {
    const now = this.#world.timers.now()
    for (;;) {
      const next = this.#machine.peek(now, this.#isAsking)
      if (next?.now) {
        const lost = this.#lostOf([next.now])
        if (lost === null) return null
        if (lost.length > 0) {
          this.#machine.lose(lost)
          continue
        }
      }
      return this.#machine.take(now, this.#isAsking)
    }
  }

  async #handOver(difference: Difference): Promise<void> {
    this.#delivered += 1
    const at = this.#world.clock.now()
    this.#lastEventAt = at
    const event = this.#announcer.announce(difference, this.#machine, at)
    this.#tokens?.told()
    try {
      await this.#handlers.onEvent(event)
    } catch (error) {
      this.#handlerErrors += 1
      this.#tell(error)
    }
  }

  #tokenTaker(): Taker {
    return {
      wanted: () => this.#wanted(),
      isIdle: () => this.#status === 'active' && !this.#isDelivering,
      give: () => this.#guarded(() => this.#handlers.onToken?.(this.resumeToken())),
    }
  }

  #isAllowed(): boolean {
    try {
      return this.question.allowed?.() ?? true
    } catch {
      // A store that cannot be read just now takes no right away.
      return true
    }
  }

  #isConcerned(): boolean {
    try {
      return this.question.concerned(this.#last)
    } catch {
      return true
    }
  }

  #dropLost(): void {
    this.#machine.lose(this.#lostOf(this.#machine.known) ?? [])
  }

  /** Null: it cannot be looked up. Then nothing more is shown until it can; nor is anything known to be lost. */
  #lostOf(items: readonly Pick<LiveItem, 'key' | 'id'>[]): readonly string[] | null {
    try {
      const lost = items.length === 0 ? [] : this.question.lost(items)
      this.#blindUntil = null
      this.#blindLooks = 0
      return lost
    } catch (error) {
      this.#blindUntil = this.#world.timers.now() + retryAfter(this.#blindLooks)
      this.#blindLooks += 1
      this.#tell(error)
      return null
    }
  }

  /** Where what is lost could not be looked up, and some time has passed since. */
  #lookAgain(): void {
    if (this.#blindUntil === null || this.#world.timers.now() < this.#blindUntil) return
    this.#dropLost()
    this.pump()
  }

  /** Asks at the next point of the grid. */
  #arm(): void {
    if (!this.#isDue && !this.#isAsking) this.#alarm.setForNext()
  }

  #wake(): void {
    if (this.#cause !== null) this.#isDue = true
    this.pump()
  }

  #tell(error: unknown): void {
    if (this.#status === 'cancelled') return
    this.#guarded(() => this.#handlers.onError?.(error))
  }

  #guarded(call: () => void): void {
    try {
      call()
    } catch {
      this.#handlerErrors += 1
    }
  }
}

function retryAfter(failures: number): number {
  return Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures)
}

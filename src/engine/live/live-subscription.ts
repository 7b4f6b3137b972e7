/**
 * One subscription at work: looks when told that something was committed, asks again at the next point of its grid, and has
 * what changed handed over. The grid is fixed when it begins, so what nobody may see moves no event in time (BQ-169).
 */
import type { JsonObject } from '../../base/canonical.ts'
import type { Instant } from '../../base/clock.ts'
import { QuerentError } from '../../model/errors.ts'
import type {
  LiveHandlers,
  LiveOptions,
  LiveState,
  LiveStatus,
  StandingQuestion,
  Subscription,
} from '../../model/live.ts'
import { Announcer, type AnnouncerParts } from './announcer.ts'
import { Delivery, Listener, Losses } from './delivery.ts'
import type { Cause, LiveMachine } from './machine.ts'
import type { Scheduler } from './scheduler.ts'
import { GridAlarm, Retry, type Timers } from './timers.ts'

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
  readonly #world: LiveWorld
  readonly #machine: LiveMachine
  readonly #stop = new AbortController()
  readonly #alarm: GridAlarm
  readonly #announcer: Announcer
  readonly #listener: Listener
  readonly #losses: Losses
  readonly #delivery: Delivery
  readonly #retry = new Retry()
  #status: LiveStatus = 'active'
  /** The last answer. */
  #last: LiveState
  /** Why it has to be asked again; null: it has not. */
  #cause: Cause | null = null
  /** The point of the grid has come. */
  #isDue = false
  #isAsking = false

  constructor(
    question: StandingQuestion,
    options: LiveOptions,
    handlers: LiveHandlers,
    begun: Begun,
    world: LiveWorld,
  ) {
    const { clock, timers } = world
    const { id, seq, began, machine, state } = begun
    this.question = question
    this.query = question.query
    this.id = id
    this.began = began
    this.createdAt = clock.now()
    this.#world = world
    this.#machine = machine
    this.#last = state
    this.#alarm = new GridAlarm(timers, options.debounceMs, () => this.#wake())
    this.#announcer = new Announcer(id, seq, question, world)
    this.#listener = new Listener(handlers)
    this.#losses = new Losses(question, timers, error => this.#listener.failed(error))
    const parts = { machine, announcer: this.#announcer, losses: this.#losses, listener: this.#listener, clock, timers }
    this.#delivery = new Delivery(parts, {
      isActive: () => this.#status === 'active',
      isAsking: () => this.#isAsking,
      mustAskFirst: () => this.#isDue && !this.#isAsking,
      rested: () => this.pump(),
    })
  }

  get status(): LiveStatus {
    return this.#status
  }

  get eventsDelivered(): number {
    return this.#delivery.count
  }

  get lastEventAt(): Instant | null {
    return this.#delivery.lastAt
  }

  get handlerErrors(): number {
    return this.#listener.errors
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
    this.#delivery.stop()
    this.#announcer.left(this.#world.clock.now())
    this.#world.ended(this)
    this.#listener.ended(why)
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
    if (this.#losses.isToLookAgain) {
      this.#dropLost()
      this.pump()
    }
    if (this.#cause !== null || this.#isAsking) return
    if (this.question.stirred?.() === true) {
      this.#changed()
      return
    }
    if (now < this.#last.until && now >= this.#last.asOf) return
    this.#cause = 'time'
    this.#arm()
  }

  /** Does what can be done now; whatever ends later comes back here. */
  pump(): void {
    if (this.#status !== 'active' || this.#delivery.isUnderWay) return
    const now = this.#world.timers.now()
    if (this.#isDue && !this.#isAsking) void this.#ask()
    if (!this.#losses.isBlind && this.#machine.ready(now, this.#isAsking)) {
      void this.#delivery.run()
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
      if (this.#retry.hasFailed) this.#delivery.tokenSoon()
      this.#retry.worked()
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
    const wait = this.#retry.failed()
    if (this.#status === 'active') this.#alarm.setFor(this.#world.timers.now() + wait)
    this.#listener.failed(error)
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
    this.#machine.lose(this.#losses.of(this.#machine.known) ?? [])
  }

  /** Asks at the next point of the grid. */
  #arm(): void {
    if (!this.#isDue && !this.#isAsking) this.#alarm.setForNext()
  }

  #wake(): void {
    if (this.#cause !== null) this.#isDue = true
    this.pump()
  }
}

/** Hands over what one subscription has to tell: events one at a time, as they are taken, and tokens while there are none. */

import type { Clock, Instant } from '../../base/clock.ts'
import type { LiveEvent, LiveHandlers, LiveItem, StandingQuestion } from '../../model/live.ts'
import type { Announcer } from './announcer.ts'
import type { Difference } from './difference.ts'
import type { LiveMachine } from './machine.ts'
import { TokenRefresh } from './resume-token.ts'
import { Retry, type Timers } from './timers.ts'

/** Events handed over before others get a turn. */
const EVENTS_A_TURN = 32

export interface DeliveryParts {
  readonly machine: LiveMachine
  readonly announcer: Announcer
  readonly losses: Losses
  readonly listener: Listener
  readonly clock: Clock
  readonly timers: Timers
}

/** How the subscription stands, read each time it matters. */
export interface DeliveryState {
  isActive(): boolean
  /** Then nothing but losses is told. */
  isAsking(): boolean
  /** What fell due is asked first: then what was not told yet is merged with it. */
  mustAskFirst(): boolean
  /** Nothing more can be handed over for now. */
  rested(): void
}

export class Delivery {
  readonly #parts: DeliveryParts
  readonly #state: DeliveryState
  /** Null: nobody wants any. */
  readonly #tokens: TokenRefresh | null
  #isUnderWay = false
  #count = 0
  #lastAt: Instant | null = null

  constructor(parts: DeliveryParts, state: DeliveryState) {
    this.#parts = parts
    this.#state = state
    const { announcer, machine, listener, clock, timers } = parts
    const taker = {
      wanted: () => listener.wanted(),
      isIdle: () => state.isActive() && !this.#isUnderWay,
      give: () => listener.token(() => announcer.tokenOf(machine, clock.now())),
    }
    this.#tokens = listener.takesTokens ? new TokenRefresh(timers, taker) : null
  }

  get isUnderWay(): boolean {
    return this.#isUnderWay
  }

  /** Events that were handed over. */
  get count(): number {
    return this.#count
  }

  /** Of the last of them; null: there was none. */
  get lastAt(): Instant | null {
    return this.#lastAt
  }

  /** A token at once, if no event brings one first. */
  tokenSoon(): void {
    this.#tokens?.soon()
  }

  stop(): void {
    this.#tokens?.stop()
  }

  /** As many events as may go out now. Not while it is under way. */
  async run(): Promise<void> {
    const { listener, timers } = this.#parts
    this.#isUnderWay = true
    try {
      for (let sent = 1; this.#state.isActive(); sent++) {
        // Without a pause once it is wanted: nothing else is handed over between that and the event.
        for (let wait = listener.wanted(); wait !== null; wait = listener.wanted()) await wait
        if (!this.#state.isActive() || this.#state.mustAskFirst()) break
        const difference = this.#next()
        if (difference === null) break
        await this.#handOver(difference)
        if (sent % EVENTS_A_TURN === 0) await timers.turn()
      }
    } finally {
      this.#isUnderWay = false
    }
    this.#state.rested()
  }

  /** The next event, of an item that the viewer may see at this moment; null also where that cannot be looked up. */
  #next(): Difference | null {
    const { machine, losses, timers } = this.#parts
    const now = timers.now()
    const isAsking = this.#state.isAsking()
    for (;;) {
      const next = machine.peek(now, isAsking)
      if (next?.now) {
        const lost = losses.of([next.now])
        if (lost === null) return null
        if (lost.length > 0) {
          machine.lose(lost)
          continue
        }
      }
      return machine.take(now, isAsking)
    }
  }

  async #handOver(difference: Difference): Promise<void> {
    const { announcer, machine, listener, clock } = this.#parts
    this.#count += 1
    this.#lastAt = clock.now()
    const event = announcer.announce(difference, machine, this.#lastAt)
    this.#tokens?.told()
    await listener.hear(event)
  }
}

/** Who is told of one subscription. What a handler throws is counted, and holds nothing up. */
export class Listener {
  readonly #handlers: LiveHandlers
  #errors = 0
  #isOver = false

  constructor(handlers: LiveHandlers) {
    this.#handlers = handlers
  }

  /** How often a handler has thrown. */
  get errors(): number {
    return this.#errors
  }

  get takesTokens(): boolean {
    return this.#handlers.onToken !== undefined
  }

  /** Null: the next event would be taken at once; else resolves when that may be so. */
  wanted(): Promise<void> | null {
    return this.#handlers.wanted?.() ?? null
  }

  async hear(event: LiveEvent): Promise<void> {
    try {
      await this.#handlers.onEvent(event)
    } catch (error) {
      this.#errors += 1
      this.failed(error)
    }
  }

  token(make: () => string): void {
    this.#guarded(() => this.#handlers.onToken?.(make()))
  }

  /** Of what fails after the end nobody hears. */
  failed(error: unknown): void {
    if (!this.#isOver) this.#guarded(() => this.#handlers.onError?.(error))
  }

  ended(why: 'cancelled' | 'closed' | 'unauthorized'): void {
    this.#isOver = true
    this.#guarded(() => this.#handlers.onEnd?.(why))
  }

  #guarded(call: () => void): void {
    try {
      call()
    } catch {
      this.#errors += 1
    }
  }
}

/**
 * Looks up what the viewer may no longer see of what was told or is about to be. Where that cannot be looked up nothing is
 * known to be lost, and nothing more may be shown until it can.
 */
export class Losses {
  readonly #question: Pick<StandingQuestion, 'lost'>
  readonly #timers: Timers
  readonly #failed: (error: unknown) => void
  readonly #retry = new Retry()
  /** Null: it could be looked up the last time. */
  #blindUntil: number | null = null

  /** `failed` hears why something cannot be looked up. */
  constructor(question: Pick<StandingQuestion, 'lost'>, timers: Timers, failed: (error: unknown) => void) {
    this.#question = question
    this.#timers = timers
    this.#failed = failed
  }

  get isBlind(): boolean {
    return this.#blindUntil !== null
  }

  /** It is blind, and some time has passed since it looked. */
  get isToLookAgain(): boolean {
    return this.#blindUntil !== null && this.#timers.now() >= this.#blindUntil
  }

  /** Keys of those that are lost; null: it cannot be looked up. */
  of(items: readonly Pick<LiveItem, 'key' | 'id'>[]): readonly string[] | null {
    try {
      const lost = items.length === 0 ? [] : this.#question.lost(items)
      this.#blindUntil = null
      this.#retry.worked()
      return lost
    } catch (error) {
      this.#blindUntil = this.#timers.now() + this.#retry.failed()
      this.#failed(error)
      return null
    }
  }
}

/** Hands over what one subscription has to tell: events one at a time, as they are taken, and tokens while there are none. */
import type { Clock, Instant } from '../../base/clock.ts'
import type { Announcer } from './announcer.ts'
import type { Difference } from './difference.ts'
import type { Listener } from './listener.ts'
import type { Losses } from './losses.ts'
import type { LiveMachine } from './machine.ts'
import type { Timers } from './timers.ts'
import { TokenRefresh } from './token-refresh.ts'

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

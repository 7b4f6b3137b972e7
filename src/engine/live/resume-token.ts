/**
 * Resume tokens: what a subscriber was told, sealed for the one who may bring it back. They need nothing of the process that
 * gave them as long as the state is small; a larger one is kept in memory (`kept-states.ts`) and the token names it.
 */

import { z } from 'zod'
import { canonicalJson } from '../../base/canonical.ts'
import type { Instant } from '../../base/clock.ts'
import { seal, unseal } from '../../base/sealed.ts'
import { QuerentError } from '../../model/errors.ts'
import type { StandingQuestion } from '../../model/live.ts'
import { asRow, fromRow, type Told, tokenRow } from './difference.ts'
import type { Timers } from './timers.ts'

/** A token must fit into a header line of a request (Last-Event-ID): about 4,000 characters when sealed. */
const MOST_BYTES = 2_900
/** What is in it beside the items is no more than that. */
const MOST_BESIDE = 160

export interface Resumption {
  readonly subscription: string
  readonly seq: number
  /** When the token was given. */
  readonly at: Instant
  /** When the answer was asked that had been told. */
  readonly asOf: Instant
  /** Null: it was too large to travel. */
  readonly items: readonly Told[] | null
}

/** Items that do not travel are left out by who calls. */
export function writeToken(secret: string, question: StandingQuestion, resumption: Resumption): string {
  const { subscription, seq, at, asOf, items } = resumption
  const head = { s: subscription, n: seq, t: at, a: asOf }
  return seal(secret, bindingOf(question), JSON.stringify(items === null ? head : { ...head, i: items.map(asRow) }))
}

/** Throws `resume_invalid`. */
export function readToken(secret: string, question: StandingQuestion, token: string): Resumption {
  const text = unseal(secret, bindingOf(question), token)
  if (text === null) {
    throw new QuerentError('resume_invalid', 'resume_token: it is not one that was given for this question', {
      field: 'resume_token',
    })
  }
  const { s, n, t, a, i } = content.parse(JSON.parse(text))
  return { subscription: s, seq: n, at: t, asOf: a, items: i === undefined ? null : i.map(fromRow) }
}

/** Whether items of so many bytes travel in their tokens. */
export function travels(rowsLength: number): boolean {
  return rowsLength + MOST_BESIDE < MOST_BYTES
}

function bindingOf({ viewer, binding }: StandingQuestion): string {
  return canonicalJson({ use: 'resume a live query', viewer: viewer.id, question: binding })
}

const content = z.strictObject({ s: z.string(), n: z.int(), t: z.int(), a: z.int(), i: z.array(tokenRow).optional() })

/** Gives one who hears nothing for long a fresh token now and then: none that he has is old when his connection is lost. */
export const TOKEN_REFRESH_MS = 60_000
/** After all that is to be told at once. */
const SOON_MS = 1

export interface Taker {
  /** Null: he would take one at once; else resolves when that may be so. */
  wanted(): Promise<void> | null
  /** Whether nothing is on its way to him, which would bring a token. */
  isIdle(): boolean
  /** Makes one and hands it over. */
  give(): void
}

export class TokenRefresh {
  readonly #timers: Timers
  readonly #taker: Taker
  /** When he was told the last one. */
  #at: number
  #isOver = false
  /** For him to take one. */
  #isWaiting = false
  #cancel = (): void => {}

  constructor(timers: Timers, taker: Taker) {
    this.#timers = timers
    this.#taker = taker
    this.#at = timers.now()
    this.#later()
  }

  /** He has just been told one. */
  told(): void {
    this.#at = this.#timers.now()
  }

  /** One at once, if nothing else brings it first. */
  soon(): void {
    if (this.#isOver) return
    this.#at = Number.NEGATIVE_INFINITY
    if (this.#isWaiting) return
    this.#cancel()
    this.#cancel = this.#timers.after(SOON_MS, () => void this.#refresh())
  }

  stop(): void {
    this.#isOver = true
    this.#cancel()
  }

  #later(): void {
    const left = this.#at + TOKEN_REFRESH_MS - this.#timers.now()
    this.#cancel = this.#timers.after(left > 0 ? left : TOKEN_REFRESH_MS, () => void this.#refresh())
  }

  async #refresh(): Promise<void> {
    const taker = this.#taker
    this.#isWaiting = true
    for (let wait = taker.wanted(); wait !== null && taker.isIdle(); wait = taker.wanted()) await wait
    this.#isWaiting = false
    if (this.#isOver) return
    if (taker.isIdle() && this.#timers.now() >= this.#at + TOKEN_REFRESH_MS) {
      this.told()
      taker.give()
    }
    if (!this.#isOver) this.#later()
  }
}

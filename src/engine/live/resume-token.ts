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
import type { Told } from './difference.ts'
import { asRow, fromRow, tokenRow } from './token-row.ts'

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

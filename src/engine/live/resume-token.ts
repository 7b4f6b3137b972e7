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
import type { Delivered } from './machine.ts'

/** A token must fit into a header line of a request (Last-Event-ID): about 4,000 characters when sealed. */
const MOST_CHARACTERS = 2_900

export interface Resumption {
  readonly subscription: string
  readonly seq: number
  /** When the token was given. */
  readonly at: Instant
  /** When the answer was asked that had been told. */
  readonly asOf: Instant
  /** Null: it was too large to travel. */
  readonly items: Delivered['items'] | null
}

export function writeToken(secret: string, question: StandingQuestion, resumption: Resumption): string {
  const { subscription, seq, at, asOf, items } = resumption
  const head = { s: subscription, n: seq, t: at, a: asOf }
  const travelling = items === null ? null : JSON.stringify({ ...head, i: items.map(asRow) })
  const text = travelling !== null && fits(travelling) ? travelling : JSON.stringify(head)
  return seal(secret, bindingOf(question), text)
}

/** Throws `resume_invalid`. */
export function readToken(secret: string, question: StandingQuestion, token: string): Resumption {
  const text = unseal(secret, bindingOf(question), token)
  if (text === null) {
    throw new QuerentError('resume_invalid', 'resume_token: it is not one that was given for this question')
  }
  const { s, n, t, a, i } = content.parse(JSON.parse(text))
  return { subscription: s, seq: n, at: t, asOf: a, items: i === undefined ? null : i.map(asItem) }
}

/** Whether a state travels in its tokens. */
export function travels({ items }: Pick<Delivered, 'items'>): boolean {
  return fits(JSON.stringify(items.map(asRow)))
}

function fits(text: string): boolean {
  return text.length < MOST_CHARACTERS && Buffer.byteLength(text) < MOST_CHARACTERS
}

function bindingOf({ viewer, binding }: StandingQuestion): string {
  return canonicalJson({ use: 'resume a live query', viewer: viewer.id, question: binding })
}

/** Key, id (a number: the rest of the key from there), version, standing, score, rank. */
const row = z.tuple([z.string(), z.union([z.string(), z.number()]), z.string(), z.string(), z.number(), z.number()])
const content = z.strictObject({ s: z.string(), n: z.int(), t: z.int(), a: z.int(), i: z.array(row).optional() })

function asRow({ key, id, version, standing, score, rank }: Delivered['items'][number]): z.output<typeof row> {
  const told = key.endsWith(id) ? key.length - id.length : id
  return [key, told, version, standing, Number(score.toPrecision(9)), rank]
}

function asItem([key, told, version, standing, score, rank]: z.output<typeof row>): Delivered['items'][number] {
  return { key, id: typeof told === 'number' ? key.slice(told) : told, version, standing, score, rank, fields: null }
}

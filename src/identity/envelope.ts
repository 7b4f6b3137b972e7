/**
 * A question on its way to another node: the requester, which node is meant, when, a number used once, and the signature over
 * all of that and the question (BQ-119, BQ-120).
 */

import type { Json } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import { isIso, toIso } from '../model/instant.ts'
import { isNonce, isTimely, type Refusal } from './freshness.ts'
import type { Keys } from './keys.ts'
import type { Nonces } from './nonces.ts'
import type { Freshness } from './request.ts'
import { isStatementOf, signStatement } from './statement.ts'

export interface Envelope {
  readonly query: Json
  /** did:key. */
  readonly sender: string
  /** did:key of the node that is asked. */
  readonly audience: string
  /** ISO 8601, UTC, milliseconds. */
  readonly timestamp: string
  readonly nonce: string
  /** Over the other members. */
  readonly signature: string
}

export function sealEnvelope(keys: Keys, query: Json, { audience, timestamp, nonce }: Freshness): Envelope {
  const open = { query, sender: keys.did, audience, timestamp: toIso(timestamp), nonce }
  return { ...open, signature: signStatement(keys, open) }
}

export interface EnvelopeChecks {
  readonly audience: string
  readonly now: Instant
  readonly nonces: Nonces
  /**
   * Counts the message against its sender, when all but its number was found good: to remember a number is a write, which
   * nobody may cause without a limit. What it throws is thrown, and the number can be used still.
   */
  readonly charge?: ((sender: string) => void) | undefined
}

/**
 * Null when the envelope is for this node, timely, whole and new; else why not. Members beyond the six would not be under
 * the signature: they make it malformed.
 */
export async function envelopeRefusal(
  envelope: Envelope,
  { audience, now, nonces, charge }: EnvelopeChecks,
): Promise<Refusal | null> {
  const { signature, ...open } = envelope
  if (!isWhole(envelope) || !isNonce(open.nonce)) return 'malformed'
  if (open.audience !== audience) return 'audience'
  if (!isIso(open.timestamp)) return 'malformed'
  if (!isTimely(Date.parse(open.timestamp), now)) return 'clock'
  if (!isStatementOf(open.sender, open, signature)) return 'signature'
  // Whoever has seen the message could send it again and again, and use up what its sender may ask.
  if (nonces.isUsed(open.sender, open.nonce, now)) return 'replay'
  charge?.(open.sender)
  return (await nonces.use(open.sender, open.nonce, now)) ? null : 'replay'
}

const TEXTS = ['sender', 'audience', 'timestamp', 'nonce', 'signature'] as const

function isWhole(envelope: Envelope): boolean {
  return (
    envelope.query !== undefined &&
    Object.keys(envelope).length === TEXTS.length + 1 &&
    TEXTS.every(name => Object.hasOwn(envelope, name) && typeof envelope[name] === 'string')
  )
}

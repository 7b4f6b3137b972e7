/**
 * Signed HTTP requests: four headers say which requester asks which node, when and for the first time; the signature is over these, the
 * method, the path with its query, and the hash of the body. An answer is not signed: TLS and the audience see to that.
 */

import { type Json, sha256 } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import { isNonce, isTimely, type Refusal } from './freshness.ts'
import type { Keys } from './keys.ts'
import type { Nonces } from './nonces.ts'
import { isStatementOf, signStatement } from './statement.ts'

/** `Authorization: Querent-Signature <did> <signature>`; the other three have headers of their own. */
const SCHEME = 'Querent-Signature'
const AUDIENCE = 'querent-audience'
const TIMESTAMP = 'querent-timestamp'
const NONCE = 'querent-nonce'
/** Milliseconds, up to the year 5138. */
const INSTANT = /^\d{1,14}$/

/** What arrived. */
export interface RequestFacts {
  /** As it was sent: case matters. */
  readonly method: string
  /** From the first slash on, the query included, as it was sent. */
  readonly path: string
  readonly body: string | Uint8Array
}

/** What its headers say of it. */
export interface RequestClaim {
  /** did:key. */
  readonly sender: string
  /** did:key of the node that is asked: nobody can hand the request on as if it were meant for another. */
  readonly audience: string
  readonly timestamp: Instant
  readonly nonce: string
  readonly signature: string
}

export interface Freshness {
  readonly audience: string
  readonly timestamp: Instant
  readonly nonce: string
}

/** The headers to send with a request. */
export function signRequest(keys: Keys, facts: RequestFacts, freshness: Freshness): Record<string, string> {
  const signature = signStatement(keys, statementOf(facts, { ...freshness, sender: keys.did }))
  return {
    authorization: `${SCHEME} ${keys.did} ${signature}`,
    [AUDIENCE]: freshness.audience,
    [TIMESTAMP]: String(freshness.timestamp),
    [NONCE]: freshness.nonce,
  }
}

/** What the headers claim; null: the request bears no signature at all; `malformed`: it does, and not a whole one. */
export function readClaim(header: (name: string) => string | null | undefined): RequestClaim | 'malformed' | null {
  const [scheme, sender, signature, ...more] = (header('authorization') ?? '').split(' ')
  if (scheme?.toLowerCase() !== SCHEME.toLowerCase()) return null
  const [audience, timestamp, nonce] = [header(AUDIENCE), header(TIMESTAMP), header(NONCE)]
  if (!sender || !signature || more.length > 0 || !audience || !nonce) return 'malformed'
  if (!INSTANT.test(timestamp ?? '') || !isNonce(nonce)) return 'malformed'
  return { sender, signature, audience, timestamp: Number(timestamp), nonce }
}

/**
 * Null when the sender is who it says it is; else why not. The number is used up only by a request that is good in all
 * else.
 */
export async function refusalOf(
  facts: RequestFacts,
  claim: RequestClaim,
  { audience, now, nonces }: { readonly audience: string; readonly now: Instant; readonly nonces: Nonces },
): Promise<Refusal | null> {
  if (claim.audience !== audience) return 'audience'
  if (!isTimely(claim.timestamp, now)) return 'clock'
  if (!isNonce(claim.nonce)) return 'malformed'
  if (!isStatementOf(claim.sender, statementOf(facts, claim), claim.signature)) return 'signature'
  return (await nonces.use(claim.sender, claim.nonce, now)) ? null : 'replay'
}

function statementOf(facts: RequestFacts, claim: Freshness & { readonly sender: string }): Json {
  const { sender, audience, timestamp, nonce } = claim
  const { method, path, body } = facts
  return { type: 'querent.request.v1', method, path, body: sha256(body), sender, audience, timestamp, nonce }
}

/** Signed messages between nodes and agents, and what keeps one from being used again (BQ-119, BQ-120). */
import { createHash } from 'node:crypto'
import { canonicalJson, type Json, sha256 } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import { isIso, toIso } from '../model/instant.ts'
import { fromBase64Url, type Keys, SIGNATURE_BYTES, toBase64Url, type Verifier, verifierOf } from './keys.ts'
import type { MachineTime } from './rates.ts'

// Signed statements: Ed25519 over the SHA-256 of the canonical JSON of RFC 8785 (keys sorted by UTF-16 unit, no white
// space, shortest numbers), so that the order in which somebody wrote the members does not matter.

/** 32 bytes. Throws a RangeError for what has no canonical JSON: numbers that are not finite, half a surrogate pair, endless depth. */
export function statementHash(statement: Json): Uint8Array {
  if (!hasCanonicalJson(statement))
    throw new RangeError(`a statement is JSON of finite numbers and well-formed texts, ${MAX_LEVELS} levels deep`)
  return createHash('sha256').update(canonicalJson(statement)).digest()
}

/** In base64url, 86 characters. */
export function signStatement(keys: Keys, statement: Json): string {
  return toBase64Url(keys.sign(statementHash(statement)))
}

/** False for anything that is not a signature of this statement, however malformed. */
export function isStatementOf(by: string | Verifier, statement: Json, signature: string): boolean {
  const verifier = typeof by === 'string' ? verifierOf(by) : by
  const bytes = fromBase64Url(signature, SIGNATURE_BYTES)
  if (verifier === null || bytes === null || !hasCanonicalJson(statement)) return false
  return verifier.verify(statementHash(statement), bytes)
}

/** Far more than statements have, and far less than ends a stack that walks them. */
const MAX_LEVELS = 128

/** Whether another implementation would write the same canonical text, or any: what comes from outside may be anything. */
function hasCanonicalJson(value: unknown, levels = MAX_LEVELS): boolean {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed()
    case 'number':
      return Number.isFinite(value)
    case 'boolean':
      return true
    case 'object':
      if (value === null) return true
      if (levels === 0) return false
      if (Array.isArray(value)) return value.every(item => hasCanonicalJson(item, levels - 1))
      return Object.entries(value).every(([key, item]) => key.isWellFormed() && hasCanonicalJson(item, levels - 1))
    default:
      return false
  }
}

// What keeps a signed message from being used again: for whom it is, when it was made, and a number used once.

const NONCE_BYTES = 32
/** How far two clocks may lie apart. */
export const CLOCK_TOLERANCE_MS = 300_000

/** Why a message is not taken. Operators see it; a caller learns only that it is not authorised. */
export type Refusal = 'malformed' | 'signature' | 'audience' | 'clock' | 'replay'

export function newNonce(random: (bytes: number) => Uint8Array): string {
  return toBase64Url(random(NONCE_BYTES))
}

export function isNonce(text: string): boolean {
  return fromBase64Url(text, NONCE_BYTES) !== null
}

export function isTimely(timestamp: Instant, now: Instant): boolean {
  return Math.abs(now - timestamp) <= CLOCK_TOLERANCE_MS
}

// Remembers which numbers of a sender were used, for as long as a message that bears one could still be taken.

/** A message may be dated one tolerance ahead and is taken until one tolerance behind: 600 s. */
export const NONCE_LIFE_MS: number = 2 * CLOCK_TOLERANCE_MS

export interface Nonces {
  /**
   * True the first time, false for every repetition within `NONCE_LIFE_MS` at least. To be asked last, of messages that
   * are good in all else: strangers then cannot fill it, nor use up another's numbers.
   */
  use(sender: string, nonce: string, now: Instant): boolean | Promise<boolean>
  /** Whether `use` would be false, as far as that is known without writing anything. */
  isUsed(sender: string, nonce: string, now: Instant): boolean
}

// Signed HTTP requests: four headers say which requester asks which node, when and for the first time; the signature is over these, the
// method, the path with its query, and the hash of the body. An answer is not signed: TLS and the audience see to that.

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
interface RequestClaim {
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

// A question on its way to another node: the requester, which node is meant, when, a number used once, and the signature over
// all of that and the question (BQ-119, BQ-120).

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

interface EnvelopeChecks {
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

// The node itself, as others meet it: its key, the numbers it has taken, and the time it holds them against.

export interface NodeIdentity {
  /** Made with the first use, which writes: not within a read. */
  keys(): Keys
  /** Remembered in the store, so that no process on it takes a message that another has taken. */
  readonly nonces: Nonces
  /** Machine time: meaning has no part in this. */
  now(): Instant
  /** Of a clock that nobody can set: what limits and rests go by. */
  machineTime(): MachineTime
}

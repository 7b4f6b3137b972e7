/** Signed messages between nodes and agents, and protection against replaying them (BQ-119, BQ-120). */
import { createHash } from 'node:crypto'
import { canonicalJson, type Json, sha256 } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import { isIso, toIso } from '../model/instant.ts'
import { fromBase64Url, type Keys, SIGNATURE_BYTES, toBase64Url, type Verifier, verifierOf } from './keys.ts'
import type { MachineTime } from './rates.ts'

// Signed statements: Ed25519 over the SHA-256 of the canonical JSON of RFC 8785 (keys sorted by UTF-16 unit, no white space, shortest
// numbers), so that the order in which the members were written does not matter.

/**
 * The 32-byte SHA-256 hash of a statement's canonical JSON. Throws a RangeError for a value that has no canonical JSON: numbers that are
 * not finite, half a surrogate pair, or too deep nesting.
 */
export function statementHash(statement: Json): Uint8Array {
  if (!hasCanonicalJson(statement))
    throw new RangeError(`a statement is JSON of finite numbers and well-formed texts, ${MAX_LEVELS} levels deep`)
  return createHash('sha256').update(canonicalJson(statement)).digest()
}

/** The signature of a statement in base64url, 86 characters. */
export function signStatement(keys: Keys, statement: Json): string {
  return toBase64Url(keys.sign(statementHash(statement)))
}

/**
 * Verifies the signature of a statement. Returns false if it is not a valid signature of this statement by this sender, however malformed
 * the arguments are.
 */
export function isStatementOf(by: string | Verifier, statement: Json, signature: string): boolean {
  const verifier = typeof by === 'string' ? verifierOf(by) : by
  const bytes = fromBase64Url(signature, SIGNATURE_BYTES)
  if (verifier === null || bytes === null || !hasCanonicalJson(statement)) return false
  return verifier.verify(statementHash(statement), bytes)
}

/**
 * Maximum nesting depth of a signed statement: far more than real statements have, and far less than would overflow the stack of a
 * recursive function.
 */
const MAX_LEVELS = 128

/**
 * Whether a value from outside has exactly one canonical JSON text (RFC 8785): it has only finite numbers, no half surrogate pairs, no
 * values that JSON lacks, and is not nested too deeply.
 */
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

// What protects a signed message from being sent again by a third party (replay): the receiver it is meant for (its audience), its time,
// and a nonce (a number used once).

const NONCE_BYTES = 32
/** Largest difference allowed between the clocks of sender and receiver, in milliseconds. */
export const CLOCK_TOLERANCE_MS = 300_000

/** Why a signed message is rejected. The reason is shown to operators; the sender gets only `unauthenticated`. */
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

// The nonces (numbers used once) that each sender has used, remembered for as long as a message with the nonce could still be accepted.

/**
 * Milliseconds for which a used nonce is remembered. A message may be dated up to one clock tolerance ahead, and is accepted until one
 * tolerance after its date: two tolerances, 600 s in total.
 */
export const NONCE_LIFE_MS: number = 2 * CLOCK_TOLERANCE_MS

export interface Nonces {
  /**
   * Marks a sender's nonce as used. Returns true the first time, false for a repetition within at least `NONCE_LIFE_MS` milliseconds. Must
   * be called last, for messages that passed all other checks, so that strangers can neither fill the memory of nonces nor use up another
   * sender's nonces.
   */
  use(sender: string, nonce: string, now: Instant): boolean | Promise<boolean>
  /** Whether the sender has already used this nonce, as far as that is known without writing. */
  isUsed(sender: string, nonce: string, now: Instant): boolean
}

// Signed HTTP requests: four headers contain the sender, the audience (the node that is asked), the time and the nonce; the signature
// covers these, the method, the path with its query, and the hash of the body. Responses are not signed: TLS and the audience protect them.

/**
 * The `Authorization` header of a signed request: `Querent-Signature <did> <signature>`. Audience, time and nonce have headers of their
 * own.
 */
const SCHEME = 'Querent-Signature'
const AUDIENCE = 'querent-audience'
const TIMESTAMP = 'querent-timestamp'
const NONCE = 'querent-nonce'
/** Pattern of the time header: milliseconds since 1970 in decimal digits, of a length that is enough up to the year 5138. */
const INSTANT = /^\d{1,14}$/

/** The parts of a received HTTP request that its signature covers. */
export interface RequestFacts {
  /** HTTP method of the request in the letter case in which it was sent, because the signature depends on it. */
  readonly method: string
  /** Path of the request from the first slash on, with the query string, exactly as it was sent. */
  readonly path: string
  readonly body: string | Uint8Array
}

/** The statement in the signature headers of a request, before its signature is checked. */
interface RequestClaim {
  /** did:key of the sender. */
  readonly sender: string
  /** did:key of the node that is asked, so that nobody can forward the request to another node. */
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

/** The signature headers to send with a request. */
export function signRequest(keys: Keys, facts: RequestFacts, freshness: Freshness): Record<string, string> {
  const signature = signStatement(keys, statementOf(facts, { ...freshness, sender: keys.did }))
  return {
    authorization: `${SCHEME} ${keys.did} ${signature}`,
    [AUDIENCE]: freshness.audience,
    [TIMESTAMP]: String(freshness.timestamp),
    [NONCE]: freshness.nonce,
  }
}

/** Parses the signature headers of a request. Null: the request is not signed; `malformed`: a header is missing or has a wrong form. */
export function readClaim(header: (name: string) => string | null | undefined): RequestClaim | 'malformed' | null {
  const [scheme, sender, signature, ...more] = (header('authorization') ?? '').split(' ')
  if (scheme?.toLowerCase() !== SCHEME.toLowerCase()) return null
  const [audience, timestamp, nonce] = [header(AUDIENCE), header(TIMESTAMP), header(NONCE)]
  if (!sender || !signature || more.length > 0 || !audience || !nonce) return 'malformed'
  if (!INSTANT.test(timestamp ?? '') || !isNonce(nonce)) return 'malformed'
  return { sender, signature, audience, timestamp: Number(timestamp), nonce }
}

/**
 * Checks the signature, audience, time and nonce of a signed request. Returns null if the request is accepted, otherwise the reason for
 * rejection. The nonce is marked as used only if all other checks passed.
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

// The envelope in which a query is sent to another node: the query, the sender, the node it is for, the time, a nonce, and the sender's
// signature over all of these (BQ-119, BQ-120).

export interface Envelope {
  readonly query: Json
  /** did:key of the sender. */
  readonly sender: string
  /** did:key of the node that the message is for. */
  readonly audience: string
  /** Time of the message: ISO 8601, UTC, with milliseconds. */
  readonly timestamp: string
  readonly nonce: string
  /** The sender's signature, in base64url, over the other fields of the envelope. */
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
   * Charges the message to the sender's rate limit, after all checks except that of the nonce have passed: remembering a nonce is a write,
   * which must not be free. If this function throws, its error is passed on and the nonce stays unused.
   */
  readonly charge?: ((sender: string) => void) | undefined
}

/**
 * Checks an envelope from another node. Returns null if the envelope is meant for this node, in time, unaltered and not a replay, otherwise
 * the reason for rejection. Fields beyond the six of an envelope make it malformed, because the signature would not cover them.
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
  // A message with a used nonce must not be charged to its sender: a third party who has seen the message could send it repeatedly and use
  // up the sender's units.
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

// The identity of this node (a store of Querent) in communication with other nodes: its key pair, the nonces (numbers used once) of
// messages that it has accepted, and the clocks for checking messages and for limits.

export interface NodeIdentity {
  /**
   * The key pair of this node. The first call creates it and writes it to the store, so the first call must not be made inside a read of
   * the store.
   */
  keys(): Keys
  /** Nonces of accepted messages, kept in the store, so that no process on it accepts a message that another process has accepted. */
  readonly nonces: Nonces
  /** Date and time of the machine, for checking the dates of messages; answers to queries do not depend on this clock. */
  now(): Instant
  /** Monotonic time in milliseconds, for rate limits and for pauses between requests to other nodes. */
  machineTime(): MachineTime
}

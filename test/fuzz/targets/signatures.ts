/** Signed requests, envelopes, statements and did:key names: what is not as it was signed is refused, in one way only. */
import type { Json, JsonObject } from '../../../src/base/canonical.ts'
import { didOf, keysOf, publicKeyOf } from '../../../src/identity/keys.ts'
import {
  type Envelope,
  envelopeRefusal,
  isStatementOf,
  readClaim,
  refusalOf,
  sealEnvelope,
  signRequest,
  signStatement,
} from '../../../src/identity/messages.ts'
import { newNonces } from '../../support/nonces.ts'
import { jsonNear, said, type Target } from '../inputs.ts'
import { assertEqual, must } from '../oracles.ts'

const NOW = Date.UTC(2026, 2, 1)
const [SENDER, NODE, STRANGER] = [1, 2, 3].map(byte => keysOf(new Uint8Array(32).fill(byte))) as [Keys, Keys, Keys]
type Keys = ReturnType<typeof keysOf>
const NONCE = Buffer.alloc(32, 7).toString('base64url')
const FRESH = { audience: NODE.did, timestamp: NOW, nonce: NONCE }
const QUERY: JsonObject = { semantic: 'fox', n: 1.5, a: [null, true, { b: 'ü' }] }
const FACTS = { method: 'POST', path: '/v1/ops/query?x=1', body: '{"text":"fox"}' }

const ENVELOPE = sealEnvelope(SENDER, QUERY, FRESH)
const HEADERS = signRequest(SENDER, FACTS, FRESH)
const SIGNATURE = signStatement(SENDER, QUERY)

const SEEDS: readonly JsonObject[] = [
  { envelope: { ...ENVELOPE } as unknown as JsonObject },
  { request: { ...FACTS, headers: HEADERS } },
  { statement: QUERY, by: SENDER.did, signature: SIGNATURE },
  { did: SENDER.did },
]
const WORDS = [
  SENDER.did,
  NODE.did,
  STRANGER.did,
  'did:key:z',
  'did:web:x',
  NONCE,
  SIGNATURE,
  'Querent-Signature ',
  'z6Mk',
  '1',
  '=',
  '-',
]

export const signatures: Target<Json> = {
  near: good => jsonNear(good, WORDS),
  seeds: SEEDS,
  open: async () => ({ try: tryAll }),
}

/** Each part where there is one; what is no object has none. */
async function tryAll(input: Json): Promise<void> {
  const given = said(input)
  if (typeof given !== 'object' || given === null) return
  const { envelope, request, statement, by, signature, did } = given as Readonly<Record<string, unknown>>
  if (envelope !== null && typeof envelope === 'object') await tryEnvelope(envelope as Envelope)
  if (request !== null && typeof request === 'object') await tryRequest(request as Readonly<Record<string, unknown>>)
  if (typeof by === 'string' && typeof signature === 'string') {
    const isGood = isStatementOf(by, statement as Json, signature)
    if (isGood) assertOurs(statement, QUERY, by)
  }
  if (typeof did === 'string') tryDid(did)
}

async function tryEnvelope(envelope: Envelope): Promise<void> {
  const nonces = newNonces()
  const here = { audience: NODE.did, now: NOW, nonces }
  const refusal = await envelopeRefusal(envelope, here)
  if (refusal === null) assertOurs(envelope.query, QUERY, envelope.sender)
  assertEqual(await envelopeRefusal(envelope, here), refusal ?? 'replay', 'refused for another reason the second time')
}

async function tryRequest({ method, path, body, headers }: Readonly<Record<string, unknown>>): Promise<void> {
  const named = typeof headers === 'object' && headers !== null ? (headers as Readonly<Record<string, unknown>>) : {}
  const claim = readClaim(name => (typeof named[name] === 'string' ? (named[name] as string) : null))
  if (claim === null || claim === 'malformed') return
  const facts = { method: text(method), path: text(path), body: text(body) }
  const nonces = newNonces()
  const refusal = await refusalOf(facts, claim, { audience: NODE.did, now: NOW, nonces })
  if (refusal !== null) return
  assertEqual(facts, FACTS, 'a request taken that was not signed so')
  must((await refusalOf(facts, claim, { audience: NODE.did, now: NOW, nonces })) === 'replay', 'taken twice')
}

/** Nobody here signed anything else; keys in another order are the same statement. */
function assertOurs(statement: unknown, ours: JsonObject, sender: string): void {
  must(sender === SENDER.did, 'a signature of somebody else')
  assertEqual(sorted(statement), sorted(ours), 'a statement that nobody has signed')
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .map(([name, inner]) => [name, sorted(inner)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

/** One key has one name. */
function tryDid(did: string): void {
  const key = publicKeyOf(did)
  if (key !== null) must(didOf(key) === did, `two names of one key: ${did}`)
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

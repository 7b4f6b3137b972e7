import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/base/canonical.ts'
import { fromBase64Url, keysOf, toBase64Url } from '../../../src/identity/keys.ts'
import {
  CLOCK_TOLERANCE_MS,
  type Envelope,
  envelopeRefusal,
  isNonce,
  isStatementOf,
  NONCE_LIFE_MS,
  newNonce,
  readClaim,
  refusalOf,
  sealEnvelope,
  signRequest,
  signStatement,
  statementHash,
} from '../../../src/identity/messages.ts'
import { newNonces } from '../../support/nonces.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')
const keys = keysOf(new Uint8Array(32).fill(1))
const node = keysOf(new Uint8Array(32).fill(2)).did
const nonce = newNonce(bytes => new Uint8Array(bytes).fill(7))
const json = fc.jsonValue({ noUnicodeString: false, maxDepth: 3 }) as fc.Arbitrary<Json>

describe('a statement', () => {
  it('is the same whatever the order of its members', () => {
    expect(statementHash({ a: 1, b: [2, null] })).toEqual(statementHash({ b: [2, null], a: 1 }))
    expect(isStatementOf(keys.did, { b: 2, a: 1 }, signStatement(keys, { a: 1, b: 2 }))).toBe(true)
  })

  it('hashes the canonical text of RFC 8785', () => {
    const hash = Buffer.from(statementHash({ é: 1e21, a: -0, '\u{1f600}': 0.1 })).toString('hex')
    // SHA-256 of {"a":0,"é":1e+21,"😀":0.1}.
    expect(hash).toBe('dc7fa7d922a5136513df8b3ace234bf6e164066fbaff68a20ca3424f5635afba')
  })

  it('is nobody else’s, and no other statement', () => {
    const property = fc.property(json, json, (one, other) => {
      const signature = signStatement(keys, one)
      expect(isStatementOf(keys.did, one, signature)).toBe(true)
      expect(isStatementOf(node, one, signature)).toBe(false)
      const same = Buffer.compare(statementHash(one), statementHash(other)) === 0
      expect(isStatementOf(keys.did, other, signature)).toBe(same)
    })
    fc.assert(property, { numRuns: 50 })
  })

  it('has no signature where it has no canonical text', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, '\ud800', undefined, 1n]) {
      expect(() => signStatement(keys, { value } as unknown as Json), String(value)).toThrow(RangeError)
      expect(isStatementOf(keys.did, { value } as unknown as Json, signStatement(keys, {}))).toBe(false)
    }
    expect(isStatementOf(keys.did, {}, `${signStatement(keys, {})}=`)).toBe(false)
  })

  it('is nobody’s when it is deeper than any that is signed', () => {
    let deep: Json = 1
    for (let level = 0; level < 50_000; level++) deep = [deep]
    expect(isStatementOf(keys.did, deep, signStatement(keys, {}))).toBe(false)
    expect(() => signStatement(keys, deep)).toThrow(/levels deep/)
    expect(isStatementOf('nobody', {}, signStatement(keys, {}))).toBe(false)
  })
})

describe('base64url', () => {
  it('takes one text for each value', () => {
    const property = fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), bytes => {
      const text = toBase64Url(bytes)
      expect(fromBase64Url(text, 32)).toEqual(bytes)
      expect(fromBase64Url(`${text}=`, 32)).toBeNull()
      expect(fromBase64Url(text, 31)).toBeNull()
    })
    fc.assert(property)
    const [zero, same] = ['A'.repeat(43), `${'A'.repeat(42)}B`]
    expect([isNonce(zero), isNonce(same)]).toEqual([true, false])
  })
})

describe('a signed request', () => {
  const facts = { method: 'POST', path: '/v1/call/beliefs.query?x=1', body: '{"a":1}' }
  const headers = signRequest(keys, facts, { audience: node, timestamp: NOW, nonce })
  const claim = claimOf(headers)
  const check = (more: object = {}, at = {}) =>
    refusalOf({ ...facts, ...more }, claim, { audience: node, now: NOW, nonces: newNonces(), ...at })

  it('is taken within five minutes either way', async () => {
    expect(await check()).toBeNull()
    expect(await check({}, { now: NOW + CLOCK_TOLERANCE_MS })).toBeNull()
    expect(await check({}, { now: NOW - CLOCK_TOLERANCE_MS })).toBeNull()
    expect(await check({}, { now: NOW + CLOCK_TOLERANCE_MS + 1 })).toBe('clock')
    expect(await check({}, { now: NOW - CLOCK_TOLERANCE_MS - 1 })).toBe('clock')
  })

  it('is refused with any part changed', async () => {
    for (const more of [{ method: 'GET' }, { path: '/v1/call/beliefs.query?x=2' }, { body: '{"a":2}' }]) {
      expect(await check(more)).toBe('signature')
    }
    expect(await check({}, { audience: keys.did })).toBe('audience')
    const at = { audience: node, now: NOW, nonces: newNonces() }
    for (const part of [{ timestamp: NOW + 1 }, { sender: node }, { nonce: newNonce(n => new Uint8Array(n)) }]) {
      expect(await refusalOf(facts, { ...claim, ...part }, at)).toBe('signature')
    }
  })

  it('is taken once, and a bad one uses nothing up', async () => {
    const nonces = newNonces()
    expect(await check({ body: '' }, { nonces })).toBe('signature')
    expect(await check({}, { nonces })).toBeNull()
    expect(await check({}, { nonces })).toBe('replay')
    expect(await check({}, { nonces, now: NOW + CLOCK_TOLERANCE_MS })).toBe('replay')
  })

  it('is told from one without a signature, and from half a one', () => {
    expect(readClaim(() => undefined)).toBeNull()
    expect(readClaim(name => (name === 'authorization' ? 'Bearer abc' : null))).toBeNull()
    for (const name of Object.keys(headers).filter(name => name !== 'authorization')) {
      expect(
        readClaim(other => (other === name ? undefined : headers[other])),
        name,
      ).toBe('malformed')
    }
    expect(readClaim(name => (name === 'querent-timestamp' ? '1e3' : headers[name]))).toBe('malformed')
    expect(readClaim(name => (name === 'querent-nonce' ? 'short' : headers[name]))).toBe('malformed')
  })

  function claimOf(all: Readonly<Record<string, string>>) {
    const read = readClaim(name => all[name])
    if (read === null || read === 'malformed') throw new Error('no claim')
    return read
  }
})

describe('an envelope (BQ-119, BQ-120)', () => {
  const sealed = sealEnvelope(keys, { semantic: 'x' }, { audience: node, timestamp: NOW, nonce })
  const check = (envelope: Envelope, at = {}) =>
    envelopeRefusal(envelope, { audience: node, now: NOW, nonces: newNonces(), ...at })

  it('is taken by the node that it is for, once', async () => {
    const nonces = newNonces()
    expect(await check(sealed, { nonces })).toBeNull()
    expect(await check(sealed, { nonces })).toBe('replay')
    expect(await check(sealed, { audience: keys.did })).toBe('audience')
    expect(await check(sealed, { now: NOW + CLOCK_TOLERANCE_MS + 1 })).toBe('clock')
  })

  it('is refused with any member changed, missing or added', async () => {
    expect(await check({ ...sealed, query: { semantic: 'y' } })).toBe('signature')
    expect(await check({ ...sealed, sender: node })).toBe('signature')
    expect(await check({ ...sealed, timestamp: '2026-03-01T12:00:01.000Z' })).toBe('signature')
    expect(await check({ ...sealed, nonce: newNonce(n => new Uint8Array(n)) })).toBe('signature')
    expect(await check({ ...sealed, extra: '1' } as Envelope)).toBe('malformed')
    for (const name of Object.keys(sealed)) {
      const { [name as keyof Envelope]: _, ...others } = sealed
      expect(await check({ ...others, other: 'x' } as unknown as Envelope), `other instead of ${name}`).toBe(
        'malformed',
      )
    }
    expect(await check({ ...sealed, timestamp: '2026-03-01T12:00:00Z' })).toBe('malformed')
    expect(await check({ ...sealed, nonce: 1 } as unknown as Envelope)).toBe('malformed')
    const { query, ...rest } = sealed
    expect(query).toBeDefined()
    expect(await check(rest as Envelope)).toBe('malformed')
  })
})

describe('nonces (BQ-120)', () => {
  it('are remembered for 600 s and longer, by sender', async () => {
    const nonces = newNonces()
    expect(await nonces.use('a', nonce, NOW)).toBe(true)
    expect(await nonces.use('b', nonce, NOW)).toBe(true)
    expect(await nonces.use('a', nonce, NOW + NONCE_LIFE_MS)).toBe(false)
    expect(await nonces.use('a', nonce, NOW - NONCE_LIFE_MS)).toBe(false)
  })

  it('are never forgotten too early, and are forgotten in the end', async () => {
    const steps = fc.array(fc.tuple(fc.nat(5), fc.nat(400_000)), { maxLength: 60 })
    const property = fc.asyncProperty(steps, async all => {
      const nonces = newNonces()
      const last = new Map<number, number>()
      let now = NOW
      for (const [which, pause] of all) {
        now += pause
        const before = last.get(which)
        const taken = await nonces.use('a', String(which), now)
        if (before === undefined) expect(taken).toBe(true)
        else if (now - before <= NONCE_LIFE_MS) expect(taken).toBe(false)
        else if (now - before > 2 * NONCE_LIFE_MS + 400_000) expect(taken).toBe(true)
        if (taken) last.set(which, now)
      }
    })
    await fc.assert(property)
  })
})

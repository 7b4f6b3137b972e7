/** What an agent says of another, and questions about trust. */
import { describe, expect, it } from 'vitest'
import { checkEdge, checkTrustQuestion } from './checks.ts'
import { refusal, reported } from './faults.ts'

function edge(input: object): unknown {
  return checkEdge({ target: 'you', trust_level: 0.8, ...input })
}

describe('an edge', () => {
  it('has a target and a level, and the rest by default (BQ-069)', () => {
    expect(edge({})).toEqual({
      target: 'you',
      level: 0.8,
      domains: {},
      basis: [],
      persistent: false,
      exposure: 'private',
      signed: null,
    })
  })

  it('may say more: domains in one form, what it rests on, who may know (BQ-006, BQ-069)', () => {
    const input = {
      trust_level: 0,
      domain_trust: { 'Code:Rust': 0.3, code: 1, __proto__x: 0 },
      basis: [{ type: 'MANUAL' }, { type: 'DIRECT_INTERACTION', confidence: 0.5 }],
      persistent: true,
      exposure: 'exposed',
      created: '2026-01-01T00:00:00Z',
      updated: '2026-01-02T00:00:00Z',
      signature: 'abc',
    }
    expect(edge(input)).toEqual({
      target: 'you',
      level: 0,
      domains: { 'code/rust': 0.3, code: 1, __proto__x: 0 },
      basis: [
        { type: 'MANUAL', confidence: 1 },
        { type: 'DIRECT_INTERACTION', confidence: 0.5 },
      ],
      persistent: true,
      exposure: 'exposed',
      signed: { createdAt: Date.UTC(2026, 0, 1), updatedAt: Date.UTC(2026, 0, 2), signature: 'abc' },
    })
  })

  it.each<[object, string]>([
    [{ trust_level: 1.1 }, 'trust_level: range'],
    [{ trust_level: -0.1 }, 'trust_level: range'],
    [{ trust_level: Number.NaN }, 'trust_level: range'],
    [{ trust_level: undefined }, 'trust_level: required'],
    [{ target: undefined }, 'target: required'],
    [{ domain_trust: { code: 2 } }, 'domain_trust.code: range'],
    [{ domain_trust: { 'a b': 1 } }, 'domain_trust["a b"]: malformed'],
    [{ domain_trust: { 'a/b': 1, 'A:B': 0 } }, 'domain_trust["A:B"]: duplicate'],
    [{ domain_trust: [1] }, 'domain_trust: type'],
    [{ basis: [{ type: 'HUNCH' }] }, 'basis[0].type: unknown_value'],
    [{ basis: [{ confidence: 1 }] }, 'basis[0].type: required'],
    [{ exposure: 'public' }, 'exposure: unknown_value'],
    [{ signature: 'abc' }, 'input: incomplete'],
    [{ owner: 'them' }, 'owner: unknown_field'],
  ])('is refused: %j, %s (BQ-068, BQ-069)', (input, expected) => {
    expect(reported(() => edge(input))).toEqual([expected])
    expect(refusal(() => edge(input)).code).toBe('INVALID_QUERY')
  })
})

describe('a question about trust', () => {
  const requester = { id: 'me', trustGraph: null }

  it('has a target and the context of a query (BQ-064)', () => {
    const { target, context } = checkTrustQuestion({ target: 'you', context: { max_trust_hops: 9 } }, requester)
    expect([target, context.maxTrustHops, context.transitiveDamping]).toEqual(['you', 5, 0.7])
    expect(checkTrustQuestion({ target: 'you' }, requester).context.requesterId).toBe('me')
  })

  it('is about the requester’s own trust (BQ-065, BQ-066)', () => {
    const question = { target: 'you', context: { requester_id: 'you' } }
    expect(refusal(() => checkTrustQuestion(question, requester)).code).toBe('UNAUTHORIZED')
    expect(reported(() => checkTrustQuestion({ context: { trust_weight: 2 } }, requester))).toEqual([
      'context.trust_weight: range',
      'target: required',
    ])
  })
})

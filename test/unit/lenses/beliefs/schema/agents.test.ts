/** Agents, federations and members as they are written. */
import { describe, expect, it } from 'vitest'
import { checkAgent, checkFederation, checkFederationOnly, checkMember } from './checks.ts'
import { reported } from './faults.ts'

const DID = 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK'

describe('an agent', () => {
  it('has an id, and whatever else is said of it; null takes it away (BQ-011, BQ-081)', () => {
    expect(checkAgent({ id: 'a' })).toEqual({ id: 'a' })
    const said = { id: 'a', label: 'Ann', did: DID, reputation: 0.4, reputation_by_domain: { Medical: 0.9 } }
    expect(checkAgent({ ...said, trust_graph: 'friends' })).toEqual({ ...said, trust_graph: 'friends' })
    const none = { label: null, did: null, reputation: null, reputation_by_domain: null, trust_graph: null }
    expect(checkAgent({ id: 'a', ...none })).toEqual({ id: 'a', ...none })
  })

  it.each<[object, string]>([
    [{ id: undefined }, 'id: required'],
    [{ id: '' }, 'id: range'],
    [{ reputation: 1.1 }, 'reputation: range'],
    [{ reputation_by_domain: { 'x y': 1 } }, 'reputation_by_domain["x y"]: malformed'],
    [{ did: 'did:web:example.com' }, 'did: malformed'],
    [{ admin: true }, 'admin: unknown_field'],
  ])('is refused: %j, %s (BQ-025, BQ-081)', (input, expected) => {
    expect(reported(() => checkAgent({ id: 'a', ...input }))).toEqual([expected])
  })
})

describe('a federation', () => {
  it('says what it gives and whom it shows (BQ-100, BQ-104)', () => {
    const said = { id: 'f', results: 'aggregate', anonymity: 'strict', reputation: 0.5 } as const
    expect(checkFederation(said)).toEqual(said)
    expect(reported(() => checkFederation({ id: 'f', anonymity: 'none', results: 1 }))).toEqual([
      'anonymity: unknown_value',
      'results: type',
    ])
  })
})

describe('a member', () => {
  it('has a status, a role and permissions (BQ-092)', () => {
    const said = { federation: 'f', agent: 'a', status: 'suspended', role: 'observer' }
    expect(checkMember({ ...said, permissions: ['query_beliefs'] })).toEqual({
      ...said,
      permissions: ['query_beliefs'],
    })
    expect(checkMember({ federation: 'f', agent: 'a', permissions: [] }).permissions).toEqual([])
    expect(reported(() => checkMember({ agent: 'a', status: 'gone', permissions: ['all'] }))).toEqual([
      'status: unknown_value',
      'permissions[0]: unknown_value',
      'federation: required',
    ])
  })
})

describe('an id alone', () => {
  it('is what the operation calls it (BQ-025)', () => {
    expect(checkFederationOnly({ federation: 'f' })).toEqual({ federation: 'f' })
    expect(reported(() => checkFederationOnly({ id: 'f' }))).toEqual(['id: unknown_field', 'federation: required'])
  })
})

/** The examples of the rows, and what each of them guards against. */
import { beforeEach, describe, expect, it } from 'vitest'
import {
  type TrustQuestion,
  type TrustRules,
  tenthsHoldUntil,
  tenthsOf,
  trustBand,
} from '../../../../../src/lenses/beliefs/trust/edge.ts'
import type { EdgeDraft } from '../../../../../src/lenses/beliefs/trust/edges.ts'
import { TrustGraph } from '../../../../../src/lenses/beliefs/trust/trust-graph.ts'
import { openMemoryStore } from '../../../../../src/store/sqlite-store.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { DAY, host, NOW, PLAIN, RULES, trust } from './world.ts'

let store: Store
beforeEach(() => {
  store = openMemoryStore()
  for (const id of ['me', 'a', 'b', 'c', 'd', 'z']) host(store, id)
})

type Edges = readonly (readonly [string, string, number, Partial<EdgeDraft>?])[]

function edges(all: Edges): void {
  for (const [owner, target, level, more] of all) trust(store, owner, target, level, more)
}

function inZ(question: Partial<TrustQuestion> = {}, asOf = NOW, rules: Partial<TrustRules> = {}) {
  return new TrustGraph(store, { ...RULES, ...rules }).trustOf('me', { ...PLAIN, ...question }, asOf).of('z')
}

describe('a direct edge', () => {
  const finance = { domains: ['finance/tax'] }

  it('counts the mean of its level and its entries, lower ones too (BQ-062)', () => {
    edges([['me', 'z', 0.9, { domains: { finance: 0.1 } }]])
    expect(inZ(finance).value).toBe(0.5)
    expect(inZ({ ...finance, domainTrustWeight: 1 }).value).toBe(0.1)
    expect(inZ({ ...finance, domainTrustWeight: 0 }).value).toBe(0.9)
    expect(inZ({ domains: ['music'] }).value).toBe(0.9)
    expect(inZ().value).toBe(0.9)
    edges([['me', 'z', 0.9, { domains: { finance: 0.1, music: 0.5 } }]])
    expect(inZ({ domains: ['finance', 'music', 'sport'] }).value).toBeCloseTo(0.5 * 0.9 + 0.5 * 0.3, 12)
  })

  it('takes the nearest ancestor’s entry, never a descendant’s (BQ-063)', () => {
    edges([['me', 'z', 1, { domains: { code: 0.9, 'code/rust': 0.3 } }]])
    const within = (domain: string) => inZ({ domains: [domain], domainTrustWeight: 1 }).value
    expect([within('code/rust/async'), within('code/c'), within('code')]).toEqual([0.3, 0.9, 0.9])
    edges([['me', 'z', 1, { domains: { 'code/rust': 0.3 } }]])
    expect(within('code')).toBe(1)
    expect(inZ({ domains: ['code/rust/async'] }).direct?.entries).toEqual({ 'code/rust/async': 0.3 })
  })

  it('fades while it is not used (BQ-070)', () => {
    const after = (level: number, days: number, more: Partial<EdgeDraft> = {}) => {
      edges([['me', 'z', level, more]])
      return inZ({}, NOW + days * DAY).value
    }
    const manual = { basis: [{ type: 'MANUAL' as const, confidence: 1 }] }
    expect(after(0.8, 365)).toBeCloseTo(0.555357320702, 12)
    expect(after(0.8, 365, manual)).toBeCloseTo(0.8 * Math.exp(-0.0365), 12)
    expect(after(0.95, 365)).toBeCloseTo(0.95 * Math.exp(-0.1825), 12)
    expect(after(0.95, 365, manual)).toBeCloseTo(0.95 * Math.exp(-0.01825), 12)
    expect(after(0.9, 365)).toBeCloseTo(0.9 * Math.exp(-0.365), 12)
    expect(after(0.8, 10_000, { persistent: true })).toBe(0.8)
    // A clock behind the one that wrote it raises nothing.
    expect(after(0.8, -100)).toBe(0.8)
  })

  it('never falls below a stranger by neglect alone (BQ-071)', () => {
    edges([['me', 'z', 0.8]])
    expect(inZ({}, NOW + 12 * 365 * DAY)).toMatchObject({ value: 0.1, kind: 'direct' })
    edges([['me', 'z', 0.05]])
    expect(inZ({}, NOW + 12 * 365 * DAY).value).toBe(0.05)
  })

  it('keeps others from being asked: neither routes nor reputation lift it (BQ-080)', () => {
    host(store, 'z', { reputation: 0.99 })
    edges([
      ['me', 'z', 0],
      ['me', 'a', 1],
      ['me', 'b', 1],
      ['a', 'z', 1],
      ['b', 'z', 1],
    ])
    expect(inZ()).toMatchObject({ value: 0, kind: 'direct', distrusted: true, transitive: null })
  })
})

describe('a route', () => {
  it('is worth the product of its edges, each damped once (BQ-073)', () => {
    edges([
      ['me', 'a', 0.9],
      ['a', 'b', 0.8],
      ['b', 'z', 0.7],
    ])
    expect(inZ().transitive?.level).toBeCloseTo(0.172872, 12)
    expect(inZ()).toMatchObject({ kind: 'transitive', transitive: { sources: 1, capped: false } })
    expect(inZ({ maxHops: 2 })).toMatchObject({ value: 0.1, kind: 'default', transitive: null })
  })

  it('is found though a stronger, longer one leads to its middle (BQ-074)', () => {
    // To b: over a and c 0.9 each, or from a at once for 0.5. Only the latter leaves an edge for z.
    edges([
      ['me', 'a', 1],
      ['a', 'c', 1],
      ['c', 'b', 1],
      ['a', 'b', 0.5],
      ['b', 'z', 1],
    ])
    expect(inZ({ damping: 0.9 }).transitive?.level).toBe(0.3)
    expect(inZ({ damping: 0.9 }, NOW, { sybilThreshold: 1 }).transitive?.level).toBeCloseTo(0.9 ** 3 * 0.5, 12)
    expect(inZ({ damping: 0.9, maxHops: 4 }, NOW, { sybilThreshold: 1 }).transitive?.level).toBeCloseTo(0.9 ** 4, 12)
  })

  it('never leads back through the requester', () => {
    edges([
      ['me', 'a', 1],
      ['a', 'me', 1],
      ['a', 'b', 1],
      ['b', 'a', 1],
    ])
    expect(inZ({ maxHops: 5 }).transitive).toBeNull()
  })

  it('is capped with one first hop, whatever is behind it (BQ-075)', () => {
    edges([
      ['me', 'a', 0.8],
      ['a', 'z', 0.8],
    ])
    expect(inZ().transitive).toEqual({ level: 0.3, sources: 1, capped: true })
    edges([
      ['a', 'b', 1],
      ['a', 'c', 1],
      ['b', 'z', 1],
      ['c', 'z', 1],
    ])
    expect(inZ().transitive).toEqual({ level: 0.3, sources: 1, capped: true })
    edges([
      ['me', 'd', 0.1],
      ['d', 'z', 0.2],
    ])
    // 0.07 x 0.14 is just below a hundredth: no second source.
    expect(inZ().transitive?.sources).toBe(1)
    edges([['d', 'z', 0.3]])
    const { transitive } = inZ()
    expect(transitive).toMatchObject({ sources: 2, capped: false })
    expect(transitive?.level).toBeCloseTo(0.3136, 12)
  })

  it('shares nobody with another, where that is the rule; new agents count less, where that is set (BQ-076)', () => {
    edges([
      ['me', 'a', 1],
      ['me', 'b', 1],
      ['a', 'c', 1],
      ['b', 'c', 1],
      ['c', 'z', 1],
    ])
    const disjoint = { sybilRule: 'disjoint' } as const
    expect(inZ().transitive).toMatchObject({ sources: 2, capped: false })
    expect(inZ({}, NOW, disjoint).transitive).toEqual({ level: 0.3, sources: 1, capped: true })
    edges([['b', 'z', 0.2]])
    expect(inZ({}, NOW, disjoint).transitive).toMatchObject({ sources: 2, capped: false })
    host(store, 'a', { createdAt: NOW - 29 * DAY })
    host(store, 'b', { createdAt: NOW - 29 * DAY })
    expect(inZ({}, NOW, { newAgentCap: true }).transitive?.level).toBeCloseTo(0.343 / 2, 12)
    expect(inZ({}, NOW + DAY, { newAgentCap: true }).transitive?.level).toBeGreaterThan(0.3)
    host(store, 'z', { createdAt: NOW + DAY - 29 * DAY })
    expect(inZ({}, NOW + DAY, { newAgentCap: true }).transitive).toMatchObject({ level: 0.3, capped: true })
  })

  it('leads through nobody distrusted, and over no edge of level 0 (BQ-077)', () => {
    edges([
      ['me', 'a', 1],
      ['me', 'b', 0],
      ['a', 'b', 1],
      ['b', 'z', 1],
      ['a', 'z', 0],
    ])
    expect(inZ()).toMatchObject({ value: 0.1, transitive: null })
    edges([['me', 'b', 0.9, { domains: { finance: 0 } }]])
    expect(inZ().transitive?.sources).toBe(2)
    expect(inZ({ domains: ['finance'], domainTrustWeight: 1 }).transitive).toBeNull()
  })

  it('takes others’ edges in tenths and the own exactly (BQ-078, BQ-108)', () => {
    for (const [level, used] of [
      [0.84, 0.8],
      [0.85, 0.9],
      [0.05, 0.1],
      [0.049, 0],
    ] as const) {
      edges([
        ['me', 'a', 0.437],
        ['a', 'z', level],
      ])
      const found = inZ().transitive
      if (used === 0) expect(found).toBeNull()
      else expect(found?.level).toBeCloseTo(0.437 * 0.7 * used * 0.7, 12)
    }
    edges([['a', 'z', 0.81]])
    const before = JSON.stringify(inZ())
    edges([['a', 'z', 0.79]])
    expect(JSON.stringify(inZ())).toBe(before)
  })

  it('takes the edges of hosted agents, and exposed ones (BQ-079)', () => {
    edges([
      ['me', 'a', 1],
      ['a', 'far', 1],
      ['far', 'z', 1],
    ])
    expect(inZ().transitive).toBeNull()
    edges([['far', 'z', 1, { exposure: 'exposed' }]])
    expect(inZ().transitive?.level).toBe(0.3)
  })
})

describe('reputation (BQ-081)', () => {
  it('counts three tenths, for the domains asked for where it has them', () => {
    host(store, 'z', { reputation: 0.4, byDomain: { medical: 0.9 } })
    expect(inZ({ domains: ['medical/oncology'] })).toMatchObject({ value: 0.27, kind: 'reputation', reputation: 0.9 })
    expect(inZ({ domains: ['music'] })).toMatchObject({ value: 0.12, reputation: 0.4 })
    host(store, 'z', { reputation: 0.3 })
    expect(inZ()).toMatchObject({ value: 0.1, kind: 'default' })
  })

  it('comes in columns as overall, beside own edges alone (BQ-051, BQ-056)', () => {
    host(store, 'z', { reputation: 0.4, byDomain: { medical: 0.9 } })
    edges([
      ['me', 'a', 0.6],
      ['a', 'b', 1],
    ])
    const question = { ...PLAIN, domains: ['medical'] }
    const found = new TrustGraph(store, RULES).trustOf('me', question, NOW)
    const columns = found.columns(['z', 'me', 'a', 'b', 'nobody'])
    expect([...columns.reputation]).toEqual([0.4, NaN, NaN, NaN, NaN])
    expect([...columns.direct]).toEqual([NaN, 1, 0.6, NaN, NaN])
    expect(found.of('z').value).toBeCloseTo(0.27, 12)
    expect(['me', 'nobody'].map(name => found.of(name).value)).toEqual([1, 0.1])
  })
})

describe('tenths', () => {
  it('round half up, without noise of binary fractions', () => {
    for (let tenth = 0; tenth < 10; tenth++) {
      expect(tenthsOf((2 * tenth + 1) / 20), `${(2 * tenth + 1) / 20}`).toBe(tenth + 1)
      expect(tenthsOf(tenth / 10 + 0.049_999)).toBe(tenth)
    }
    expect(tenthsOf(0.1 + 0.2 + 0.05)).toBe(4)
    expect(tenthsOf(1)).toBe(10)
  })

  it('hold until shortly before they change', () => {
    for (const [base, rate] of [
      [0.8, 0.001],
      [1, 0.00005],
      [0.31, 0.0001],
    ] as const) {
      const tenths = tenthsOf(base)
      const until = tenthsHoldUntil(base, rate, NOW, NOW, tenths)
      const at = (instant: number) => tenthsOf(base * Math.exp((-rate * (instant - NOW)) / DAY))
      expect(at(until - 1)).toBe(tenths)
      expect(at(until + 3000)).toBe(tenths - 1)
    }
    expect(tenthsHoldUntil(0.8, 0, NOW, NOW, 8)).toBe(Number.POSITIVE_INFINITY)
  })
})

it('says no more of transitive trust than bands (BQ-107)', () => {
  expect([0, 0.199, 0.2, 0.399, 0.4, 1].map(trustBand)).toEqual(['low', 'low', 'medium', 'medium', 'high', 'high'])
})

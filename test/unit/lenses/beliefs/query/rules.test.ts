import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { spread } from '../../../../../src/lenses/beliefs/answer/diversity.ts'
import {
  byOrder,
  copiesToDrop,
  finalOf,
  type ScoredBelief,
  semanticOf,
} from '../../../../../src/lenses/beliefs/ranking/scored.ts'

const WEIGHTS = { semantic: 0.35, confidence: 0.25, trust: 0.3, recency: 0.1 }

function scored(fields: Partial<ScoredBelief> = {}): ScoredBelief {
  const parts = { semantic: 0.5, confidence: 0.5, trust: 0.5, recency: 0.5 }
  const source = { kind: 'network' as const, id: null }
  return { row: 0, entry: 1, id: 'a', createdAt: 0, source, holder: 'x', cosine: 0, parts, final: 0.5, ...fields }
}

// BQ-042, BQ-082
describe('the score', () => {
  it('is the weighted sum', () => {
    expect(semanticOf(0.8)).toBeCloseTo(0.9, 12)
    expect(semanticOf(1.0000001)).toBe(1)
    expect(finalOf({ semantic: 0.9, confidence: 0.8, trust: 1, recency: 0.63 }, WEIGHTS)).toBeCloseTo(0.878, 12)
  })

  it('never falls when a part rises', () => {
    const part = fc.double({ min: 0, max: 1, noNaN: true })
    const parts = fc.record({ semantic: part, confidence: part, trust: part, recency: part })
    const name = fc.constantFrom('semantic', 'confidence', 'trust', 'recency')
    fc.assert(
      fc.property(parts, name, part, (given, raised, to) => {
        const more = { ...given, [raised]: Math.max(given[raised as 'trust'], to) }
        expect(finalOf(more, WEIGHTS)).toBeGreaterThanOrEqual(finalOf(given, WEIGHTS))
      }),
    )
  })
})

// BQ-083
describe('the order', () => {
  it('is by score, then the newer, then id by code unit', () => {
    const list = [
      scored({ id: 'b' }),
      scored({ id: 'a' }),
      scored({ id: 'c', createdAt: 5 }),
      scored({ id: 'z', final: 0.6 }),
      scored({ id: 'B' }),
      scored({ id: 'a', holder: 'w' }),
    ]
    expect(list.toSorted(byOrder).map(({ id, holder }) => id + holder)).toEqual(['zx', 'cx', 'Bx', 'aw', 'ax', 'bx'])
  })
})

// BQ-130
describe('copies', () => {
  const local = { kind: 'local' as const, id: null }
  const of = (id: string) => ({ kind: 'federated' as const, id })
  const network = { kind: 'network' as const, id: null }
  const USUAL = { byTier: false, requester: 'me' }
  const kept = (same: 'id' | 'content', members: readonly ScoredBelief[]) => {
    const dropped = copiesToDrop([{ same, members }], USUAL)
    return members.filter(member => !dropped.has(member)).map(({ id }) => id)
  }

  it('stand behind the own one, however low it is', () => {
    const own = scored({ id: 'own', source: local, holder: 'me', final: 0.1 })
    expect(kept('content', [scored({ id: 'n', source: network }), scored({ id: 'f', source: of('f') }), own])).toEqual([
      'own',
    ])
    const second = scored({ id: 'own2', source: local, holder: 'me' })
    expect(kept('content', [own, second])).toEqual(['own', 'own2'])
    const shared = scored({ id: 'shared', source: of('f'), holder: 'me', final: 0.1 })
    expect(kept('content', [scored({ id: 'n', source: network }), shared])).toEqual(['shared'])
  })

  it('stand behind the first in order; of one federation one is left, of the network all', () => {
    const [low, high] = [scored({ id: 'low', source: of('f'), final: 0.2 }), scored({ id: 'high', source: of('f') })]
    expect(kept('content', [low, high, scored({ id: 'other', source: of('g'), final: 0.3 })])).toEqual(['high'])
    const top = scored({ id: 'top', source: network, final: 0.9 })
    expect(kept('content', [low, top, scored({ id: 'too', source: network, final: 0.1 })])).toEqual(['top', 'too'])
  })

  it('of one id leave one', () => {
    const [a, b] = [scored({ source: network, holder: 'a' }), scored({ source: network, holder: 'b' })]
    expect(copiesToDrop([{ same: 'id', members: [b, a] }], USUAL)).toEqual(new Set([b]))
    // What was left out for its id takes no other with it.
    const c = scored({ id: 'c', source: of('f'), final: 0.4 })
    const groups = [
      { same: 'content', members: [b, c] },
      { same: 'id', members: [a, b] },
    ] as const
    const dropped = copiesToDrop(groups, USUAL)
    expect(dropped).toEqual(new Set([b]))
  })
})

describe('a spread', () => {
  const open = { lambda: 0.7, minDistance: null, maxPerHolder: null, maxPerDomain: null }
  const noDomains = () => []

  // BQ-085
  it('takes likeness from what a belief is worth', () => {
    const pool = [scored({ final: 0.9 }), scored({ id: 'b', final: 0.85 }), scored({ id: 'c', final: 0.6 })]
    const likeness = (a: number, b: number) => (a + b === 1 ? 0.89 : -0.5)
    const picked = [...spread({ ...open, pool, domains: noDomains, likeness })]
    expect(picked.map(({ scored: { id } }) => id)).toEqual(['a', 'c', 'b'])
    expect(picked[2]?.penalty).toBeCloseTo(-0.3 * 0.89, 12)
    expect(0.7 * 0.85 + (picked[2]?.penalty as number)).toBeCloseTo(0.328, 12)
    expect(picked.slice(0, 2).map(({ penalty }) => penalty)).toEqual([0, 0])
  })

  // BQ-084
  it('keeps its limits', () => {
    const holders = ['p1', 'p1', 'x', 'p1', 'y']
    const pool = holders.map((holder, at) => scored({ id: `${at}`, holder, final: 1 - at / 10 }))
    const all = { ...open, lambda: 1, pool, domains: noDomains, likeness: () => 0 }
    expect([...spread({ ...all, maxPerHolder: 2 })].map(({ scored: s }) => s.holder)).toEqual(['p1', 'p1', 'x', 'y'])
    const domains = ({ id }: ScoredBelief) => (id === '4' ? [] : id === '0' ? ['a', 'b'] : ['b'])
    expect([...spread({ ...all, maxPerDomain: 1, domains })].map(({ scored: s }) => s.id)).toEqual(['0', '4'])
    const near = (a: number, b: number) => (Math.abs(a - b) === 1 ? 0.8 : 0)
    expect([...spread({ ...all, minDistance: 0.3, likeness: near })].map(({ scored: s }) => s.id)).toEqual([
      '0',
      '2',
      '4',
    ])
    expect([...spread({ ...all, minDistance: 0.2, likeness: near })]).toHaveLength(5)
  })
})

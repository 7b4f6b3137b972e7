/** A clique of a thousand that endorse each other (BQ-075), and which changes make routes be searched again. */
import { describe, expect, it } from 'vitest'
import { CountedEdges } from '../../../../../src/lenses/beliefs/trust/edge.ts'
import { HolderTrust } from '../../../../../src/lenses/beliefs/trust/holders.ts'
import { EDGES_AT_ONCE, searchRoutes } from '../../../../../src/lenses/beliefs/trust/routes.ts'
import { TrustGraph } from '../../../../../src/lenses/beliefs/trust/trust-graph.ts'
import { openMemoryStore } from '../../../../../src/store/sqlite-store.ts'
import { DAY, host, NOW, PLAIN, RULES, trust } from './world.ts'

const CLIQUE = 1000

describe('a clique of 1,000 that endorse each other', () => {
  const edges = new CountedEdges()
  const put = (owner: string, target: string, level = 1) =>
    edges.put(owner, target, { level, rate: 0, lastUsed: NOW, usedBefore: [], isExposed: true, byDomain: null })
  const fake = (at: number) => `fake-${at}`
  put('friend', 'honest', 0.6)
  put('other', 'honest', 0.6)
  put('me', 'friend', 0.9)
  put('me', 'other', 0.9)
  for (let from = 0; from < CLIQUE; from++) {
    for (let step = 1; step < CLIQUE; step++) put(fake(from), fake((from + step) % CLIQUE))
  }

  const trustOf = (maxHops: number, look?: () => void) => {
    const question = { ...PLAIN, maxHops, damping: 0.9 }
    const asked = { agents: new Map(), edges, rules: RULES, viewer: 'me', question, asOf: NOW, look }
    return new HolderTrust(asked, searchRoutes(asked))
  }

  it('adds nothing for a viewer without an edge into it', () => {
    for (const maxHops of [3, 5]) {
      const trust = trustOf(maxHops)
      expect(trust.of(fake(17))).toMatchObject({ value: 0.1, kind: 'default', transitive: null })
      expect(trust.of('honest').value).toBeGreaterThan(0.1)
    }
  })

  it('comes to the cap at most with one edge into it, and stays below what two friends say', () => {
    put('me', fake(0), 1)
    for (const maxHops of [2, 3, 5]) {
      const trust = trustOf(maxHops)
      expect(trust.of(fake(17)).transitive).toMatchObject({ level: 0.3, sources: 1, capped: true })
      expect(trust.of('honest').value).toBeGreaterThan(0.3)
    }
  })

  it(`is left at a look, which comes with every ${EDGES_AT_ONCE} edges (BQ-192)`, () => {
    put('me', fake(0), 1)
    let looks = 0
    trustOf(3, () => {
      looks++
    })
    expect(looks).toBeGreaterThanOrEqual(Math.floor(CLIQUE ** 2 / (EDGES_AT_ONCE + CLIQUE)))
    const late = () => {
      throw new Error('late')
    }
    expect(() => trustOf(3, late)).toThrow('late')
    expect(trustOf(3).of(fake(17)).transitive).toMatchObject({ level: 0.3 })
  })
})

it('routes that share nobody are counted with a look for each agent (BQ-076, BQ-192)', () => {
  const store = openMemoryStore()
  for (const id of ['me', 'a', 'b', 'z']) host(store, id)
  for (const via of ['a', 'b']) {
    trust(store, 'me', via, 0.8)
    trust(store, via, 'z', 0.8)
  }
  const graph = new TrustGraph(store, { ...RULES, sybilRule: 'disjoint' })
  let looks = 0
  const found = graph.trustOf('me', PLAIN, NOW, () => {
    looks++
  })
  expect(found.of('z').transitive).toMatchObject({ sources: 2 })
  expect(looks).toBeGreaterThanOrEqual(1)
})

describe('routes are kept', () => {
  function world() {
    const store = openMemoryStore()
    for (const id of ['me', 'a', 'b', 'z', 'far', 'off']) host(store, id)
    trust(store, 'me', 'a', 0.8)
    trust(store, 'a', 'b', 0.8)
    trust(store, 'b', 'z', 0.8)
    trust(store, 'far', 'off', 0.8)
    const graph = new TrustGraph(store, RULES)
    const isKept = (asOf = NOW, question = PLAIN) => {
      const made = graph.searches
      graph.trustOf('me', question, asOf)
      return graph.searches === made
    }
    isKept()
    return { store, isKept, mark: () => graph.mark('me', PLAIN) }
  }

  it('while time passes, until an edge on them counts less', () => {
    const { isKept } = world()
    expect([isKept(), isKept(NOW + DAY), isKept(NOW + 60 * DAY)]).toEqual([true, true, true])
    // 0.8 falls below 0.75 after 64.5 days.
    expect(isKept(NOW + 65 * DAY)).toBe(false)
    expect(isKept(NOW + 65 * DAY)).toBe(true)
    expect(isKept(NOW)).toBe(false)
  })

  it('when what changes is off the routes, within its tenth, or the own edge’s level', () => {
    const { store, isKept } = world()
    trust(store, 'far', 'off', 0.1)
    trust(store, 'off', 'a', 1)
    trust(store, 'z', 'far', 1)
    expect(isKept()).toBe(true)
    trust(store, 'b', 'z', 0.83)
    expect(isKept()).toBe(true)
    trust(store, 'me', 'a', 0.3)
    expect(isKept()).toBe(true)
    host(store, 'z', { reputation: 0.9 })
    expect(isKept()).toBe(true)
  })

  it('until an edge that changed within its tenth leaves it', () => {
    const { store, isKept } = world()
    trust(store, 'b', 'z', 0.76)
    // 0.76 falls below 0.75 after 13.2 days, 0.8 after 64.5.
    expect([isKept(), isKept(NOW + 13 * DAY), isKept(NOW + 14 * DAY)]).toEqual([true, true, false])
  })

  it('as of the newest moment: a change that counts now is one, though it would not have counted at an earlier moment (BQ-158)', () => {
    const { store, isKept, mark } = world()
    isKept(NOW + 65 * DAY)
    isKept(NOW)
    const before = mark()
    trust(store, 'b', 'z', 0.8, { persistent: true })
    expect(mark()).not.toEqual(before)
  })

  it('not when an edge on them counts otherwise, or a first hop comes or goes', () => {
    const { store, isKept } = world()
    const changes = [
      () => trust(store, 'b', 'z', 0.7),
      () => trust(store, 'b', 'far', 1),
      () => trust(store, 'me', 'b', 0.5),
      () => trust(store, 'me', 'b', 0),
      () => isKept(NOW, { ...PLAIN, damping: 0.6 }),
    ]
    for (const change of changes.slice(0, 4)) {
      change()
      expect(isKept()).toBe(false)
      expect(isKept()).toBe(true)
    }
    expect(changes[4]?.()).toBe(false)
  })
})

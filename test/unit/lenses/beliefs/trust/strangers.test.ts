/** Those who are not known here may ask as often as they like: nothing is kept of them, and they trust as others do. */
import { beforeEach, describe, expect, it } from 'vitest'
import { TrustGraph } from '../../../../../src/lenses/beliefs/trust/trust-graph.ts'
import { openMemoryStore } from '../../../../../src/store/sqlite-store.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { DAY, host, NOW, PLAIN, RULES, trust } from './world.ts'

let store: Store
let graph: TrustGraph
beforeEach(() => {
  store = openMemoryStore()
  for (const id of ['a', 'b']) host(store, id)
  trust(store, 'a', 'b', 0.8)
  graph = new TrustGraph(store, RULES)
})

describe('a requester of one question who holds nothing', () => {
  it('is not remembered', () => {
    const ask = (from: number, to: number) => {
      for (let at = from; at < to; at++) {
        graph.trustOf(`did:key:z${at}`, PLAIN, NOW + at)
        graph.mark(`did:key:z${at}`, PLAIN)
        graph.unused(`did:key:z${at}`, ['a', 'b'], NOW + DAY)
      }
      return graph.byteLength
    }
    const before = ask(0, 1)
    expect(ask(1, 1_001)).toBe(before)
    expect(graph.searches).toBe(0)
  })

  it.each(['first_hops', 'disjoint'] as const)('trusts himself, and others as a stranger does: %s', sybilRule => {
    const rules = { ...RULES, sybilRule, newAgentCap: true }
    const mine = new TrustGraph(store, rules).trustOf('me', PLAIN, NOW)
    expect(mine.of('me')).toMatchObject({ value: 1, kind: 'self' })
    expect(mine.of('b')).toMatchObject({ value: 0.1, kind: 'default', transitive: null })
    expect([...mine.columns(['a', 'me', 'nobody']).direct]).toEqual([NaN, 1, NaN])
  })

  it('is not taken for another one', () => {
    graph.trustOf('me', PLAIN, NOW)
    const yours = graph.trustOf('you', PLAIN, NOW)
    expect(['me', 'you'].map(name => yours.of(name).value)).toEqual([0.1, 1])
  })
})

describe('who becomes known', () => {
  it('by an own edge has its routes, as the mark tells', () => {
    const [before, mark] = [graph.trustOf('me', PLAIN, NOW), graph.mark('me', PLAIN)]
    trust(store, 'me', 'a', 0.9)
    expect(graph.mark('me', PLAIN)).not.toEqual(mark)
    const after = graph.trustOf('me', PLAIN, NOW)
    expect(after.of('a')).toMatchObject({ value: 0.9, kind: 'direct' })
    expect(after.of('b').kind).toBe('transitive')
    expect([...before.differences(after)].sort()).toEqual(['a', 'b'])
  })

  it('by another’s edge alone learns nothing of that, and stays himself to what was made before', () => {
    const before = graph.trustOf('me', PLAIN, NOW)
    trust(store, 'a', 'me', 0.9)
    const after = graph.trustOf('me', PLAIN, NOW)
    expect(before.differences(after)).toEqual([])
    expect(after.differences(before)).toEqual([])
    for (const made of [before, after]) expect(['me', 'a'].map(name => made.of(name).value)).toEqual([1, 0.1])
  })
})

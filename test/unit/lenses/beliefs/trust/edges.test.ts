/** Edges as kept: signed, refused when bad, alike in memory and on disk (BQ-068, BQ-069, BQ-072, BQ-199). */
import { afterAll, describe, expect, it } from 'vitest'
import { atOnce } from '../../../../../src/base/turns.ts'
import { keysOf } from '../../../../../src/identity/keys.ts'
import { signStatement } from '../../../../../src/identity/messages.ts'
import { TRUST, TRUST_CHANGES } from '../../../../../src/lenses/beliefs/tables.ts'
import { didOfAgent, noteEdges } from '../../../../../src/lenses/beliefs/trust/agent-facts.ts'
import { edgeStatement, type UnsignedEdge } from '../../../../../src/lenses/beliefs/trust/edge.ts'
import {
  checkAllEdges,
  type EdgeDraft,
  putEdge,
  readEdge,
  removeEdge,
  TOUCH_EVERY_MS,
} from '../../../../../src/lenses/beliefs/trust/edges.ts'
import {
  computeTrust,
  listTrust,
  noteUse,
  shownEdge,
  TrustGraph,
} from '../../../../../src/lenses/beliefs/trust/trust-graph.ts'
import { openMemoryStore, openSqliteStore } from '../../../../../src/store/sqlite-store.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { DAY, draft, host, NOW, PLAIN, RULES, randomBytes, trust } from './world.ts'

const folder = tempFolder()
afterAll(() => folder[Symbol.dispose]())
let made = 0

describe.each([
  ['in memory', () => openMemoryStore()],
  ['on SQLite', () => openSqliteStore({ file: folder.file(`${++made}.db`) })],
] as const)('edges %s', (_, open) => {
  const random = randomBytes(3)
  const setTrust = async (store: Store, said: EdgeDraft, now = NOW) =>
    shownEdge(store.write(now, writer => putEdge(writer, 'me', said, { now, random })))
  const removeTrust = (store: Store) => store.write(NOW, writer => removeEdge(writer, 'me', 'a'))
  const levelOf = (store: Store, target: string) =>
    new TrustGraph(store, RULES).trustOf('me', PLAIN, NOW).of(target).direct?.level

  it('come back as they were written (BQ-069)', async () => {
    const store = open()
    host(store, 'me')
    const basis = [{ type: 'MANUAL' as const, confidence: 0.5 }]
    const said = draft('a', 0.7, { domains: { code: 0.2 }, basis, persistent: true, exposure: 'exposed' })
    const reported = await setTrust(store, said)
    expect(reported).toMatchObject({ owner: 'me', target: 'a', trust_level: 0.7, domain_trust: { code: 0.2 }, basis })
    expect(reported).toMatchObject({ persistent: true, exposure: 'exposed', created: '2026-03-01T12:00:00.000Z' })
    expect(listTrust(store, 'me').edges).toEqual([reported])
    const later = await setTrust(store, draft('a', 0.8), NOW + 5)
    expect(later).toMatchObject({
      created: reported['created'],
      updated: '2026-03-01T12:00:00.005Z',
      exposure: 'private',
    })
    expect([removeTrust(store), removeTrust(store)]).toEqual([true, false])
    expect(listTrust(store, 'me')).toMatchObject({ edges: [], after: null })
    store.close()
  })

  it('are listed in pages, and to nobody else', async () => {
    const store = open()
    for (const target of ['c', 'a', 'b']) await setTrust(store, draft(target, 0.5))
    trust(store, 'other', 'z', 0.5)
    const first = listTrust(store, 'me', { limit: 2 })
    expect([first.edges.map(edge => edge['target']), first.after]).toEqual([['a', 'b'], 'b'])
    expect(listTrust(store, 'me', { limit: 2, after: 'b' }).edges.map(edge => edge['target'])).toEqual(['c'])
    store.close()
  })

  it('are refused when nobody could say so, and nothing is stored (BQ-068)', async () => {
    const store = open()
    for (const bad of [
      draft('me', 0.5),
      draft('a', 1.1),
      draft('a', -0.1),
      draft('a', Number.NaN),
      draft('a', 0.5, { domains: { 'Not Normal': 1 } }),
      draft('a', 0.5, { domains: { code: 2 } }),
      draft('a', 0.5, { basis: [{ type: 'OTHER' as 'MANUAL', confidence: 1 }] }),
    ]) {
      await expect(setTrust(store, bad)).rejects.toEqual(expect.objectContaining({ code: 'INVALID_QUERY' }))
    }
    expect(store.table(TRUST).count()).toBe(0)
    expect(store.meta('agent_key:me')).toBeUndefined()
    store.close()
  })

  it('of agents with keys of their own need their signatures, newer than the last', async () => {
    const store = open()
    const keys = keysOf(new Uint8Array(32).fill(4))
    host(store, 'me', { did: keys.did })
    const said = (level: number, updatedAt: number, by = keys) => {
      const { signed: _, ...rest } = draft('a', level)
      const unsigned: UnsignedEdge = { ...rest, owner: 'me', createdAt: NOW, updatedAt }
      const signature = signStatement(by, edgeStatement(unsigned))
      return draft('a', level, { signed: { createdAt: NOW, updatedAt, signature } })
    }
    const refused = (reason: string) => expect.objectContaining({ details: expect.objectContaining({ reason }) })
    await expect(setTrust(store, draft('a', 0.5))).rejects.toEqual(refused('required'))
    await setTrust(store, said(0.5, NOW))
    expect(levelOf(store, 'a')).toBe(0.5)
    await expect(setTrust(store, said(0.9, NOW))).rejects.toEqual(refused('range'))
    await expect(setTrust(store, said(0.9, NOW + DAY))).rejects.toEqual(refused('range'))
    await expect(setTrust(store, said(0.9, NOW + 1, keysOf(new Uint8Array(32))))).rejects.toEqual(refused('signature'))
    await expect(setTrust(store, { ...said(0.9, NOW + 1), level: 1 })).rejects.toEqual(refused('signature'))
    await setTrust(store, said(0.9, NOW + 1))
    expect(levelOf(store, 'a')).toBe(0.9)
    store.close()
  })

  it('with a bad signature are left out, and named to the doctor (BQ-068)', () => {
    const store = open()
    for (const target of ['a', 'b', 'c']) trust(store, 'me', target, 0.5)
    const graph = new TrustGraph(store, RULES)
    const warnings = () => atOnce(checkAllEdges(store))
    const read = () => {
      graph.refresh()
      return [graph.size, new TrustGraph(store, RULES).trustOf('me', PLAIN, NOW).own.size]
    }
    expect([warnings(), read()]).toEqual([[], [3, 3]])
    const spoil = (target: string, change: object) =>
      store.write(NOW, writer => {
        const row = writer.table(TRUST).get({ owner: 'me', target })
        writer.table(TRUST).put({ ...row, ...change } as never)
        noteEdges(writer, [{ owner: 'me', target }])
      })
    spoil('a', { level: 0.6 })
    spoil('b', { level: 2 })
    const expected = [
      { owner: 'me', target: 'a', reason: 'signature' },
      { owner: 'me', target: 'b', reason: 'level' },
    ]
    expect([warnings(), read()]).toEqual([expected, [1, 1]])
    expect(graph.trustOf('me', PLAIN, NOW).of('a').direct).toBeNull()
    expect(graph.trustOf('me', PLAIN, NOW).of('c').direct?.level).toBe(0.5)
    // Another key makes all that was signed with the old one void.
    host(store, 'me', { did: keysOf(new Uint8Array(32)).did })
    expect(warnings().map(({ reason }) => reason)).toEqual(['signature', 'level', 'signature'])
    expect(read()).toEqual([0, 0])
    store.close()
  })

  it('know keys by agent: made once, told as its did, never those of another', () => {
    const store = open()
    host(store, 'me')
    trust(store, 'me', 'a', 0.5)
    const did = didOfAgent(store, 'me')
    trust(store, 'me', 'b', 0.5)
    trust(store, 'a', 'me', 0.5)
    expect(didOfAgent(store, 'me')).toBe(did)
    expect(didOfAgent(store, 'a')).not.toBe(did)
    expect(didOfAgent(store, 'b')).toBeNull()
    store.close()
  })

  it('note use once a minute at most, for what there is (BQ-072)', () => {
    const store = open()
    trust(store, 'me', 'a', 0.5)
    trust(store, 'me', 'b', 0.5)
    const graph = new TrustGraph(store, RULES)
    const later = NOW + TOUCH_EVERY_MS
    expect(noteUse({ store, now: later - 1 }, graph, 'me', ['a', 'a', 'z'])).toBe(0)
    expect(noteUse({ store, now: later }, graph, 'me', ['a', 'a', 'z'])).toBe(1)
    expect(noteUse({ store, now: later }, graph, 'me', ['a', 'z'])).toBe(0)
    expect([readEdge(store, 'me', 'a')?.lastUsed, readEdge(store, 'me', 'b')?.lastUsed]).toEqual([later, NOW])
    expect(atOnce(checkAllEdges(store))).toEqual([])
    store.close()
  })

  it('are listed in a log of bounded length, from which nothing is missed', () => {
    const store = open()
    const graph = new TrustGraph(store, RULES)
    trust(store, 'me', 'a', 0.5)
    expect(graph.trustOf('me', PLAIN, NOW).of('a').value).toBe(0.5)
    store.write(NOW, writer => {
      noteEdges(
        writer,
        Array.from({ length: 9000 }, () => ({ owner: 'x', target: 'y' })),
      )
      const row = writer.table(TRUST).get({ owner: 'me', target: 'a' })
      writer.table(TRUST).delete({ owner: 'me', target: row?.['target'] as string })
    })
    expect(store.table(TRUST_CHANGES).count()).toBe(8192)
    expect(graph.trustOf('me', PLAIN, NOW).of('a').direct).toBeNull()
    store.close()
  })

  it('are shown as they are to their owner, others as a band (BQ-107)', () => {
    const store = open()
    for (const id of ['me', 'a', 'b', 'z']) host(store, id)
    trust(store, 'me', 'a', 0.9)
    trust(store, 'me', 'b', 0.9)
    trust(store, 'a', 'z', 0.93)
    trust(store, 'b', 'z', 0.5)
    const graph = new TrustGraph(store, RULES)
    const of = (target: string) => computeTrust(graph, 'me', target, PLAIN, NOW)
    expect(of('a')).toMatchObject({ kind: 'direct', direct: { trust_level: 0.9, base: 0.9, days_unused: 0 } })
    const received = of('z')
    expect(received['transitive']).toEqual({ band: 'medium', sources: 'several', capped: false })
    expect(JSON.stringify(received)).not.toMatch(/"a"|"b"|0\.93|0\.5/)
    // Within its tenth a foreign edge changes no byte.
    trust(store, 'a', 'z', 0.87)
    expect(of('z')).toEqual(received)
    store.close()
  })
  it('QE-019: are read in a step for every 250, and in the end are what the store has then, whatever changes between the steps', () => {
    const EDGES = 1_200
    const store = open()
    host(store, 'me')
    store.write(NOW, writer => {
      for (let n = 0; n < EDGES; n++) putEdge(writer, 'me', draft(`t${n}`, 0.5), { now: NOW, random })
    })
    const values = (graph: TrustGraph) => {
      const found = graph.trustOf('me', PLAIN, NOW + 1)
      return ['new', 'far', ...Array.from({ length: EDGES }, (_, n) => `t${n}`)].map(id => found.of(id).value)
    }
    const graph = new TrustGraph(store, RULES)
    const [reading, other] = [graph.refreshInSteps(), graph.refreshInSteps()]
    let steps = 0
    while (reading.next(true).done !== true) {
      steps++
      trust(store, 'me', 't1', 0.9 - steps / 10)
      trust(store, 'me', `t${EDGES - 1}`, 0.8)
      trust(store, 'me', 'new', 0.7)
      host(store, 'new')
      trust(store, 'new', 'far', 0.9)
      store.write(NOW, writer => removeEdge(writer, 'me', `t${steps}`))
      other.next(true)
    }
    expect(steps).toBeGreaterThanOrEqual(2)
    expect(values(graph)).toEqual(values(new TrustGraph(store, RULES)))
    expect(graph.refreshInSteps().next(true).done).toBe(true)

    const waiting = new TrustGraph(store, RULES)
    const begun = waiting.refreshInSteps()
    begun.next(false)
    // Who cannot wait reads the rest at once.
    expect(values(waiting)).toEqual(values(graph))
    expect(begun.next(true).done).toBe(true)
    expect(values(waiting)).toEqual(values(graph))
    store.close()
  })
})

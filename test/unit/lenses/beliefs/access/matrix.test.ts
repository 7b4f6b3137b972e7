/** Who sees what (BQ-091 to BQ-095, BQ-099, BQ-101, BQ-102, BQ-104). */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ALL_SOURCES, Requester } from '../../../../../src/lenses/beliefs/access/requester.ts'
import {
  memberCount,
  pseudonymOf,
  type ShownBelief,
  showCurrent,
} from '../../../../../src/lenses/beliefs/access/show.ts'
import { lookAt } from '../../../../../src/pipeline/access.ts'
import { openSqliteStore } from '../../../../../src/store/sqlite-store.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { makeWorld, type World } from '../record/world.ts'

const AGENTS = ['ann', 'bob', 'cat', 'owner']
const FEDERATION_IDS = ['f', 'g']
const STATES = ['active', 'suspended', 'departed', null]
const LEAVES = [null, '["query_beliefs"]', '["share_beliefs","view_aggregates"]', '[]', 'no list']

interface Member {
  readonly federation: string
  readonly agent: string
  readonly status: string | null
  readonly permissions: string | null
}

const members: fc.Arbitrary<readonly Member[]> = fc
  .tuple(...FEDERATION_IDS.flatMap(federation => AGENTS.map(agent => member(federation, agent))))
  .map(all => all)

function member(federation: string, agent: string): fc.Arbitrary<Member> {
  return fc.record({
    federation: fc.constant(federation),
    agent: fc.constant(agent),
    status: fc.constantFrom('active', ...STATES),
    permissions: fc.constantFrom(null, ...LEAVES),
  })
}

/** Everything an audience can be, by everybody. */
const BELIEFS = AGENTS.flatMap(holder => [
  { id: `${holder} private`, holder, visibility: 'private', federation_ids: [] },
  { id: `${holder} public`, holder, visibility: 'public', federation_ids: [] },
  { id: `${holder} f`, holder, visibility: 'federated', federation_ids: ['f'] },
  { id: `${holder} f g`, holder, visibility: 'federated', federation_ids: ['g', 'f'] },
])

function fill(world: World, of: readonly Member[]): void {
  for (const { federation, agent, status, permissions } of of) {
    if (status !== null) world.join(federation, agent, { status, permissions })
  }
  for (const { holder, federation_ids, ...draft } of BELIEFS) {
    world.put(holder, federation_ids.length === 0 ? draft : { ...draft, federation_ids })
  }
}

function seenBy(world: World, requester: string): readonly ShownBelief[] {
  return world.look(requester, view => {
    const keys = view.reader.scanEntries(0, 1000)
    return showCurrent(view, keys)
  })
}

/** The matrix as BQ-091 and BQ-092 put it. */
function mayRead(of: readonly Member[], requester: string, belief: (typeof BELIEFS)[number]): boolean {
  if (belief.holder === requester || belief.visibility === 'public') return true
  const isIn = (federation: string, agent: string, query: boolean) =>
    of.some(
      one =>
        one.federation === federation &&
        one.agent === agent &&
        one.status === 'active' &&
        (!query || one.permissions === null || one.permissions.includes('query_beliefs')),
    )
  return belief.federation_ids.some(id => isIn(id, requester, true) && isIn(id, belief.holder, false))
}

describe('the matrix', () => {
  it('BQ-091, BQ-092: is what the rows say, for all memberships and everybody, the owner among them', () => {
    fc.assert(
      fc.property(members, of => {
        const world = makeWorld()
        fill(world, of)
        for (const requester of [...AGENTS, 'stranger']) {
          const expected = BELIEFS.filter(belief => mayRead(of, requester, belief)).map(({ id }) => id)
          expect(seenBy(world, requester).map(({ belief }) => belief.id)).toEqual(expected)
          world.look(requester, view => {
            const { columns } = view
            const rows = [...Array(columns.rows).keys()].filter(row => {
              return view.requester.sees(columns.arrays.partitions[row] as number)
            })
            expect(new Set(rows.map(row => columns.idOf(row)))).toEqual(new Set(expected))
          })
        }
      }),
      { numRuns: 60 },
    )
  })

  it('BQ-099: leaves what is shared to those who hide holders: no other lens sees a federated belief of somebody else', () => {
    const world = makeWorld()
    for (const agent of ['ann', 'bob']) world.join('f', agent)
    world.put('bob', { id: 'x', visibility: 'federated', federation_ids: ['f'] })
    world.put('bob', { id: 'y', visibility: 'public' })
    const found = (id: string, viewer: string) => world.store.find(id, lookAt(world.store, { id: viewer }).partitions)
    expect(['ann', 'bob', 'owner'].map(viewer => found('x', viewer).length)).toEqual([0, 1, 1])
    expect(['ann', 'bob', 'owner'].map(viewer => found('y', viewer).length)).toEqual([1, 1, 1])
    expect(seenBy(world, 'ann').map(({ belief }) => belief.id)).toEqual(['x', 'y'])
  })

  it('BQ-092: of the row’s example, and of a federated belief without federations', () => {
    const world = makeWorld()
    world.join('g', 'ann')
    for (const federation of FEDERATION_IDS) world.join(federation, 'bob')
    world.put('bob', { id: 'x', visibility: 'federated', federation_ids: ['f'] })
    expect(seenBy(world, 'ann')).toEqual([])
    world.join('f', 'ann')
    expect(seenBy(world, 'ann').map(({ belief }) => belief.id)).toEqual(['x'])
    const audience = { kind: 'shared', holder: 'bob', federations: [] } as const
    const sees = (id: string) => world.store.read(reader => new Requester(reader, id).maySee(audience))
    expect(['ann', 'bob', 'owner'].map(sees)).toEqual([false, true, false])
  })

  it('BQ-095: memberships count as they are at each look, through whichever engine they changed', () => {
    const world = makeWorld()
    for (const agent of ['ann', 'bob']) world.join('f', agent)
    world.put('bob', { id: 'x', visibility: 'federated', federation_ids: ['f'] })
    const [seen] = seenBy(world, 'ann')
    expect(seen?.source).toEqual({ kind: 'federated', id: 'f' })
    const again = () => world.look('ann', view => showCurrent(view, [seen?.entry ?? -1]).length)
    const steps: readonly [() => void, number][] = [
      [() => world.join('f', 'ann', { status: 'suspended' }), 0],
      [() => world.join('f', 'ann'), 1],
      [() => world.join('f', 'bob', { status: 'departed' }), 0],
      [() => world.join('f', 'bob'), 1],
      [() => world.join('f', 'ann', { permissions: '["share_beliefs"]' }), 0],
      [() => world.join('f', 'ann', { permissions: '["query_beliefs"]' }), 1],
      [() => world.supersede('bob', 'x', { id: 'y', visibility: 'private' }), 0],
    ]
    for (const [act, expected] of steps) {
      act()
      expect(again()).toBe(expected)
    }
  })
})

it('BQ-095: another process that changes a membership changes what is seen here', () => {
  using folder = tempFolder()
  const file = folder.file('shared.db')
  const [here, there] = [makeWorld(openSqliteStore({ file })), makeWorld(openSqliteStore({ file }))]
  for (const agent of ['ann', 'bob']) here.join('f', agent)
  here.put('bob', { id: 'x', visibility: 'federated', federation_ids: ['f'] })
  expect([seenBy(here, 'ann').length, seenBy(there, 'ann').length]).toEqual([1, 1])
  there.join('f', 'ann', { status: 'suspended' })
  expect([seenBy(here, 'ann').length, seenBy(there, 'ann').length]).toEqual([0, 0])
  here.join('f', 'ann')
  expect([seenBy(here, 'ann').length, seenBy(there, 'ann').length]).toEqual([1, 1])
  there.join('f', 'bob', { status: 'departed' })
  expect([seenBy(here, 'ann').length, seenBy(there, 'ann').length]).toEqual([0, 0])
  here.store.close()
  there.store.close()
})

describe('sources', () => {
  it('the first enabled one has a belief: own, then federated, then public', () => {
    const world = makeWorld()
    for (const id of FEDERATION_IDS) for (const agent of ['ann', 'bob']) world.join(id, agent)
    world.put('ann', { id: 'own', visibility: 'public' })
    world.put('ann', { id: 'own shared', visibility: 'federated', federation_ids: ['f'] })
    world.put('ann', { id: 'own private' })
    world.put('bob', { id: 'shared', visibility: 'federated', federation_ids: ['g', 'f'] })
    world.put('bob', { id: 'public', visibility: 'public' })
    const sources = (enabled: Parameters<typeof showCurrent>[2]) =>
      world.look('ann', view =>
        Object.fromEntries(
          showCurrent(view, view.reader.scanEntries(0, 99), enabled).map(({ belief, source }) => [
            belief.id,
            source.id ?? source.kind,
          ]),
        ),
      )
    const own = { own: 'local', 'own shared': 'local', 'own private': 'local' }
    expect(sources(ALL_SOURCES)).toEqual({ ...own, shared: 'f', public: 'network' })
    expect(sources({ ...ALL_SOURCES, local: false })).toEqual({
      ...{ own: 'network', 'own shared': 'f', shared: 'f', public: 'network' },
    })
    expect(sources({ ...ALL_SOURCES, federated: false })).toEqual({ ...own, public: 'network' })
    expect(sources({ ...ALL_SOURCES, network: false })).toEqual({ ...own, shared: 'f' })
    expect(sources({ local: false, federated: false, network: false })).toEqual({})
  })
})

describe('holders', () => {
  function shared(anonymity: 'pseudonyms' | 'strict' = 'pseudonyms'): World {
    const world = makeWorld()
    world.federation('f', anonymity)
    for (const id of FEDERATION_IDS) for (const agent of ['ann', 'bob', 'cat']) world.join(id, agent)
    return world
  }
  const holdersSeenBy = (world: World, requester: string) =>
    Object.fromEntries(seenBy(world, requester).map(({ belief }) => [belief.id, belief.holder_id]))

  it('BQ-099, BQ-101: have a pseudonym through a federation, another for each requester and federation', () => {
    const world = shared()
    world.put('bob', { id: 'in f', visibility: 'federated', federation_ids: ['f'] })
    world.put('bob', { id: 'too', visibility: 'federated', federation_ids: ['f', 'g'] })
    world.put('bob', { id: 'in g', visibility: 'federated', federation_ids: ['g'] })
    world.put('bob', { id: 'out', visibility: 'public' })
    const [ann, cat, bob] = ['ann', 'cat', 'bob'].map(requester => holdersSeenBy(world, requester))
    expect(bob).toEqual({ 'in f': 'bob', too: 'bob', 'in g': 'bob', out: 'bob' })
    expect(ann?.['out']).toBe('bob')
    expect(ann?.['in f']).toBe(ann?.['too'])
    expect(new Set([ann?.['in f'], ann?.['in g'], cat?.['in f'], cat?.['in g'], 'bob']).size).toBe(5)
    expect(ann?.['in f']).toMatch(/^holder:[\w-]{26}$/)
    // Of no use without the secret, which another store does not share.
    expect(pseudonymOf('another secret', 'f', 'ann', 'bob')).not.toBe(ann?.['in f'])
    expect(holdersSeenBy(world, 'ann')).toEqual(ann)
    const reported = seenBy(world, 'ann').map(({ belief }) => JSON.stringify(belief))
    expect(reported.map(text => text.includes('bob'))).toEqual([false, false, false, true])
  })

  it('BQ-099: federations are named as far as the requester is a member of them', () => {
    const world = shared()
    world.join('h', 'bob')
    world.put('bob', { id: 'x', visibility: 'federated', federation_ids: ['f', 'h'] })
    const idsFor = (requester: string) => seenBy(world, requester).map(({ belief }) => belief.federation_ids)
    expect([idsFor('ann'), idsFor('bob')]).toEqual([[['f']], [['f', 'h']]])
  })

  it('BQ-104: are not shown at all through a strict federation', () => {
    const world = shared('strict')
    world.put('bob', { id: 'in f', visibility: 'federated', federation_ids: ['f'] })
    world.put('bob', { id: 'in g', visibility: 'federated', federation_ids: ['g'] })
    expect(holdersSeenBy(world, 'ann')).toMatchObject({ 'in f': null, 'in g': expect.stringMatching(/^holder:/) })
    expect(holdersSeenBy(world, 'bob')).toEqual({ 'in f': 'bob', 'in g': 'bob' })
  })

  it('BQ-102: are counted where they share the same content with the federation', () => {
    const world = shared()
    for (const agent of ['dan', 'eve']) world.join('f', agent, agent === 'eve' ? { status: 'suspended' } : {})
    const same = { content: 'The sky is blue.' }
    world.put('bob', { ...same, id: 'x', visibility: 'federated', federation_ids: ['f'] })
    world.put('bob', { ...same, id: 'again', visibility: 'federated', federation_ids: ['f', 'g'] })
    world.put('cat', { ...same, visibility: 'federated', federation_ids: ['f'] })
    world.put('dan', { ...same, visibility: 'private' })
    world.put('dan', { ...same, visibility: 'federated', federation_ids: ['g'] })
    world.put('eve', { ...same, visibility: 'federated', federation_ids: ['f'] })
    const count = (federation: string) =>
      world.look('ann', view => {
        const row = view.columns.firstOfId(view.columns.texts.idNumber('x'))
        return memberCount(view.columns, view.requester, row, federation)
      })
    expect(count('f')).toBe(2)
    expect(count('g')).toBe(1)
    expect(count('no such')).toBe(1)
    world.join('f', 'eve')
    expect(count('f')).toBe(3)
  })
})

/** Nodes tell each other when something has changed, and of nothing that is hidden (BQ-140). */
import { describe, expect, it, vi } from 'vitest'
import type { Json as JsonValue } from '../../../../../src/base/canonical.ts'
import { keysOf } from '../../../../../src/identity/keys.ts'
import { isStatementOf, newNonce, sealEnvelope } from '../../../../../src/identity/messages.ts'
import type { BeliefEvent } from '../../../../../src/lenses/beliefs/live/subscriptions.ts'
import {
  CHANGES_PATH,
  changesStatement,
  PROTOCOL,
  QUERY_PATH,
  type WireAnswer,
  type WireChanges,
  type WireScope,
} from '../../../../../src/lenses/beliefs/nodes/wire/protocol.ts'
import { beliefsOf } from '../../../../../src/openings/beliefs.ts'
import { openMemoryStore } from '../../../../../src/store/sqlite-store.ts'
import { callOperation, openBeliefsEngine } from '../../../../support/beliefs-engine.ts'
import type { NodeFault } from '../../../../support/in-process-nodes.ts'
import { openNodes, type TestNode } from '../../../../support/nodes.ts'
import { type Birds, EVERYWHERE, idsOf, openBirds, PUBLIC, SHARED, say } from '../../../../support/nodes-world.ts'

const ANA = keysOf(Uint8Array.from({ length: 32 }, () => 7))
const ZOE = keysOf(Uint8Array.from({ length: 32 }, () => 9))
const BIRDS: WireScope = { kind: 'federated', federation: 'birds' }
const NETWORK: WireScope = { kind: 'network', federation: null }
let numbers = 0

function changesOf(
  node: Pick<TestNode, 'call' | 'did'>,
  {
    scope = BIRDS,
    since = null,
    waitMs = 0,
    keys = ANA,
  }: Partial<{ scope: WireScope; since: string | null; waitMs: number; keys: typeof ANA }> = {},
): Promise<WireChanges> {
  const nonce = newNonce(length => Uint8Array.from({ length }, () => numbers++ % 251))
  const query = { protocol: PROTOCOL, scope, since, wait_ms: waitMs } as unknown as JsonValue
  const envelope = sealEnvelope(keys, query, { audience: node.did, timestamp: Date.now(), nonce })
  return node.call('nodes.changes', 'nobody', { ...envelope }) as unknown as Promise<WireChanges>
}

async function openNorth() {
  const world = await openNodes(['north'])
  const north = world.node('north')
  for (const id of ['bo', 'cy']) await north.call('agents.create', 'owner', { id })
  for (const id of ['birds', 'bats']) await north.call('federations.create', 'owner', { id })
  for (const agent of ['bo', ANA.did, ZOE.did])
    await north.call('federations.set_member', 'owner', { federation: 'birds', agent })
  await north.call('federations.set_member', 'owner', { federation: 'bats', agent: 'bo' })
  await say(north, 'bo', 'first', 'swifts nest under roofs', SHARED)
  return { world, north }
}

describe('a node that is asked for changes', () => {
  it('BQ-140: is in another state after each change of what the sender may see, and in the same after any other', async () => {
    const { world, north } = await openNorth()
    await using _ = world
    const first = await changesOf(north)
    expect(isStatementOf(north.did, changesStatement(first), first.signature)).toBe(true)
    const ofNetwork = (await changesOf(north, { scope: NETWORK })).state
    await say(north, 'bo', 'hidden', 'swifts are mine', { visibility: 'private' })
    await say(north, 'bo', 'others', 'swifts fear bats', { visibility: 'federated', federation_ids: ['bats'] })
    await north.call('federations.create', 'owner', { id: 'cats' })
    expect((await changesOf(north)).state).toBe(first.state)
    expect((await changesOf(north, { scope: NETWORK })).state).toBe(ofNetwork)
    await say(north, 'bo', 'second', 'swifts sleep in the air', SHARED)
    const second = (await changesOf(north)).state
    expect(second).not.toBe(first.state)
    expect((await changesOf(north, { scope: NETWORK })).state).toBe(ofNetwork)
    await north.call('beliefs.delete', 'bo', { belief_id: 'second' })
    expect((await changesOf(north)).state).toBe(first.state)
    await say(north, 'cy', 'public', 'swifts return in may', PUBLIC)
    expect((await changesOf(north, { scope: NETWORK })).state).not.toBe(ofNetwork)
  })

  it('BQ-140: is in the same state in another process, and tells two senders different texts', async () => {
    const store = openMemoryStore()
    const options = { store, random: (length: number) => new Uint8Array(length).fill(3) }
    await using one = await openBeliefsEngine(options)
    await using other = await openBeliefsEngine(options)
    const call = (engine: typeof one) => (operation: string, by: string, input: object) =>
      callOperation(engine, operation, by, input)
    await call(one)('agents.create', 'owner', { id: 'bo' })
    await call(one)('federations.create', 'owner', { id: 'birds' })
    for (const agent of ['bo', ANA.did, ZOE.did])
      await call(one)('federations.set_member', 'owner', { federation: 'birds', agent })
    for (let at = 0; at < 5; at++) {
      await call(one)('beliefs.put', 'bo', { id: `b${at}`, content: `swifts ${at}`, ...SHARED })
    }
    await call(one)('beliefs.delete', 'bo', { belief_id: 'b3' })
    const own = one.signedRequests.did()
    const state = async (engine: typeof one, keys = ANA) =>
      (await changesOf({ call: call(engine), did: own } as TestNode, { keys })).state
    expect(await state(other)).toBe(await state(one))
    expect(await state(one, ZOE)).not.toBe(await state(one))
  })

  it('answers when something has changed, and after the time that was given when nothing has', async () => {
    const { world, north } = await openNorth()
    await using _ = world
    const { state } = await changesOf(north)
    expect((await changesOf(north, { since: state, waitMs: 300 })).state).toBe(state)
    const waiting = changesOf(north, { since: state, waitMs: 20_000 })
    await say(north, 'bo', 'hidden', 'swifts are mine', { visibility: 'private' })
    await say(north, 'bo', 'second', 'swifts sleep in the air', SHARED)
    expect((await waiting).state).not.toBe(state)
  })

  it('BQ-120: refuses who is no member, who is one no longer while it waits, and what was sent before', async () => {
    const { world, north } = await openNorth()
    await using _ = world
    const stranger = keysOf(Uint8Array.from({ length: 32 }, () => 1))
    await expect(changesOf(north, { keys: stranger })).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    const { state } = await changesOf(north)
    const waiting = changesOf(north, { since: state, waitMs: 20_000 })
    await north.call('federations.set_member', 'owner', { federation: 'birds', agent: ANA.did, status: 'suspended' })
    await expect(waiting).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  })

  it('lets nobody wait in too many places', async () => {
    const { world, north } = await openNorth()
    await using _ = world
    const { state } = await changesOf(north)
    const all = Array.from({ length: 17 }, () => changesOf(north, { since: state, waitMs: 400 }).catch(error => error))
    const codes = (await Promise.all(all)).map(one => one.code)
    expect(codes.filter(code => code === 'RATE_LIMITED')).toHaveLength(1)
  })
})

const LASTING = { background: true }
const SOON = { timeout: 300_000, interval: 50 }

const TELLING_OF_NO_CHANGES: NodeFault = {
  answers: answer => ('items' in (answer as Partial<WireAnswer>) ? answer : new Promise(() => undefined)),
}

async function voices(): Promise<Birds> {
  const birds = await openBirds(LASTING)
  await say(birds.home, 'ana', 'own', 'swifts sleep in the air')
  await say(birds.north, 'bo', 'shared', 'swifts nest under roofs', SHARED)
  await say(birds.south, 'dee', 'public', 'swifts fly south', PUBLIC)
  await birds.ask('swifts')
  return birds
}

function sent({ world }: Birds, path: string): number {
  return world.transport.sent.filter(({ message }) => message.path === path).length
}

async function following(birds: Birds, nodes = 2): Promise<void> {
  await vi.waitFor(() => expect(sent(birds, CHANGES_PATH)).toBeGreaterThanOrEqual(nodes), SOON)
}

describe('what other nodes answered', () => {
  it('BQ-140: is asked for again when they tell that something has changed, and not for what is hidden', async () => {
    await using birds = await voices()
    await following(birds)
    const asked = sent(birds, QUERY_PATH)
    await say(birds.north, 'bo', 'mine', 'swifts are mine', { visibility: 'private' })
    await new Promise(resolve => setTimeout(resolve, 700))
    await birds.ask('swifts')
    expect(sent(birds, QUERY_PATH)).toBe(asked)
    await say(birds.north, 'cy', 'news', 'swifts are back', SHARED)
    await vi.waitFor(async () => expect(idsOf(await birds.ask('swifts'))).toContain('news'), SOON)
    await birds.south.call('beliefs.delete', 'dee', { belief_id: 'public' })
    await vi.waitFor(async () => expect(idsOf(await birds.ask('swifts'))).not.toContain('public'), SOON)
  })

  it('BQ-140: is dropped when the answer to another question shows that something has changed', async () => {
    await using birds = await openBirds(LASTING)
    birds.world.transport.fault(birds.north.address, TELLING_OF_NO_CHANGES)
    await birds.ask('swifts')
    await say(birds.north, 'cy', 'news', 'swifts are back', SHARED)
    expect(idsOf(await birds.ask('swifts back'))).toContain('news')
    expect(idsOf(await birds.ask('swifts'))).toContain('news')
  })

  it('BQ-140: is dropped where the requester was put out of the federation there', async () => {
    await using birds = await voices()
    await following(birds)
    const { agents } = (await birds.home.call('agents.list', 'owner', {})) as { agents: { id: string; did: string }[] }
    const agent = agents.find(({ id }) => id === 'ana')?.did
    await birds.north.call('federations.set_member', 'owner', { federation: 'birds', agent, status: 'suspended' })
    await vi.waitFor(async () => expect(idsOf(await birds.ask('swifts'))).not.toContain('shared'), SOON)
  })

  it('BQ-124: is not dropped for what that node has not signed', async () => {
    await using birds = await openBirds(LASTING)
    await say(birds.north, 'bo', 'shared', 'swifts nest under roofs', SHARED)
    birds.world.transport.fault(birds.north.address, {
      answers: answer => {
        const reported = answer as Partial<WireChanges>
        return 'items' in reported ? reported : { ...reported, state: 'another' }
      },
    })
    await birds.ask('swifts')
    await following(birds)
    const asked = sent(birds, QUERY_PATH)
    await say(birds.north, 'cy', 'news', 'swifts are back', SHARED)
    await new Promise(resolve => setTimeout(resolve, 800))
    await birds.ask('swifts')
    expect(sent(birds, QUERY_PATH)).toBe(asked)
  })

  it.each([
    ['invalidate_on_update is off', {}, { invalidate_on_update: false }],
    ['the process answers and ends', { background: false }, {}],
  ])('is kept for its time where %s', async (_, options, settings) => {
    await using birds = await openBirds({ ...LASTING, ...options }, settings)
    await birds.ask('swifts')
    await new Promise(resolve => setTimeout(resolve, 300))
    expect(sent(birds, CHANGES_PATH)).toBe(0)
  })
})

async function watching(birds: Birds) {
  const events: BeliefEvent[] = []
  const gaps: unknown[] = []
  const ana = beliefsOf(birds.home.engine, { id: 'ana' })
  const subscription = await ana.subscribe(
    { semantic: 'swifts', options: EVERYWHERE },
    event => void events.push(event),
    { debounce_ms: 0, on_error: error => gaps.push(error) },
  )
  return { subscription, events, gaps, heard: () => events.map(({ type, id }) => `${type} ${id}`) }
}

describe('a live query', () => {
  it('BQ-158: hears of what comes, changes and goes at other nodes, and of nothing that is hidden', async () => {
    await using birds = await voices()
    const { subscription, heard } = await watching(birds)
    await vi.waitFor(() => expect(heard().toSorted()).toEqual(['added own', 'added public', 'added shared']), SOON)
    await following(birds)
    await say(birds.north, 'bo', 'mine', 'swifts are mine', { visibility: 'private' })
    await say(birds.north, 'cy', 'news', 'swifts are back', SHARED)
    await vi.waitFor(() => expect(heard()).toContain('added news'), SOON)
    await birds.south.call('beliefs.delete', 'dee', { belief_id: 'public' })
    await vi.waitFor(() => expect(heard()).toContain('removed public'), SOON)
    await say(birds.home, 'ana', 'mine too', 'swifts, swifts')
    await vi.waitFor(() => expect(heard()).toContain('added mine too'), SOON)
    expect(heard().filter(line => line.endsWith(' mine'))).toEqual([])
    subscription.cancel()
  })

  it('BQ-159: hears of a belief that was replaced at another node as updated, once', async () => {
    await using birds = await voices()
    const { subscription, heard, events } = await watching(birds)
    await vi.waitFor(() => expect(heard()).toHaveLength(3), SOON)
    await following(birds)
    const changed = { belief_id: 'public', id: 'public-2', confidence: { corroboration: 0.9 } }
    await birds.south.call('beliefs.supersede', 'dee', changed)
    await vi.waitFor(() => expect(heard()).toHaveLength(4), SOON)
    expect(events[3]).toMatchObject({ type: 'updated', id: 'public-2', reason: 'content_changed' })
    expect(events[3]?.details).toMatchObject({ changed_fields: ['confidence'] })
    subscription.cancel()
  })

  it('BQ-158: reports that the own trust in a holder of another node has changed', async () => {
    await using birds = await voices()
    const { agents } = (await birds.south.call('agents.list', 'owner', {})) as { agents: { id: string; did: string }[] }
    const dee = agents.find(({ id }) => id === 'dee')?.did
    await birds.home.call('agents.create', 'owner', { id: 'dee-of-south', did: dee })
    const events: string[] = []
    const subscription = await beliefsOf(birds.home.engine, { id: 'ana' }).subscribe(
      { semantic: 'swifts', options: { scope: { network: true }, limit: 2 } },
      ({ type, id, reason }) => void events.push(`${type} ${id} ${reason}`),
      { debounce_ms: 0 },
    )
    await vi.waitFor(() => expect(events).toEqual(['added public initial']), SOON)
    for (const trust_level of [0.9, 0.2]) {
      events.length = 0
      await birds.home.call('trust.set', 'ana', { target: 'dee-of-south', trust_level })
      await vi.waitFor(() => expect(events).toEqual(['updated public score_changed']), SOON)
    }
    subscription.cancel()
  })

  it('tells of a node that does not answer, keeps what that gave, and goes on when it is back', async () => {
    await using birds = await voices()
    const { subscription, heard, gaps } = await watching(birds)
    await vi.waitFor(() => expect(heard()).toHaveLength(3), SOON)
    await following(birds)
    birds.world.transport.fault(birds.north.address, { isDead: true })
    await say(birds.north, 'cy', 'news', 'swifts are back', SHARED)
    await say(birds.south, 'dee', 'stirring', 'swifts sing', PUBLIC)
    await vi.waitFor(() => expect(heard()).toContain('added stirring'), SOON)
    expect(gaps).toMatchObject([{ code: 'NODE_UNAVAILABLE', details: { node: 'north' } }])
    expect(heard()).not.toContain('removed shared')
    birds.world.transport.fault(birds.north.address, {})
    await vi.waitFor(() => expect(heard()).toContain('added news'), SOON)
    subscription.cancel()
  })

  it('BQ-158: hears of what the answer to another question shows first', async () => {
    await using birds = await openBirds(LASTING)
    birds.world.transport.fault(birds.north.address, TELLING_OF_NO_CHANGES)
    await say(birds.north, 'bo', 'shared', 'swifts nest under roofs', SHARED)
    const { subscription, heard } = await watching(birds)
    await vi.waitFor(() => expect(heard()).toEqual(['added shared']), SOON)
    await say(birds.north, 'cy', 'news', 'swifts are back', SHARED)
    await birds.ask('swifts back')
    await vi.waitFor(() => expect(heard()).toContain('added news'), SOON)
    subscription.cancel()
  })

  it('BQ-140: loses at once what came through a federation that its requester has left here', async () => {
    await using birds = await voices()
    const { subscription, heard } = await watching(birds)
    await vi.waitFor(() => expect(heard()).toHaveLength(3), SOON)
    await birds.home.call('federations.set_member', 'owner', { federation: 'birds', agent: 'ana', status: 'departed' })
    await vi.waitFor(() => expect(heard()).toContain('removed shared'), SOON)
    subscription.cancel()
  })
})

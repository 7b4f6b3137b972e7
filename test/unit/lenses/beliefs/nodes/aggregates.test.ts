/** A member on another node asks a federation whose results are aggregates, where it lives (BQ-105). */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../../../src/base/canonical.ts'
import { sealEnvelope } from '../../../../../src/identity/envelope.ts'
import { newNonce } from '../../../../../src/identity/freshness.ts'
import { type Keys, keysOf } from '../../../../../src/identity/keys.ts'
import { signStatement } from '../../../../../src/identity/statement.ts'
import type { AggregateAnswer } from '../../../../../src/lenses/beliefs/nodes/aggregates/wire.ts'
import {
  AGGREGATE_PATH,
  aggregateStatement,
  type WireAggregateAnswer,
} from '../../../../../src/lenses/beliefs/nodes/aggregates/wire.ts'
import { refusal } from '../../../../support/aggregates.ts'
import { type NodeWorld, openNodes, type TestNode } from '../../../../support/nodes.ts'

const SHARED = { visibility: 'federated', federation_ids: ['census'] }
const FOXES = { federation: 'census', topic: 'Foxes' }
const STRANGER = keysOf(new Uint8Array(32).fill(8))

interface Two extends AsyncDisposable {
  readonly world: NodeWorld
  /** Where ana asks. */
  readonly away: TestNode
  /** Where the census lives, with twenty members who hold something of foxes; bo is one of them. */
  readonly home: TestNode
  ask(by?: string, asked?: object): Promise<AggregateAnswer>
}

async function openTwo(rules: object = {}): Promise<Two> {
  const world = await openNodes(['away', 'home'])
  const [away, home] = [world.node('away'), world.node('home')]
  await home.call('federations.create', 'owner', { id: 'census', results: 'aggregate', ...rules })
  for (let at = 0; at < 20; at++) {
    const id = at === 0 ? 'bo' : `m${at}`
    await home.call('agents.create', 'owner', { id })
    await home.call('federations.set_member', 'owner', { federation: 'census', agent: id })
    await home.call('beliefs.put', id, { content: `foxes number ${at}`, ...SHARED })
  }
  await away.call('peers.add', 'owner', { id: 'home', address: home.address, federations: ['census'] })
  for (const id of ['ana', 'eve']) await away.call('agents.create', 'owner', { id })
  await accept(away, home, 'ana')
  return {
    ...{ world, away, home },
    ask: async (by = 'ana', asked = FOXES) =>
      (await away.call('federations.aggregate', by, { ...asked })) as unknown as AggregateAnswer,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  }
}

async function accept(away: TestNode, home: TestNode, id: string, more: object = {}): Promise<string> {
  const { agents } = (await away.call('agents.list', 'owner', {})) as { agents: readonly { id: string; did: string }[] }
  const agent = agents.find(one => one.id === id)?.did as string
  await home.call('federations.set_member', 'owner', { federation: 'census', agent, ...more })
  const stated = await home.call('federations.statement', 'owner', { federation: 'census', agent })
  await away.call('federations.accept', 'owner', stated)
  return agent
}

describe('a member on another node', () => {
  it('BQ-105: is told what members there are told, byte by byte, and pays as they do', async () => {
    await using two = await openTwo()
    const here = (await two.home.call('federations.aggregate', 'bo', FOXES)) as unknown as AggregateAnswer
    const there = await two.ask()
    expect(JSON.stringify(there.aggregate)).toBe(JSON.stringify(here.aggregate))
    expect(there.aggregate.summary).not.toBeNull()
    expect(there.budget).toEqual(here.budget)
    expect((await two.ask()).budget).toMatchObject({ epsilon_charged: 0, epsilon_left: 9 })
    // The words alone leave the node, and nothing of it is looked for here.
    const sent = two.world.transport.sent.filter(({ message }) => message.path === AGGREGATE_PATH)
    const query = { protocol: 1, aggregate: { federation: 'census', topic: { kind: 'text', text: 'foxes' } } }
    expect(sent.map(({ message }) => message.body)).toMatchObject([{ query }, { query }])
  })

  it('BQ-105: has one budget for all ways by which it asks, refused when it is spent', async () => {
    await using two = await openTwo({ daily_epsilon: 2 })
    for (const topic of ['owls', 'crows']) await two.ask('ana', { federation: 'census', topic })
    expect(await refusal(two.ask())).toMatchObject({
      code: 'RATE_LIMITED',
      details: {
        ...{ reason: 'privacy_budget', renews_at: '2026-06-02T00:00:00.000Z' },
        ...{ retry_after_ms: 43_200_000, limit: 2, window_ms: 86_400_000 },
      },
    })
    two.world.clock.set(two.world.clock.now() + 43_200_000)
    expect((await two.ask()).budget.epsilon_left).toBe(1)
  })

  it('asks for a domain likewise', async () => {
    await using two = await openTwo({ query_epsilon: 5 })
    const { aggregate } = await two.ask('ana', { federation: 'census', domain: 'Science:Biology' })
    expect([aggregate.topic, aggregate.domain, aggregate.summary]).toEqual([null, 'science/biology', null])
  })

  it('must be one here and there: who is not asks nobody, and is told the same', async () => {
    await using two = await openTwo()
    const sent = two.world.transport.sent.length
    expect(await refusal(two.ask('eve'))).toMatchObject({ code: 'UNAUTHORIZED', details: {} })
    expect(two.world.transport.sent).toHaveLength(sent)
    const { agents } = (await two.away.call('agents.list', 'owner', {})) as { agents: { id: string; did: string }[] }
    const agent = agents.find(({ id }) => id === 'ana')?.did
    await two.home.call('federations.set_member', 'owner', { federation: 'census', agent, status: 'suspended' })
    expect(await refusal(two.ask())).toMatchObject({ code: 'UNAUTHORIZED', details: {} })
    expect(two.world.transport.sent).toHaveLength(sent + 1)
  })

  it('must have leave to see aggregates, as the federation stated it', async () => {
    await using two = await openTwo()
    await accept(two.away, two.home, 'eve', { permissions: ['query_beliefs'] })
    expect(await refusal(two.ask('eve'))).toMatchObject({ code: 'UNAUTHORIZED' })
  })

  it('is told where the federation has no aggregates, and where its node does not answer', async () => {
    await using two = await openTwo({ results: 'individual' })
    expect(await refusal(two.ask())).toMatchObject({
      code: 'INVALID_QUERY',
      details: { path: 'federation', reason: 'individual' },
    })
    two.world.transport.fault(two.home.address, { isDead: true })
    expect(await refusal(two.ask())).toMatchObject({ code: 'NODE_UNAVAILABLE', details: { reason: 'unreachable' } })
    await two.away.call('peers.remove', 'owner', { id: 'home' })
    expect(await refusal(two.ask())).toMatchObject({ code: 'NODE_UNAVAILABLE', details: { reason: 'unreachable' } })
  })

  it('who lost the answer on its way asks again, and pays nothing more', async () => {
    await using two = await openTwo()
    two.world.transport.fault(two.home.address, { answers: () => ({}) })
    expect(await refusal(two.ask())).toMatchObject({ details: { reason: 'invalid_data' } })
    two.world.transport.fault(two.home.address, {})
    expect((await two.ask()).budget).toMatchObject({ epsilon_charged: 0, epsilon_left: 9 })
  })

  it('BQ-105: gets no single beliefs by an ordinary question, as before', async () => {
    await using two = await openTwo()
    const options = { scope: { local: true, federated: true, network: true } }
    const answer = await two.away.call('beliefs.query', 'ana', { semantic: 'foxes', options })
    expect(answer).toMatchObject({ beliefs: [], errors: [{ source: { kind: 'federated', id: 'census' } }] })
  })
})

describe('an answer is not believed', () => {
  const forged: Readonly<Record<string, (answer: WireAggregateAnswer) => unknown>> = {
    'with other figures': answer => changed(answer, { summary: { member_count: 99, belief_count: 99 } }),
    'of another topic': answer => changed(answer, { topic: 'crows' }),
    'with more in it': answer => ({ ...answer, more: 1 }),
    'to somebody else': answer => ({ ...answer, audience: STRANGER.did }),
    'to another question': answer => ({ ...answer, nonce: newNonce(() => new Uint8Array(32)) }),
    'signed by another': answer => resigned({ ...answer, node: STRANGER.did }),
    'by another in its name': answer => resigned(answer),
    'that refuses and answers': answer => ({ ...answer, refused: { reason: 'individual' } }),
    'that is none': () => 'foxes',
  }

  it.each(Object.entries(forged))('%s', async (_, forge) => {
    await using two = await openTwo()
    two.world.transport.fault(two.home.address, { answers: answer => forge(answer as WireAggregateAnswer) })
    expect(await refusal(two.ask())).toMatchObject({ code: 'NODE_UNAVAILABLE', details: { reason: 'invalid_data' } })
  })

  function changed(answer: WireAggregateAnswer, change: object): unknown {
    const told = answer.answer as AggregateAnswer
    return { ...answer, answer: { ...told, aggregate: { ...told.aggregate, ...change } } }
  }

  function resigned(answer: WireAggregateAnswer): WireAggregateAnswer {
    return { ...answer, signature: signStatement(STRANGER, aggregateStatement(answer)) }
  }
})

describe('a question is refused', () => {
  const ask = (node: TestNode, query: unknown, keys: Keys = STRANGER) => {
    const nonce = newNonce(() => crypto.getRandomValues(new Uint8Array(32)))
    const envelope = sealEnvelope(keys, query as Json, { audience: node.did, timestamp: Date.now(), nonce })
    return node.call('nodes.aggregate', 'nobody', { ...envelope })
  }
  const ofFoxes = (federation: string) => ({
    ...{ protocol: 1, aggregate: { federation, topic: { kind: 'text', text: 'foxes' } } },
  })

  it('from who is no member, in the same words as one for a federation that there is not', async () => {
    await using two = await openTwo()
    const told = await refusal(ask(two.home, ofFoxes('none')))
    expect(told).toMatchObject({ code: 'UNAUTHORIZED', details: {} })
    expect(await refusal(ask(two.home, ofFoxes('census')))).toEqual(told)
    expect(await refusal(two.home.call('nodes.aggregate', 'nobody', {}))).toEqual(told)
  })

  it.each([
    ['a topic that is not in its one form', { kind: 'text', text: 'Foxes' }],
    ['a topic that says nothing', { kind: 'text', text: '?' }],
    ['a domain that is none', { kind: 'domain', domain: 'Science' }],
    ['a member more', { kind: 'text', text: 'foxes', epsilon: 9 }],
  ])('%s', async (_, topic) => {
    await using two = await openTwo()
    const query = { protocol: 1, aggregate: { federation: 'census', topic } }
    expect(await refusal(ask(two.home, query))).toMatchObject({ code: 'INVALID_QUERY', details: { path: 'query' } })
  })

  it('that was meant for beliefs, and the other way round', async () => {
    await using two = await openTwo()
    const nonce = newNonce(() => crypto.getRandomValues(new Uint8Array(32)))
    const envelope = sealEnvelope(STRANGER, ofFoxes('census') as unknown as Json, {
      ...{ audience: two.home.did, timestamp: Date.now(), nonce },
    })
    expect(await refusal(two.home.call('nodes.query', 'nobody', { ...envelope }))).toMatchObject({
      code: 'INVALID_QUERY',
    })
  })
})

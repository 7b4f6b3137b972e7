/** Questions to several nodes: who is asked, within which bounds, and what an answer tells of them. */
import { describe, expect, it, vi } from 'vitest'
import type { EngineOptions } from '../../../../../src/engine/options.ts'
import type { WireQuery } from '../../../../../src/lenses/beliefs/nodes/wire/protocol.ts'
import { beliefsOf } from '../../../../../src/openings/beliefs.ts'
import { callOperation, makeCatalog } from '../../../../../src/ops/catalog.ts'
import { openNodes } from '../../../../support/nodes.ts'
import { EVERYWHERE, idsOf, openBirds, PUBLIC, SHARED, say } from '../../../../support/nodes-world.ts'

const QUERY = '/v1/nodes/query'

async function threeVoices(options: Partial<EngineOptions> = {}) {
  const birds = await openBirds(options)
  await say(birds.home, 'ana', 'own', 'swifts sleep in the air')
  await say(birds.north, 'bo', 'shared', 'swifts nest under roofs', SHARED)
  await say(birds.north, 'cy', 'secret', 'swifts are a secret of cy', { visibility: 'private' })
  await say(birds.south, 'dee', 'public', 'swifts fly south in august', PUBLIC)
  return birds
}

type Sent = { readonly sender: string; readonly audience: string; readonly query: WireQuery }

function sentTo(birds: Awaited<ReturnType<typeof threeVoices>>, address: string): readonly Sent[] {
  return birds.world.transport.sent
    .filter(one => one.address === address && one.message.path === QUERY)
    .map(({ message }) => message.body as unknown as Sent)
}

describe('a question to several nodes', () => {
  it('BQ-116, BQ-117: goes to every source that the scope enables, and each answers as far as the requester may see', async () => {
    await using birds = await threeVoices()
    const { beliefs, errors, partial } = await birds.ask('swifts')
    expect(beliefs.map(({ belief, source, node }) => [belief.id, source, node ?? null]).sort()).toEqual([
      ['own', { kind: 'local', id: null }, null],
      ['public', { kind: 'network', id: 'south' }, 'south'],
      ['shared', { kind: 'federated', id: 'birds' }, 'north'],
    ])
    expect([errors, partial]).toEqual([[], false])
  })

  it.each([
    [{ local: true }, []],
    [{ federated: true }, ['http://north.test']],
    [{ network: true }, ['http://south.test']],
    [{ local: true, federated: true }, ['http://north.test']],
  ])('BQ-116: a source outside the scope %j is never contacted', async (scope, asked) => {
    await using birds = await threeVoices()
    birds.world.transport.sent.length = 0
    await birds.ask('swifts', { scope })
    expect(birds.world.transport.sent.map(({ address }) => address)).toEqual(asked)
  })

  it('BQ-087: scope.nodes restricts which nodes are asked: null all, an empty list none, and local is not affected', async () => {
    await using birds = await threeVoices()
    const scope = { local: true, federated: true, network: true }
    expect(idsOf(await birds.ask('swifts', { scope: { ...scope, nodes: null } })).toSorted()).toEqual([
      'own',
      'public',
      'shared',
    ])
    expect(idsOf(await birds.ask('swifts', { scope: { ...scope, nodes: [] } }))).toEqual(['own'])
    expect(idsOf(await birds.ask('swifts', { scope: { ...scope, nodes: ['south'] } })).toSorted()).toEqual([
      'own',
      'public',
    ])
  })

  it('BQ-087: an unknown node and one that cannot be reached are the same node error', async () => {
    await using birds = await threeVoices()
    birds.world.transport.fault(birds.south.address, { isDead: true })
    const scope = { local: true, network: true, nodes: ['south', 'nowhere'] }
    const { errors, beliefs } = await birds.ask('swifts', { scope })
    const reported = errors.map(({ elapsed_ms: _, source, node, ...rest }) => rest)
    expect(reported).toHaveLength(2)
    expect(reported[0]).toEqual(reported[1])
    expect(idsOf({ beliefs })).toEqual(['own'])
  })

  it('BQ-135: asks only for federations of which the requester is an active member here', async () => {
    await using birds = await threeVoices()
    await birds.home.call('federations.set_member', 'owner', { federation: 'birds', agent: 'ana', status: 'suspended' })
    birds.world.transport.sent.length = 0
    const { coverage } = await birds.ask('swifts', { scope: { local: true, federated: true } })
    expect(birds.world.transport.sent).toEqual([])
    expect(coverage['federations_queried']).toEqual([])
  })

  it('BQ-118: asks each node for three times what is wanted, the offset included, within eight tenths of the time', async () => {
    await using birds = await threeVoices()
    await birds.ask('swifts', { limit: 7, offset: 3, timeout_ms: 4000 })
    await birds.ask('swallows', { limit: 1000 })
    await birds.ask('martins', { max_results_per_node: 5, timeout_per_node_ms: 70 })
    await birds.ask('crows', { max_results_per_node: 5_000, timeout_per_node_ms: 29_000, timeout_ms: 900 })
    const bounds = sentTo(birds, birds.south.address).map(({ query }) => [query.limit, query.timeout_ms])
    expect(bounds.map(([limit]) => limit)).toEqual([30, 1000, 5, 1000])
    const times = bounds.map(([, timeout]) => timeout ?? 0)
    expect(times[0]).toBeGreaterThan(3_000)
    expect(times[0]).toBeLessThanOrEqual(3_200)
    expect(times[2]).toBeLessThanOrEqual(70)
    expect(times[3]).toBeLessThanOrEqual(900)
  })

  it('BQ-124: takes what is as long as it may be at its own node, and asks with as long a text', async () => {
    await using birds = await openBirds({ embedder: 'none' })
    const id = 'i'.repeat(512)
    await say(birds.south, 'dee', id, 'swifts fly south', PUBLIC)
    const { beliefs, errors } = await birds.ask(`swifts ${'🐦'.repeat(4_089)}`)
    expect(errors).toEqual([])
    expect(idsOf({ beliefs })).toEqual([id])
  })

  it('BQ-118: the longest beliefs fit into an answer, and those that do not are said to be there', async () => {
    await using birds = await openBirds({ embedder: 'none' })
    const source = { external_ref: '"'.repeat(2_048), contribution_type: 'primary', weight: 1 }
    for (const id of ['one', 'two', 'three']) {
      const content = `swifts ${id} ${'"'.repeat(65_000)}`
      const derivation = { type: 'inference', sources: Array.from({ length: 90 }, () => source) }
      await say(birds.south, 'dee', id, content, { ...PUBLIC, derivation })
    }
    const { beliefs, errors, coverage } = await birds.ask('swifts', { max_results_per_node: 1 })
    expect([errors, beliefs.length]).toEqual([[], 1])
    expect(coverage['nodes']).toMatchObject([{ node: 'north' }, { node: 'south', results: 1, more: true }])
    const all = await birds.ask('swifts', { max_results_per_node: 3 })
    expect(all.errors).toEqual([])
    expect(all.coverage['nodes']).toMatchObject([{ node: 'north' }, { node: 'south', results: 2, more: true }])
  })

  it('BQ-122: federation nodes receive the requester’s id, network nodes only that of the node', async () => {
    await using birds = await threeVoices()
    await birds.ask('swifts')
    const { agents } = (await birds.home.call('agents.list', 'owner', {})) as { agents: { id: string; did: string }[] }
    const ana = agents.find(({ id }) => id === 'ana')?.did
    const [north] = sentTo(birds, birds.north.address)
    const [south] = sentTo(birds, birds.south.address)
    expect([north?.sender, north?.audience]).toEqual([ana, birds.north.did])
    expect([south?.sender, south?.audience]).toEqual([birds.home.did, birds.south.did])
    expect(JSON.stringify(south)).not.toContain('ana')
    expect(JSON.stringify(south)).not.toContain(ana)
  })

  it('BQ-125: remote answers are scored with the trust, the weights and the clock of the requester, and filtered again', async () => {
    await using birds = await threeVoices()
    await say(birds.south, 'eli', 'other', 'swifts fly south in september', PUBLIC)
    const { agents } = (await birds.south.call('agents.list', 'owner', {})) as { agents: { id: string; did: string }[] }
    const eli = agents.find(({ id }) => id === 'eli')?.did as string
    await birds.home.call('agents.create', 'owner', { id: 'eli-of-south', did: eli })
    await birds.home.call('trust.set', 'ana', { target: 'eli-of-south', trust_level: 0.9 })
    const { beliefs } = await birds.ask('swifts fly south', { scope: { network: true } })
    expect(beliefs.map(({ belief, score }) => [belief.holder_id, score.components['trust_score']])[0]).toEqual([
      'eli-of-south',
      0.9,
    ])
    const trusted = await birds.ask(
      'swifts',
      { scope: { network: true, federated: true } },
      { filters: 'from_trusted' },
    )
    expect(idsOf(trusted)).toEqual(['other'])
    const without = await birds.ask('swifts -september', { scope: { network: true } })
    expect(idsOf(without)).toEqual(['public'])
    const phrase = await birds.ask('"in september"', { scope: { network: true } })
    expect(idsOf(phrase)).toEqual(['other'])
    const holder = await birds.ask(
      'swifts',
      { scope: { network: true } },
      { filters: { exclude_holders: ['eli-of-south'] } },
    )
    expect(idsOf(holder)).toEqual(['public'])
  })

  it('BQ-126: what a federation node sends has pseudonyms, and counts as the requester trusts the federation', async () => {
    await using birds = await threeVoices()
    const scope = { federated: true }
    const before = (await birds.ask('swifts', { scope })).beliefs[0]
    expect(before?.belief.holder_id).toMatch(/^holder:[\w-]{26}$/)
    expect(before?.score.components['trust_score']).toBe(0.1)
    expect(idsOf(await birds.ask('swifts', { scope }, { filters: 'from_trusted' }))).toEqual([])
    await birds.home.call('trust.set', 'ana', { target: 'federation:birds', trust_level: 0.8 })
    const after = await birds.ask('swifts', { scope }, { filters: 'from_trusted' })
    expect(after.beliefs.map(({ score }) => score.components['trust_score'])).toEqual([0.8])
    const { member_count, federation_id } = after.beliefs[0] as unknown as {
      member_count: number
      federation_id: string
    }
    expect([member_count, federation_id]).toEqual([1, 'birds'])
    const explained = await birds.ask('swifts', { scope, include_explanation: true })
    expect(explained.beliefs[0]).toMatchObject({
      explanation: {
        trust: { of: 'federation', kind: 'direct', value: 0.8, shared: { band: 'high', sources: 'one' } },
      },
    })
    expect(idsOf(await birds.ask('swifts', { scope }, { filters: { min_holder_reputation: 0.1 } }))).toEqual([])
    const same = await birds.ask('swifts', { scope }, { filters: { holder_ids: [before?.belief.holder_id] } })
    expect(idsOf(same)).toEqual(['shared'])
  })

  it('BQ-132, BQ-133, BQ-134: failed nodes are reported, in order, in fixed words; the rest is answered and coverage is exact', async () => {
    await using birds = await threeVoices()
    birds.world.transport.fault(birds.north.address, { isSilent: true })
    birds.world.transport.fault(birds.south.address, { isDead: true })
    const answer = await birds.ask('swifts', { timeout_per_node_ms: 60 })
    expect(idsOf(answer)).toEqual(['own'])
    expect(answer.partial).toBe(true)
    expect(answer.errors.map(({ elapsed_ms: _, ...rest }) => rest)).toEqual([
      {
        source: { kind: 'federated', id: 'birds' },
        node: 'north',
        code: 'TIMEOUT',
        message: 'the node did not answer in time',
        details: { reason: 'timeout' },
        retryable: true,
      },
      {
        source: { kind: 'network', id: 'south' },
        node: 'south',
        code: 'NODE_UNAVAILABLE',
        message: 'the node gave no answer that could be used',
        details: { reason: 'unreachable' },
        retryable: true,
      },
    ])
    expect(answer.coverage).toMatchObject({
      local: true,
      federations_queried: ['birds'],
      federations_responded: [],
      federated: [],
      network_queried: true,
      network_responded: false,
      network: false,
    })
  })

  it('BQ-134: sources outside the scope are absent from coverage', async () => {
    await using birds = await threeVoices()
    const { coverage } = await birds.ask('swifts', { scope: { local: true, federated: true } })
    expect(coverage).toMatchObject({
      federations_queried: ['birds'],
      federations_responded: ['birds'],
      network_queried: false,
      network_responded: false,
    })
    expect((coverage['nodes'] as { node: string }[]).map(({ node }) => node)).toEqual(['north'])
  })

  it('BQ-134: coverage tells of each node what it gave, when and after how long, and the same when it is recalled', async () => {
    await using birds = await threeVoices()
    birds.world.transport.fault(birds.south.address, { isDead: true })
    const found = async () => {
      const { coverage } = await birds.ask('swifts')
      return (coverage['nodes'] as readonly Record<string, unknown>[]).map(({ node, results, answered_at }) => {
        return [node, results, answered_at]
      })
    }
    const NOON = '2026-06-01T12:00:00.000Z'
    expect(await found()).toEqual([
      ['north', 1, NOON],
      ['south', 0, null],
    ])
    birds.world.transport.fault(birds.south.address, {})
    const whole = [
      ['north', 1, NOON],
      ['south', 1, NOON],
    ]
    expect(await found()).toEqual(whole)
    birds.world.clock.set(birds.world.clock.now() + 1_000)
    expect(await found()).toEqual(whole)
    const { coverage } = await birds.ask('swallows', { scope: { network: true } })
    expect(coverage['nodes']).toMatchObject([
      { node: 'south', answered_at: '2026-06-01T12:00:01.000Z', elapsed_ms: expect.any(Number) },
    ])
  })

  it.each([
    ['TIMEOUT', { isSilent: true }],
    ['NODE_UNAVAILABLE', { isDead: true }],
  ] as const)('BQ-132: where nobody answers the call fails with %s', async (code, fault) => {
    await using birds = await threeVoices()
    birds.world.transport.fault(birds.south.address, fault)
    const failing = birds.ask('swifts', { scope: { network: true }, timeout_per_node_ms: 60 })
    await expect(failing).rejects.toMatchObject({ code })
    const { details } = await failing.catch(error => error)
    // BQ-185: after how long, where it was for want of time.
    const reason = code === 'TIMEOUT' ? 'timeout' : 'unreachable'
    const elapsed = code === 'TIMEOUT' && { elapsed_ms: expect.any(Number) }
    expect(details).toEqual({ nodes: ['south'], reason, reasons: [reason], ...elapsed })
  })

  it('BQ-132, BQ-133: where none answered, the error says of each why, and that asking again does not help', async () => {
    await using birds = await threeVoices()
    const did = (await birds.home.call('agents.list', 'owner', {}))['agents'] as readonly { id: string; did: string }[]
    const agent = did.find(({ id }) => id === 'ana')?.did as string
    await birds.north.call('federations.set_member', 'owner', { federation: 'birds', agent, status: 'suspended' })
    const failing = birds.ask('swifts', { scope: { federated: true } })
    await expect(failing).rejects.toMatchObject({
      code: 'NODE_UNAVAILABLE',
      message: 'no node answers this requester; a retry changes nothing',
      details: { nodes: ['north'], reason: 'refused', reasons: ['refused'] },
    })
  })

  it('BQ-132: where one is late and another is away, the call fails with NODE_UNAVAILABLE', async () => {
    await using birds = await threeVoices()
    birds.world.transport.fault(birds.north.address, { isSilent: true })
    birds.world.transport.fault(birds.south.address, { isDead: true })
    const failing = birds.ask('swifts', { scope: { federated: true, network: true }, timeout_per_node_ms: 60 })
    await expect(failing).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
  })

  it('BQ-132: an answer that comes after its time is ignored', async () => {
    await using birds = await threeVoices()
    birds.world.transport.fault(birds.south.address, { delayMs: 1_500 })
    const answer = await birds.ask('swifts', { timeout_per_node_ms: 700 })
    expect(idsOf(answer).toSorted()).toEqual(['own', 'shared'])
    await new Promise(resolve => setTimeout(resolve, 1_000))
    birds.world.transport.fault(birds.south.address, {})
    expect(idsOf(await birds.ask('swifts')).toSorted()).toEqual(['own', 'public', 'shared'])
  })

  it('rests after failures in a row, asks one question when the rest is over, and rests twice as long where that fails', async () => {
    let now = 0
    await using birds = await threeVoices({ machineTime: () => now })
    const { transport } = birds.world
    transport.fault(birds.south.address, { isDead: true })
    for (let time = 0; time < 3; time++) await birds.ask('swifts')
    const isAsked = async () => {
      transport.sent.length = 0
      await birds.ask('swifts')
      return transport.sent.some(({ address }) => address === birds.south.address)
    }
    const askedAt = async (...moments: readonly number[]) => {
      const asked = []
      for (const moment of moments) {
        now = moment
        asked.push(await isAsked())
      }
      return asked
    }
    expect(await askedAt(999, 1_000, 1_001, 2_999, 3_000)).toEqual([false, true, false, false, true])
    transport.fault(birds.south.address, {})
    expect(await askedAt(6_999, 7_000)).toEqual([false, true])
    transport.fault(birds.south.address, { isDead: true })
    birds.world.clock.set(birds.world.clock.now() + 3_600_000)
    expect(await askedAt(7_001, 7_002, 7_003, 7_004)).toEqual([true, true, true, false])
  })

  it('rests after failures in a row, and is asked again once it was added again', async () => {
    await using birds = await threeVoices()
    birds.world.transport.fault(birds.south.address, { isDead: true })
    for (let time = 0; time < 3; time++) await birds.ask('swifts')
    birds.world.transport.fault(birds.south.address, {})
    birds.world.transport.sent.length = 0
    const resting = await birds.ask('swifts')
    expect(birds.world.transport.sent.map(({ address }) => address)).not.toContain(birds.south.address)
    expect(resting.errors.map(({ details }) => details)).toEqual([{ reason: 'unreachable' }])
    await birds.home.call('peers.add', 'owner', { id: 'south', address: birds.south.address })
    expect((await birds.ask('swifts')).errors).toEqual([])
  })

  it('BQ-116, BQ-154: asks all at once, and cancels all of them when the requester leaves', async () => {
    await using birds = await threeVoices()
    const { transport } = birds.world
    for (const { address } of [birds.north, birds.south]) transport.fault(address, { isSilent: true })
    const leaving = new AbortController()
    const asking = callOperation(
      makeCatalog(birds.home.engine),
      birds.home.engine,
      'beliefs.query',
      { semantic: 'swifts', options: EVERYWHERE },
      { viewer: { id: 'ana' }, signal: leaving.signal },
    )
    await vi.waitUntil(() => transport.underWay === 2)
    leaving.abort()
    await expect(asking).rejects.toMatchObject({ code: 'TIMEOUT' })
    expect([transport.underWay, transport.mostUnderWay]).toEqual([0, 2])
    for (const { address } of [birds.north, birds.south]) transport.fault(address, {})
    expect((await birds.ask('swifts')).errors).toEqual([])
  })

  it('BQ-154: a stream that is ended while nodes are asked lets go of them, and gives nothing more', async () => {
    await using birds = await threeVoices()
    const { transport } = birds.world
    for (const { address } of [birds.north, birds.south]) transport.fault(address, { isSilent: true })
    const leaving = new AbortController()
    const beliefs = beliefsOf(birds.home.engine, { id: 'ana' })
    const chunks = beliefs.stream({ semantic: 'swifts', options: EVERYWHERE }, leaving.signal)[Symbol.asyncIterator]()
    const first = chunks.next()
    await vi.waitUntil(() => transport.underWay === 2)
    leaving.abort()
    for (const piece of [first, chunks.next()]) expect(await piece).toEqual({ done: true, value: undefined })
    expect(transport.underWay).toBe(0)
  })

  it('BQ-132: a node that is given up is let go of, while the others are waited for', async () => {
    await using birds = await threeVoices()
    const { transport } = birds.world
    transport.fault(birds.south.address, { isSilent: true })
    await birds.ask('swifts', { timeout_per_node_ms: 60 })
    expect(transport.underWay).toBe(0)
  })

  it('all answers to one question together have a bound, however many nodes are asked', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    await using world = await openNodes(['home', ...names])
    const home = world.node('home')
    for (const name of names) await home.call('peers.add', 'owner', { id: name, address: world.node(name).address })
    world.transport.sent.length = 0
    const ask = () =>
      home.call('beliefs.query', 'owner', { semantic: 'swifts', options: { ...EVERYWHERE, limit: 1000 } })
    await ask()
    const bytes = world.transport.sent.map(({ message }) => message.maxBytes)
    expect(bytes).toHaveLength(names.length)
    expect(bytes.reduce((sum, most) => sum + most, 0)).toBeLessThanOrEqual(256 * 2 ** 20)
    expect(Math.min(...bytes)).toBeGreaterThan(40 * 2 ** 20)
  })
})

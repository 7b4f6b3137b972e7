/** What a node takes from another one, and what it tells it. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../../../src/base/canonical.ts'
import type { Keys } from '../../../../../src/identity/keys.ts'
import { type Envelope, isStatementOf, sealEnvelope } from '../../../../../src/identity/messages.ts'
import {
  answerStatement,
  beliefStatement,
  type WireAnswer,
  type WireQuery,
} from '../../../../../src/lenses/beliefs/nodes/wire/protocol.ts'
import { signingKeys } from '../../../../../src/lenses/beliefs/trust/agent-facts.ts'
import {
  ANA,
  answerTo,
  EVERYTHING,
  nonce,
  OF_BIRDS,
  openNorth,
  STRANGER,
  sealed,
} from '../../../../support/asked-node.ts'
import { asSent, openNodes } from '../../../../support/nodes.ts'
import { PUBLIC, say } from '../../../../support/nodes-world.ts'

describe('an envelope', () => {
  it('BQ-119: is answered where its signature, its audience and its clock are right, and refused alike where they are not', async () => {
    const { world, north } = await openNorth()
    await using _ = world
    expect((await answerTo(north, sealed(north, EVERYTHING))).items.map(({ id }) => id)).toEqual(['public'])
    const good = sealed(north, EVERYTHING)
    const wrong: Readonly<Record<string, Envelope | object>> = {
      'another query': { ...good, query: { ...EVERYTHING, limit: 9 } },
      'another sender': { ...good, sender: STRANGER.did },
      'another audience': { ...good, audience: STRANGER.did },
      'another time': { ...good, timestamp: new Date(Date.now() + 1000).toISOString() },
      'another number': { ...good, nonce: nonce() },
      'a member more': { ...good, more: true },
      'for somebody else': sealed(north, EVERYTHING, ANA, { audience: STRANGER.did }),
      'too old': sealed(north, EVERYTHING, ANA, { timestamp: Date.now() - 301_000 }),
      'too new': sealed(north, EVERYTHING, ANA, { timestamp: Date.now() + 302_000 }),
      'no envelope': {},
    }
    for (const [name, envelope] of Object.entries(wrong)) {
      const refused = await answerTo(north, envelope as Envelope).catch(error => error)
      expect([name, refused.code, refused.message]).toEqual([name, 'UNAUTHORIZED', expect.any(String)])
      expect(refused.details).toEqual({})
    }
    await answerTo(north, sealed(north, EVERYTHING, ANA, { timestamp: Date.now() - 290_000 }))
  })

  it('BQ-120: is answered once, whoever sends it again', async () => {
    const { world, north } = await openNorth()
    await using _ = world
    const envelope = sealed(north, EVERYTHING)
    await answerTo(north, envelope)
    const replayed = { code: 'UNAUTHORIZED', details: { reason: 'replay' } }
    await expect(answerTo(north, envelope)).rejects.toMatchObject(replayed)
    const sameNumber = sealEnvelope(STRANGER, EVERYTHING as unknown as Json, {
      audience: north.did,
      timestamp: Date.now(),
      nonce: envelope.nonce,
    })
    await answerTo(north, sameNumber)
  })
})

describe('an answer', () => {
  it('BQ-123: tells the sender what its own matrix lets it see, whatever the question claims', async () => {
    const { world, north } = await openNorth()
    await using _ = world
    const ofBirds = await answerTo(north, sealed(north, OF_BIRDS))
    expect(ofBirds.items.map(({ id, federation_ids, holder_id }) => [id, federation_ids, holder_id])).toEqual([
      ['shared', ['birds'], expect.stringMatching(/^holder:/)],
    ])
    const claiming = { ...OF_BIRDS, visibility: 'private', viewer: 'bo' }
    await expect(answerTo(north, sealed(north, claiming))).rejects.toMatchObject({ code: 'INVALID_QUERY' })
    const levels = { ...EVERYTHING, filters: [{ ...NO_WIRE_FILTER, visibility_levels: ['private', 'federated'] }] }
    expect((await answerTo(north, sealed(north, levels))).items).toEqual([])
  })

  it('BQ-123: is refused for a federation of which the sender is no member, as for one that there is not', async () => {
    const { world, north } = await openNorth()
    await using _ = world
    const refusals = []
    for (const federation of ['bats', 'nothing']) {
      const query = { ...OF_BIRDS, scope: { kind: 'federated', federation } }
      refusals.push(
        await answerTo(north, sealed(north, query)).catch(error => JSON.parse(JSON.stringify(error.toJSON()))),
      )
    }
    const [first, second] = refusals.map(({ request_id: _, ...rest }) => rest)
    expect(first).toEqual(second)
    expect(first.code).toBe('UNAUTHORIZED')
    await north.call('federations.set_member', 'owner', { federation: 'birds', agent: ANA.did, status: 'suspended' })
    await expect(answerTo(north, sealed(north, OF_BIRDS))).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  })

  it('BQ-123: has belief, embedding with its model, confidence, content hash and signature', async () => {
    const { world, north } = await openNorth()
    await using _ = world
    const answer = await answerTo(north, sealed(north, EVERYTHING))
    const [item] = answer.items
    if (item === undefined) throw new Error('nothing answered')
    expect([item.is_embedded, answer.vectors?.model]).toEqual([true, 'toy@toy'])
    expect(isStatementOf(north.did, answerStatement(asSent(answer) as WireAnswer), answer.signature)).toBe(true)
    expect(isStatementOf(item.holder_id as string, beliefStatement(item), item.signature as string)).toBe(true)
    expect([answer.node, answer.audience]).toEqual([north.did, ANA.did])
  })

  it('BQ-121, BQ-123: is the same whatever the sender has stated of trust here, and of public beliefs the requester', async () => {
    const { world, north } = await openNorth()
    await using _ = world
    for (const id of ['ana', 'dee', 'eli']) {
      await north.call('agents.create', 'owner', { id })
      await north.call('federations.set_member', 'owner', { federation: 'birds', agent: id })
      const shared = { visibility: 'federated', federation_ids: ['birds'] }
      for (const more of [PUBLIC, shared]) {
        await say(north, id, `${id} ${more.visibility}`, `swifts as ${id} saw them ${more.visibility}`, more)
      }
    }
    const ana = north.engine.host('beliefs').store.read(reader => signingKeys(reader, 'ana'))
    if (ana === null) throw new Error('no key is kept for ana')
    const reported = async (query: WireQuery, keys: Keys) => (await answerTo(north, sealed(north, query, keys))).items
    const [open, shared] = [await reported(EVERYTHING, STRANGER), await reported(OF_BIRDS, ana)]
    for (const [target, trust_level] of Object.entries({ dee: 1, eli: 0 })) {
      await north.call('trust.set', 'ana', { target, trust_level })
      expect(await reported(EVERYTHING, ana)).toEqual(open)
      expect(await reported(OF_BIRDS, ana)).toEqual(shared)
    }
    expect([open.length, shared.length]).toEqual([4, 4])
  })

  it('BQ-104, BQ-123: names no holders, not even by pseudonyms, where the federation is strict', async () => {
    const { world, north } = await openNorth()
    await using _ = world
    await north.call('federations.create', 'owner', { id: 'quiet', anonymity: 'strict' })
    for (const agent of ['bo', ANA.did])
      await north.call('federations.set_member', 'owner', { federation: 'quiet', agent })
    await say(north, 'bo', 'whisper', 'swifts whisper', { visibility: 'federated', federation_ids: ['quiet'] })
    const query = { ...EVERYTHING, scope: { kind: 'federated', federation: 'quiet' } }
    const { items } = await answerTo(north, sealed(north, query))
    expect(items.map(({ id, holder_id }) => [id, holder_id])).toEqual([['whisper', null]])
  })

  it('BQ-123: says whether there is more, and no more than was asked for', async () => {
    const { world, north } = await openNorth()
    await using _ = world
    for (let at = 0; at < 5; at++) await say(north, 'cy', `more ${at}`, `swifts by the dozen, number ${at}`, PUBLIC)
    const some = await answerTo(north, sealed(north, { ...EVERYTHING, limit: 3 }))
    expect([some.items.length, some.more]).toEqual([3, true])
    const all = await answerTo(north, sealed(north, { ...EVERYTHING, limit: 6 }))
    expect([all.items.length, all.more]).toEqual([6, false])
  })

  it('is not given to strangers where the node is set so; members are answered all the same', async () => {
    const world = await openNodes(['north'], {}, { answer_network: false })
    await using _ = world
    const north = world.node('north')
    await north.call('federations.create', 'owner', { id: 'birds' })
    await north.call('federations.set_member', 'owner', { federation: 'birds', agent: ANA.did })
    await expect(answerTo(north, sealed(north, EVERYTHING))).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    expect((await answerTo(north, sealed(north, OF_BIRDS))).items).toEqual([])
    expect(await north.call('peers.about', 'anybody', {})).toMatchObject({ network: false })
  })

  it('is refused for a federation whose results are aggregates: it gives away no single beliefs', async () => {
    const { world, north } = await openNorth()
    await using _ = world
    await north.call('federations.create', 'owner', { id: 'counted', results: 'aggregate' })
    await north.call('federations.set_member', 'owner', { federation: 'counted', agent: ANA.did })
    const query = { ...EVERYTHING, scope: { kind: 'federated', federation: 'counted' } }
    await expect(answerTo(north, sealed(north, query))).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  })

  it('is given to nobody where the node is set so; it says so, and its own are answered as ever', async () => {
    const { world, north } = await openNorth({}, { answer_nodes: false })
    await using _ = world
    const refused = {
      code: 'UNAUTHORIZED',
      message: 'this node answers no other nodes',
      details: { reason: 'answers_nobody' },
    }
    for (const envelope of [sealed(north, OF_BIRDS), sealed(north, EVERYTHING, STRANGER), {} as Envelope]) {
      await expect(answerTo(north, envelope)).rejects.toMatchObject(refused)
    }
    expect(await north.call('peers.about', 'anybody', {})).toMatchObject({ answers: false, network: false })
    const options = { scope: { local: true, network: true } }
    expect(await north.call('beliefs.query', 'bo', { semantic: 'swifts', options })).toMatchObject({ total_count: 4 })
  })

  it('takes a text as text: nothing in it is a sign', async () => {
    const { world, north } = await openNorth()
    await using _ = world
    const answer = await answerTo(north, sealed(north, { ...EVERYTHING, text: 'swifts -may "' }))
    expect(answer.items.map(({ id }) => id)).toEqual(['public'])
  })

  it('asks for the text where the vector is of another model', async () => {
    const { world, north } = await openNorth()
    await using _ = world
    const values = Buffer.from(Float32Array.of(1, 0, 0).buffer).toString('base64')
    const query = { ...EVERYTHING, text: null, vector: { model: 'other@model', values } }
    const answer = await answerTo(north, sealed(north, query))
    expect([answer.needs_text, answer.items, answer.model]).toEqual([true, [], 'toy@toy'])
  })

  it.each([
    ['no limit', { ...EVERYTHING, limit: 0 }],
    ['no time', { ...EVERYTHING, timeout_ms: 0 }],
    ['another protocol', { ...EVERYTHING, protocol: 1 }],
    ['an unknown member', { ...EVERYTHING, trust: { bo: 1 } }],
    [
      'a vector that is no unit',
      {
        ...EVERYTHING,
        text: null,
        vector: { model: 'toy@toy', values: Buffer.from(Float32Array.of(1, 1).buffer).toString('base64') },
      },
    ],
    [
      'a vector of another size',
      {
        ...EVERYTHING,
        text: null,
        vector: { model: 'toy@toy', values: Buffer.from(Float32Array.of(1, 0).buffer).toString('base64') },
      },
    ],
    ['no object', 'swifts'],
  ])('refuses %s, and stays up', async (_, query) => {
    const { world, north } = await openNorth()
    await using __ = world
    await expect(answerTo(north, sealed(north, query))).rejects.toMatchObject({ code: 'INVALID_QUERY' })
    expect((await answerTo(north, sealed(north, EVERYTHING))).items).toHaveLength(1)
  })
})

const NO_WIRE_FILTER = {
  valid_at: null,
  created_after: null,
  created_before: null,
  min_confidence: {},
  domains_include: null,
  domains_exclude: [],
  derivation_types: null,
  visibility_levels: null,
}

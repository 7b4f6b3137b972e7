/** Nodes that lie, or are lied for on the way: nothing forged is ever in an answer (BQ-124). */
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../../../../src/base/canonical.ts'
import { keysOf } from '../../../../../src/identity/keys.ts'
import { newNonce, signStatement } from '../../../../../src/identity/messages.ts'
import {
  answerStatement,
  vectorsFromText,
  vectorsToText,
  type WireAnswer,
  type WireItem,
} from '../../../../../src/lenses/beliefs/nodes/wire/protocol.ts'
import { asSent, type ReadAnswer, readAnswer } from '../../../../support/nodes.ts'
import { idsOf, openBirds, PUBLIC, SHARED, say } from '../../../../support/nodes-world.ts'

async function voices() {
  const birds = await openBirds()
  await say(birds.home, 'ana', 'own', 'swifts sleep in the air')
  await say(birds.north, 'bo', 'shared', 'swifts nest under roofs', SHARED)
  await say(birds.south, 'dee', 'public', 'swifts fly south in august', PUBLIC)
  await say(birds.south, 'eli', 'other', 'swifts return in may', PUBLIC)
  return birds
}

type Change = (answer: ReadAnswer) => unknown

/** As a node that has its key signs it. */
async function resealed(
  birds: Awaited<ReturnType<typeof voices>>,
  node: 'north' | 'south',
  answer: ReadAnswer,
): Promise<WireAnswer> {
  const engine = birds[node].engine
  const keys = engine.host('beliefs').node?.keys()
  if (keys === undefined) throw new Error('no keys')
  const open = asSent(answer) as WireAnswer
  return { ...open, signature: signStatement(keys, answerStatement(open)) }
}

function first(answer: ReadAnswer, change: Partial<WireItem>): ReadAnswer {
  return { ...answer, items: answer.items.map((item, at) => (at === 0 ? { ...item, ...change } : item)) }
}

function bySomebody(answer: ReadAnswer): string {
  return signStatement(STRANGER, answerStatement(asSent(answer) as WireAnswer))
}

function withVectors(answer: ReadAnswer, vectors: readonly Float32Array[]): ReadAnswer {
  const { model = 'toy@toy' } = answer.vectors ?? {}
  const dimensions = vectors[0]?.length ?? 1
  return { ...answer, vectors: { model, dimensions, values: vectorsToText(vectors) } }
}

function firstVector(answer: ReadAnswer, change: (vector: Float32Array) => Float32Array): ReadAnswer {
  const { values, dimensions } = answer.vectors ?? { values: '', dimensions: 1 }
  const count = answer.items.filter(item => item.is_embedded).length
  const vectors = (vectorsFromText(values, dimensions, count) ?? []).map(vector => vector as Float32Array)
  return withVectors(answer, [change(vectors[0] as Float32Array), ...vectors.slice(1)])
}

const STRANGER = keysOf(Uint8Array.from({ length: 32 }, (_, at) => at))

/** What somebody on the way could do. */
const ON_THE_WAY: Readonly<Record<string, Change>> = {
  'another content': answer => first(answer, { content: 'swifts are bats' }),
  'another content and its hash': answer =>
    first(answer, { content: 'swifts are bats', content_hash: sha256('swifts are bats') }),
  'a higher confidence': answer =>
    first(answer, { confidence: { ...(answer.items[0] as WireItem).confidence, corroboration: 1 } }),
  'an item more': answer => ({ ...answer, items: [...answer.items, answer.items[0]] }),
  'an item left out': answer => ({ ...answer, items: answer.items.slice(1) }),
  'items in another order': answer => ({ ...answer, items: answer.items.toReversed() }),
  'other vectors': answer => withVectors(answer, [Float32Array.of(1, 0, 0, 0), Float32Array.of(0, 1, 0, 0)]),
  'another signature': answer => ({ ...answer, signature: bySomebody(answer) }),
  'another node': answer => ({
    ...answer,
    node: STRANGER.did,
    signature: bySomebody({ ...answer, node: STRANGER.did }),
  }),
  'another audience': answer => ({ ...answer, audience: STRANGER.did }),
  'another number': answer => ({ ...answer, nonce: newNonce(length => new Uint8Array(length)) }),
  'an old time': answer => ({ ...answer, timestamp: '2020-01-01T00:00:00.000Z' }),
  'a member more': answer => ({ ...answer, total: 7 }),
  'no answer at all': () => ({ hello: 'world' }),
  nothing: () => null,
}

/** What a node could do that signs whatever it likes. */
const BY_THE_NODE: Readonly<Record<string, Change>> = {
  'content that its holder never said': answer =>
    first(answer, { content: 'swifts are bats', content_hash: sha256('swifts are bats') }),
  'a hash that is not of the content': answer => first(answer, { content_hash: sha256('else') }),
  'a confidence that its holder never had': answer =>
    first(answer, { confidence: { ...(answer.items[0] as WireItem).confidence, corroboration: 1 } }),
  'a confidence above 1': answer =>
    first(answer, { confidence: { ...(answer.items[0] as WireItem).confidence, corroboration: 7 } }),
  'a holder who did not sign': answer => first(answer, { holder_id: STRANGER.did }),
  'a holder that is no key': answer => first(answer, { holder_id: 'ana' }),
  'no signature of the holder': answer => first(answer, { signature: null }),
  'a private belief': answer => first(answer, { visibility: 'private' }),
  'a belief of a federation': answer => first(answer, { visibility: 'federated', federation_ids: ['birds'] }),
  'a vector that is not of unit length': answer => firstVector(answer, vector => vector.map(part => part * 2)),
  'a vector that is not finite': answer => firstVector(answer, vector => vector.fill(Number.NaN)),
  'half a character': answer => first(answer, { content: 'swifts \ud800', content_hash: sha256('swifts \ud800') }),
  'an inflated score': answer => first(answer, { score: 99 } as unknown as Partial<WireItem>),
  'a time that is none': answer => first(answer, { created_at: 'yesterday' }),
}

describe('what was changed on its way', () => {
  it.each(Object.entries(ON_THE_WAY))('BQ-124: %s: is dropped, and the node reported', async (_, change) => {
    await using birds = await voices()
    birds.world.transport.fault(birds.south.address, { answers: answer => asSent(change(readAnswer(answer))) })
    const answer = await birds.ask('swifts')
    expect(idsOf(answer)).not.toContain('bats')
    const contents = answer.beliefs.map(({ belief }) => belief.content)
    expect(contents).not.toContain('swifts are bats')
    expect(contents).toEqual(expect.arrayContaining(['swifts sleep in the air', 'swifts nest under roofs']))
    expect(answer.errors.map(({ node, code, details }) => [node, code, details])).toEqual([
      ['south', 'NODE_UNAVAILABLE', { reason: 'invalid_data' }],
    ])
    expect(answer.partial).toBe(true)
  })
})

describe('what a node that signs it has made up', () => {
  it.each(Object.entries(BY_THE_NODE))('BQ-124: %s: that item is dropped, the others stand', async (_, change) => {
    await using birds = await voices()
    let lied = ''
    birds.world.transport.fault(birds.south.address, {
      answers: async given => {
        const answer = readAnswer(given)
        lied = answer.items[0]?.id ?? ''
        return resealed(birds, 'south', change(answer) as ReadAnswer)
      },
    })
    const answer = await birds.ask('swifts')
    const ids = idsOf(answer)
    expect(lied).not.toBe('')
    expect(ids).not.toContain(lied)
    expect(ids.toSorted()).toEqual(['own', 'shared', ...(lied === 'public' ? ['other'] : ['public'])].toSorted())
    expect(answer.errors.map(({ node, details }) => [node, details])).toEqual([['south', { reason: 'invalid_data' }]])
  })

  it.each([
    ['a holder by name', { holder_id: 'bo' }],
    ['another federation', { federation_ids: ['bats'] }],
    ['a public belief', { visibility: 'public', federation_ids: [] }],
    ['no count of members', { member_count: null }],
    ['content with the hash of another', { content: 'swifts are bats' }],
  ] as const)('BQ-124, BQ-126: of a federation, %s: is dropped', async (_, change) => {
    await using birds = await voices()
    birds.world.transport.fault(birds.north.address, {
      answers: answer => resealed(birds, 'north', first(readAnswer(answer), change as Partial<WireItem>)),
    })
    const answer = await birds.ask('swifts')
    expect(idsOf(answer).toSorted()).toEqual(['other', 'own', 'public'])
    expect(answer.errors.map(({ node, details }) => [node, details])).toEqual([['north', { reason: 'invalid_data' }]])
  })

  it('BQ-124, BQ-126: a federation node cannot say of anything that the requester holds it', async () => {
    await using birds = await voices()
    birds.world.transport.fault(birds.north.address, {
      answers: answer => {
        const given = readAnswer(answer)
        return resealed(birds, 'north', first(given, { holder_id: given.audience }))
      },
    })
    const shared = (await birds.ask('swifts')).beliefs.find(({ belief }) => belief.id === 'shared')
    expect(shared?.belief.holder_id).toMatch(/^holder:[\w-]{26}$/)
    expect(idsOf(await birds.ask('swifts', {}, { filters: { holder_ids: ['ana'] } }))).toEqual(['own'])
  })

  it.each<[string, Change]>([
    [
      'vectors of this model and of another size',
      answer => withVectors(answer, [Float32Array.of(1, 0), Float32Array.of(1, 0)]),
    ],
    ['fewer vectors than items have', answer => ({ ...answer, vectors: null })],
    ['an answer to somebody else', answer => ({ ...answer, audience: STRANGER.did })],
    ['an answer to another question', answer => ({ ...answer, nonce: newNonce(length => new Uint8Array(length)) })],
    ['an answer of long ago', answer => ({ ...answer, timestamp: '2020-01-01T00:00:00.000Z' })],
    ['items that are no list', answer => ({ ...answer, items: '{}' })],
    ['items that are no JSON', answer => ({ ...answer, items: '[' })],
  ])('BQ-124: %s: nothing of the answer is used', async (_, change) => {
    await using birds = await voices()
    birds.world.transport.fault(birds.south.address, {
      answers: answer => resealed(birds, 'south', change(readAnswer(answer)) as ReadAnswer),
    })
    const answer = await birds.ask('swifts')
    expect(idsOf(answer).toSorted()).toEqual(['own', 'shared'])
    expect(answer.errors.map(({ node, details }) => [node, details])).toEqual([['south', { reason: 'invalid_data' }]])
  })

  it('BQ-124: more items than were asked for: no more than those are looked at', async () => {
    await using birds = await voices()
    birds.world.transport.fault(birds.south.address, {
      answers: async given => {
        const answer = readAnswer(given)
        const items = Array.from({ length: 100 }, () => answer.items[0] as WireItem)
        return resealed(birds, 'south', {
          ...answer,
          items: items.map(item => ({ ...item, is_embedded: false })),
          vectors: null,
        })
      },
    })
    const answer = await birds.ask('swifts', { max_results_per_node: 2 })
    expect(answer.beliefs.filter(({ node }) => node === 'south')).toHaveLength(1)
    expect(answer.errors).toHaveLength(1)
  })

  it('a million results, or an answer without end: no more is read than was asked for', async () => {
    await using birds = await voices()
    birds.world.transport.fault(birds.south.address, {
      answers: answer => ({
        ...(answer as WireAnswer),
        items: JSON.stringify(Array.from({ length: 1_000_000 }, () => 'swifts are bats')),
      }),
    })
    const answer = await birds.ask('swifts')
    expect(idsOf(answer).toSorted()).toEqual(['own', 'shared'])
    expect(answer.errors.map(({ details }) => details)).toEqual([{ reason: 'too_large' }])
  })

  it('an answer that was given before is no answer now', async () => {
    await using birds = await voices()
    let before: unknown = null
    birds.world.transport.fault(birds.south.address, {
      answers: answer => {
        before ??= answer
        return before
      },
    })
    expect((await birds.ask('swifts')).errors).toEqual([])
    expect((await birds.ask('swallows')).errors.map(({ details }) => details)).toEqual([{ reason: 'invalid_data' }])
  })
})

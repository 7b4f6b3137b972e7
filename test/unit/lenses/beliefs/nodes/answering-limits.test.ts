/** How much a node does for others: how often it answers, for how long, and what it does for those who have left. */
import { expect, it } from 'vitest'
import type { Envelope } from '../../../../../src/identity/messages.ts'
import type { CallContext } from '../../../../../src/model/operation.ts'
import { callOperation, makeCatalog } from '../../../../../src/ops/catalog.ts'
import { NONCES } from '../../../../../src/store/core-tables.ts'
import { ANA, EVERYTHING, OF_BIRDS, openNorth, STRANGER, sealed } from '../../../../support/asked-node.ts'
import { readAnswer, type TestNode } from '../../../../support/nodes.ts'
import { PUBLIC, say } from '../../../../support/nodes-world.ts'
import { openToyEmbedder } from '../../../../support/toy-embedder.ts'

function ask({ engine }: TestNode, envelope: Envelope, more: Partial<CallContext> = {}): Promise<unknown> {
  const context = { viewer: { id: 'anybody' }, signal: new AbortController().signal, ...more }
  return callOperation(makeCatalog(engine), engine, 'nodes.query', { ...envelope }, context)
}

const usedNumbers = ({ engine }: TestNode) => engine.host('beliefs').store.table(NONCES).scan().length

it('BQ-190: strangers together, and each member for itself, are answered so often a minute, and refused before anything is written', async () => {
  let now = 0
  const { world, north } = await openNorth({ machineTime: () => now }, { answers_per_minute: 2 })
  await using _ = world
  const refused = { code: 'RATE_LIMITED', details: { retry_after_ms: 30_000, limit: 2, window_ms: 60_000 } }
  for (let time = 0; time < 2; time++) await ask(north, sealed(north, EVERYTHING, STRANGER))
  const third = sealed(north, EVERYTHING, STRANGER)
  for (let time = 0; time < 3; time++) await expect(ask(north, third)).rejects.toMatchObject(refused)
  expect(usedNumbers(north)).toBe(2)
  for (let time = 0; time < 2; time++) await ask(north, sealed(north, OF_BIRDS, ANA))
  await expect(ask(north, sealed(north, OF_BIRDS, ANA))).rejects.toMatchObject(refused)
  now += 30_000
  await ask(north, third)
  await expect(ask(north, sealed(north, EVERYTHING, STRANGER))).rejects.toMatchObject(refused)
})

it('strangers at one address leave something to those at others', async () => {
  const { world, north } = await openNorth({ machineTime: () => 0 }, { answers_per_minute: 10 })
  await using _ = world
  const from = (address: string) => ask(north, sealed(north, EVERYTHING, STRANGER), { address })
  for (let time = 0; time < 2; time++) await from('10.0.0.1')
  await expect(from('10.0.0.1')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  await from('10.0.0.2')
  for (const last of ['1', 'ffff:1']) await from(`2001:db8:0:7::${last}`)
  await expect(from('2001:db8:0:7:aaaa:bbbb:cccc:dddd')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  await from('2001:db8:0:8::1')
  await expect(from('::ffff:10.0.0.1')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  for (let time = 0; time < 10; time++) await ask(north, sealed(north, OF_BIRDS, ANA), { address: '10.0.0.1' })
})

it('BQ-120: what is not signed so, or was asked before, costs its pretended sender nothing', async () => {
  const { world, north } = await openNorth({ machineTime: () => 0 }, { answers_per_minute: 2 })
  await using _ = world
  const good = sealed(north, OF_BIRDS, ANA)
  for (let time = 0; time < 3; time++) {
    await expect(ask(north, { ...good, query: EVERYTHING as never })).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  }
  await ask(north, good)
  for (let time = 0; time < 3; time++) {
    await expect(ask(north, good)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  }
  await ask(north, sealed(north, OF_BIRDS, ANA))
})

it('BQ-118: larger requests are cut: nobody receives more than 1,000 at once', async () => {
  const { world, north } = await openNorth({ embedder: 'none' })
  await using _ = world
  for (let at = 0; at < 1_000; at++) await say(north, 'bo', `swift ${at}`, 'swifts sing', PUBLIC)
  const { items, more } = readAnswer(await ask(north, sealed(north, { ...EVERYTHING, limit: 1_000_000 })))
  expect([items.length, more]).toEqual([1_000, true])
})

const isGivenTime = (details: object) => JSON.stringify(details) === '{"elapsed_ms":1}'

it('BQ-121, BQ-185: a requester of an answer in no time learns that time alone, not how long the search took', async () => {
  const inner = openToyEmbedder()
  const busy = {
    ...inner,
    embed: (...given: Parameters<typeof inner.embed>) => {
      const end = performance.now() + 10
      while (performance.now() < end);
      return inner.embed(...given)
    },
  }
  const { world, north } = await openNorth({ embedder: busy })
  await using _ = world
  const asked = ask(north, sealed(north, { ...EVERYTHING, timeout_ms: 1 }))
  const message = 'there was no answer within timeout_ms'
  await expect(asked).rejects.toMatchObject({ code: 'TIMEOUT', message, details: expect.toSatisfy(isGivenTime) })
})

it('BQ-154: work for a node that leaves ends, and the next question is answered', async () => {
  const inner = openToyEmbedder()
  const begun = Promise.withResolvers<AbortSignal | undefined>()
  let isStuck = false
  const stuck = {
    ...inner,
    embed: (...given: Parameters<typeof inner.embed>) => {
      if (!isStuck) return inner.embed(...given)
      begun.resolve(given[2])
      return new Promise<never>(() => {})
    },
  }
  const { world, north } = await openNorth({ embedder: stuck })
  await using _ = world
  isStuck = true
  const leaving = new AbortController()
  const asked = ask(north, sealed(north, EVERYTHING), { signal: leaving.signal })
  const reported = await begun.promise
  leaving.abort()
  await expect(asked).rejects.toMatchObject({ code: 'TIMEOUT' })
  expect(reported?.aborted).toBe(true)
  isStuck = false
  const answer = readAnswer(await ask(north, sealed(north, EVERYTHING)))
  expect(answer.items.map(({ id }) => id)).toEqual(['public'])
})

it.each(['did:key:', 'did:key:z6Mk', `${ANA.did}1`, ANA.did.slice(0, -1)])(
  'a member elsewhere is named by a key: %s is none',
  async agent => {
    const { world, north } = await openNorth()
    await using _ = world
    const setting = north.call('federations.set_member', 'owner', { federation: 'birds', agent })
    await expect(setting).rejects.toMatchObject({
      code: 'INVALID_QUERY',
      details: { path: 'agent', constraint: expect.stringContaining('did:key'), reason: 'malformed' },
    })
  },
)

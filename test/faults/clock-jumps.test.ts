/**
 * Clocks that are set: the one that gives time its meaning, back by a year and forward by ten, within a life of an engine
 * and between two; and that of the machine, by which signed requests are dated.
 */
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { SettableClock } from '../../src/base/clock.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { nodeIdentity, signedRequests } from '../../src/engine/node-identity.ts'
import { openEngine } from '../../src/engine/open.ts'
import { keysOf } from '../../src/identity/keys.ts'
import { newNonce, signRequest } from '../../src/identity/messages.ts'
import { QuerentError } from '../../src/model/errors.ts'
import { openMemoryStore } from '../../src/store/sqlite-store.ts'
import { callOperation } from '../support/beliefs-engine.ts'
import { countingBytes, TEST_NOW } from '../support/engines.ts'
import { seededUniform } from '../support/seeded.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { openToyEmbedder } from '../support/toy-embedder.ts'
import { NODE_TAGS, prepare } from './io/life.ts'
import { differences } from './io/rebuilt.ts'

const DAY = 86_400_000
const YEAR = 365 * DAY
/** From the moment before. */
const JUMPS: readonly (readonly [string, number])[] = [
  ['a day later', DAY],
  ['a year earlier', -YEAR],
  ['a minute later', 60_000],
  ['ten years later', 10 * YEAR],
  ['a minute earlier', -60_000],
  ['nine years earlier', -9 * YEAR],
]

/** What lens, memory and cursor say at the time of the clock; throws where something is no number. */
async function look(engine: Engine, now: number, at: string): Promise<void> {
  const page = await engine.query({ text: 'quick fox', any: true, limit: 5, explain: true })
  expect(page.items, at).toHaveLength(5)
  for (const { score, id } of page.items) {
    expect(Number.isFinite(score), `${at}: score of ${id}`).toBe(true)
    expect((await engine.get({ id })).access?.count, `${at}: ${id}`).toBeGreaterThan(0)
  }
  await callOperation(engine, 'chroma.decay', 'owner', {})
  await callOperation(engine, 'chroma.lifecycle', 'owner', {})
  const asked = { hashtags: NODE_TAGS, k: 12, include_rotten: true }
  const { results } = (await callOperation(engine, 'chroma.query', 'owner', asked)) as { results: Memory[] }
  expect(results, at).toHaveLength(12)
  for (const memory of results) {
    expect(memory.score, at).toBeGreaterThanOrEqual(0)
    expect(memory.strength_raw, at).toBeGreaterThanOrEqual(0)
    expect(memory.decay_health >= 0 && memory.decay_health <= 1, at).toBe(true)
  }
  const believed = { semantic: '', filters: { holder_ids: ['owner'] } }
  const { total_count } = await callOperation(engine, 'beliefs.query', 'owner', believed)
  // What is believed from some day on is not believed before it.
  expect(total_count, at).toBe(now < TEST_NOW ? 0 : 2)
}

interface Memory {
  readonly score: number
  readonly strength_raw: number
  readonly decay_health: number
}

it.each([false, true])(
  'a clock that is set changes no answer into nonsense (opened again each time: %s)',
  async again => {
    const folder = tempFolder()
    onTestFinished(() => folder[Symbol.dispose]())
    const home = folder.file('home')
    await prepare(home, folder.file('files'))
    const clock = new SettableClock(TEST_NOW)
    const random = countingBytes()
    const open = () => openEngine({ home, clock, random, embedder: openToyEmbedder(), background: false })
    let engine = await open()
    onTestFinished(() => engine.close())
    for (const [at, jump] of JUMPS) {
      const { cursor } = await engine.query({ text: 'quick fox', any: true, limit: 5, touch: false })
      clock.set(clock.now() + jump)
      if (again) {
        await engine.close()
        engine = await open()
      }
      await engine.put({ entries: [{ id: 'jumped', content: `a quick fox, ${at}` }], wait: true })
      // Goes on, or says that it cannot; whichever, the question can be asked again.
      const more = engine.query({ text: 'quick fox', any: true, limit: 5, touch: false, cursor: cursor ?? '' })
      const outcome = await more.then(
        page => page.items.length,
        (error: unknown) => (error instanceof QuerentError ? error.code : String(error)),
      )
      expect([5, 'cursor_expired'], at).toContain(outcome)
      await look(engine, clock.now(), at)
      expect((await engine.get({ id: 'jumped' })).content).toBe(`a quick fox, ${at}`)
      expect(await differences(engine, join(home, 'store.db'), clock.now()), at).toEqual([])
    }
    expect((await engine.doctor()).findings.filter(({ ok }) => !ok)).toEqual([])
  },
)

it('a request that was taken is not taken again, wherever the clock of the machine goes', async () => {
  const uniform = seededUniform(5)
  const random = (bytes: number) => Uint8Array.from({ length: bytes }, () => Math.floor(uniform() * 256))
  const clock = new SettableClock(TEST_NOW)
  const store = openMemoryStore()
  const node = signedRequests(store, nodeIdentity({ store, random, clock, machineTime: () => 0 }))
  const ann = keysOf(random(32))
  const facts = { method: 'POST', path: '/v1/ops/put', body: '{}' }
  const made = (timestamp: number) => {
    const headers = signRequest(ann, facts, { audience: node.did(), timestamp, nonce: newNonce(random) })
    const named = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
    return async () => (await node.viewerOf(facts, name => named.get(name.toLowerCase()) ?? null))?.id
  }
  const take = made(TEST_NOW)
  expect(await take()).toBe(ann.did)
  for (const jump of [10 * YEAR, -YEAR, -9 * YEAR, 60_000]) {
    clock.set(clock.now() + jump)
    await expect(take(), `${jump}`).rejects.toMatchObject({ code: 'unauthenticated' })
    if (Math.abs(jump) === 10 * YEAR) expect(await made(clock.now())()).toBe(ann.did)
  }
  // Once the time is over in which the numbers were used that are forgotten, all is as ever.
  clock.set(TEST_NOW + 1_800_000)
  expect(await made(clock.now())()).toBe(ann.did)
})

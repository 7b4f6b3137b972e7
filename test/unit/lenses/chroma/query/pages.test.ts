/** Pages of the lens in other processes, which hold nothing of it: all that was shown so far has risen by having been used. */

import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import type { Engine } from '../../../../../src/engine/engine.ts'
import { LOCAL_OWNER } from '../../../../../src/model/viewer.ts'
import { openChroma } from '../../../../../src/openings/chroma.ts'
import { openSqliteStore } from '../../../../../src/store/sqlite-store.ts'
import { FAR, NEAR, openWorld, TAGS } from '../../../../support/open-chroma-world.ts'
import { partNow, toldBy, wholeAnswer } from '../../../../support/paged-history.ts'
import { PATIENCE_MS } from '../../../../support/patience.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'

const folder = tempFolder()
afterAll(() => folder[Symbol.dispose]())
let stores = 0

const ask = { lens: 'chroma', text: TAGS.join(' ') }

/** Nodes, and an engine of another process on their store each time. */
async function sharedWorld(nodes: number, of: (at: number) => readonly string[] = () => TAGS) {
  const file = folder.file(`${++stores}.db`)
  const world = await openWorld({ store: openSqliteStore({ file }) })
  for (let at = 0; at < nodes; at++) await world.node({ hashtags: of(at) })
  world.now += 86_400
  const page = async (limit: number, cursor: string | null = null) => {
    const store = openSqliteStore({ file })
    const chroma = await openChroma({ store, background: false, now: () => world.now })
    try {
      return await chroma.engine.query({ ...ask, limit, ...(cursor !== null && { cursor }) })
    } finally {
      await chroma.close()
      world.now += 60
    }
  }
  return { world, page, [Symbol.asyncDispose]: () => world.chroma.close() }
}

it.each([1, 2, 50])('go on to the end where nothing else was used, %i at a time', async limit => {
  await using shared = await sharedWorld(limit === 50 ? 330 : 7, at => (at % 3 === 0 ? NEAR : TAGS))
  const { items } = await shared.world.chroma.engine.query({ ...ask, limit: 1000, touch: false })
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const answer = await shared.page(limit, cursor)
    ids.push(...answer.items.map(({ id }) => id))
    cursor = answer.cursor
  } while (cursor !== null)
  expect(ids).toEqual(items.map(({ id }) => id))
})

// Of 250 shown not all are known any more; how many they were is.
it.each([
  [2, 6],
  [250, 254],
])(
  'are expired where something never shown rose by use to before where the first one ended: %i, %i',
  async (one, other) => {
    await using shared = await sharedWorld(other)
    const { cursor } = await shared.page(one)
    await shared.page(other)
    await expect(shared.page(one, cursor)).rejects.toMatchObject({ code: 'cursor_expired' })
  },
)

it('go on where only what was shown was used', async () => {
  await using shared = await sharedWorld(6)
  const first = await shared.page(2)
  await shared.page(2)
  const second = await shared.page(4, first.cursor)
  expect(new Set([...first.items, ...second.items].map(({ id }) => id)).size).toBe(6)
})

const RUNS = process.env['QUERENT_LONG'] === '1' ? 1000 : 40
const SETS = [TAGS, NEAR, FAR]

const nodeDraws = fc.record({ hashtags: fc.constantFrom(...SETS), label: fc.constantFrom('a', 'b', 'c') })
const writes = fc.oneof(
  fc.record({ do: fc.constant('store' as const), node: nodeDraws }),
  fc.record({ do: fc.constant('update' as const), at: fc.nat(), node: nodeDraws }),
  fc.record({ do: fc.constant('delete' as const), at: fc.nat() }),
  // Use by a question of the lens's own moves its memory.
  fc.record({ do: fc.constant('use' as const), of: fc.constantFrom(...SETS) }),
  fc.record({ do: fc.constant('wait' as const), days: fc.integer({ min: 0, max: 1 }) }),
)
const turns = fc.array(
  fc.record({ limit: fc.integer({ min: 1, max: 8 }), writes: fc.array(writes, { maxLength: 4 }) }),
  {
    minLength: 2,
    maxLength: 8,
  },
)
const stories = fc.record({
  nodes: fc.array(nodeDraws, { minLength: 5, maxLength: 40 }),
  asked: fc.constantFrom(...SETS),
  touch: fc.boolean(),
  turns,
})

it(`pages and chunks are the answer of their beginning, less what has gone (${RUNS} histories; 1,000 with QUERENT_LONG=1)`, {
  timeout: PATIENCE_MS,
}, async () => {
  await fc.assert(
    fc.asyncProperty(stories, fc.boolean(), async (story, isStream) => {
      await using world = await openWorld()
      const { chroma } = world
      const { engine } = chroma
      const { store } = engine.host('chroma')
      const ids: string[] = []
      for (const node of story.nodes) ids.push(await world.node(node))
      const input = { lens: 'chroma', text: story.asked.join(' '), touch: story.touch }
      const whole = await wholeAnswer(engine, store, input, LOCAL_OWNER)
      const perform = async (turn: number) => {
        for (const write of story.turns[turn]?.writes ?? []) {
          const id = 'at' in write ? (ids[write.at % ids.length] as string) : ''
          if (write.do === 'store') ids.push(await world.node(write.node))
          else if (write.do === 'update') await chroma.updateNode(id, { label: `${write.node.label}!` })
          else if (write.do === 'delete') await chroma.deleteNode(id)
          else if (write.do === 'use') await chroma.query(write.of, { k: 3 })
          else world.now += write.days * 3600
        }
      }
      let from = 0
      const check = (items: Awaited<ReturnType<Engine['query']>>['items'], limit: number, isEnd: boolean) => {
        const { told, to, isLast } = partNow(whole, from, limit, store, LOCAL_OWNER)
        expect(toldBy(items, store, LOCAL_OWNER)).toEqual(told)
        if (isLast !== null) expect(isEnd).toBe(isLast)
        from = to
      }
      if (isStream) {
        let turn = 0
        for await (const chunk of engine.stream({ ...input, limit: 1000, chunk_size: 6 })) {
          check(chunk.items, 6, chunk.done)
          await perform(++turn)
        }
        expect(from).toBe(whole.length)
        return
      }
      let cursor: string | null = null
      for (const [turn, { limit }] of story.turns.entries()) {
        if (turn > 0) await perform(turn)
        const page = await engine.query({ ...input, limit, ...(cursor !== null && { cursor }) })
        check(page.items, limit, page.cursor === null)
        cursor = page.cursor
        if (cursor === null) break
      }
    }),
    { numRuns: RUNS },
  )
})

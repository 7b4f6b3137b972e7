/** Pages of the lens in other processes, which hold nothing of it: all that was shown so far has risen by having been used. */

import { afterAll, expect, it } from 'vitest'
import { openChroma } from '../../../../../src/openings/chroma.ts'
import { openSqliteStore } from '../../../../../src/store/sqlite-store.ts'
import { NEAR, openWorld, TAGS } from '../../../../support/open-chroma-world.ts'
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

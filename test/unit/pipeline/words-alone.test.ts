import { expect, it } from 'vitest'
import { audience } from '../../../src/model/partition.ts'
import type { QueryContext } from '../../../src/pipeline/context.ts'
import { openWorld } from './world.ts'

/** Looking at the vector index may load tens of megabytes. */
function withoutVectors(context: QueryContext): QueryContext {
  return Object.defineProperty({ ...context }, 'vectors', {
    get: () => {
      throw new Error('looked at the vector index')
    },
  })
}

it('a question by words does not look at the vector index, and tells all the same how much is embedded', async () => {
  const world = openWorld()
  for (const id of ['a', 'b']) world.put({ id, content: `fox ${id}`, audience: audience('public') })
  await world.embedAll()
  world.put({ id: 'c', content: 'fox c', audience: audience('public') })
  world.put({ id: 'd', content: 'fox d', audience: audience('private', 'ann') })
  const options = { twist: withoutVectors, viewer: { id: 'bob' } }
  const { page } = await world.ask({ text: 'fox', mode: 'words' }, options)
  expect(page.items).toHaveLength(3)
  expect(page.coverage.embedded).toBeCloseTo(2 / 3)
  expect((await world.ask({ text: '', filter: { kinds: ['note'] } }, options)).page.items).toHaveLength(3)
  await expect(world.ask({ text: 'fox' }, options)).rejects.toThrow('looked at the vector index')
})

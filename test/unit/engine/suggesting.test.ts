/** Names to complete with: which, in which order, and nothing of what the viewer may not see. */
import { expect, it } from 'vitest'
import type { SuggestInput } from '../../../src/model/query-input.ts'
import { openTestEngine } from '../../support/engines.ts'

async function world() {
  const engine = await openTestEngine()
  const put = (id: string, tags: string[], viewer: string, visibility: 'public' | 'private') =>
    engine.put({ entries: [{ id, content: id, tags, collection: 'notes', visibility }] }, { viewer: { id: viewer } })
  await put('a', ['Rust', 'memory'], 'owner', 'public')
  await put('b', ['rust-lang', 'memory'], 'owner', 'public')
  await put('c', ['ruled-out'], 'ben', 'private')
  return {
    engine,
    suggested: async (input: SuggestInput, viewer = 'owner') => {
      const { suggestions } = await engine.suggest(input, { viewer: { id: viewer } })
      return suggestions.map(({ field, value, count }) => `${field} ${value} ${count}`)
    },
  }
}

it('names what begins so in either case, the commonest first, field by field', async () => {
  const { engine, suggested } = await world()
  expect(await suggested({ prefix: 'RU', fields: ['tag'] })).toEqual([
    'tag Rust 1',
    'tag ruled-out 1',
    'tag rust-lang 1',
  ])
  expect(await suggested({ fields: ['tag', 'collection'], limit: 1 })).toEqual(['collection notes 3', 'tag memory 2'])
  await engine.close()
})

it('tells a viewer of what it sees alone, and of holders nobody but the owner', async () => {
  const { engine, suggested } = await world()
  expect(await suggested({ prefix: 'ru', fields: ['tag'] }, 'ana')).toEqual(['tag Rust 1', 'tag rust-lang 1'])
  expect(await suggested({ fields: ['collection', 'holder'] }, 'ana')).toEqual(['collection notes 2'])
  expect(await suggested({ fields: ['holder'] })).toEqual(['holder ben 1'])
  await engine.close()
})

it('refuses what it does not know', async () => {
  const { engine, suggested } = await world()
  await expect(suggested({ fields: [] })).rejects.toMatchObject({
    code: 'invalid_argument',
    details: { field: 'fields' },
  })
  await expect(suggested({ limit: 0 })).rejects.toMatchObject({ code: 'invalid_argument', details: { field: 'limit' } })
  await engine.close()
})

/** BQ-190 beyond the lens beliefs: a store that is asked another way is not asked for less. */
import { describe, expect, it } from 'vitest'
import { C64_OPERATIONS } from '../../../src/lenses/c64/operations.ts'
import { CHROMA_OPERATIONS } from '../../../src/lenses/chroma/operations.ts'
import { COLLECTIONS_OPERATIONS } from '../../../src/lenses/collections/operations.ts'
import { makeCatalog } from '../../../src/ops/catalog.ts'
import { noEngine } from '../../support/operations.ts'

const all = [
  ...makeCatalog(noEngine).values(),
  ...C64_OPERATIONS,
  ...CHROMA_OPERATIONS,
  ...COLLECTIONS_OPERATIONS,
] as readonly {
  readonly name: string
  cost?(input: unknown): number
}[]

function cost(name: string, input: object): number {
  const operation = all.find(each => each.name === name)
  if (operation === undefined) throw new Error(`there is no operation ${name}`)
  return operation.cost?.(input) ?? 1
}

describe.each(['query', 'watch'])('%s costs 1, and', name => {
  it.each<[string, object, number]>([
    ['nothing more by itself', {}, 1],
    ['nothing more for what is no more work', { memory: true, diversity: 1, explain: false, limit: 100 }, 1],
    ['1 more for explanations', { explain: true }, 2],
    ['1 more for spread', { diversity: 0 }, 2],
    ['1 more for several passages', { passages: 2 }, 2],
    ['nothing more for one passage', { passages: 1 }, 1],
    ['1 more for 101 results', { limit: 101 }, 2],
    ['1 more for 200 results', { limit: 200 }, 2],
    ['1 more for exact vectors', { approximate: false }, 2],
    ['9 more for 1,000 results', { limit: 1000 }, 10],
    ['1 more for reasons of each 100 results', { limit: 1000, explain: true }, 20],
    ['30 more for all of it', { lens: 'beliefs', limit: 1000, explain: true, diversity: 0.5, approximate: false }, 31],
  ])('%s', (_, asked, units) => {
    expect(cost(name, { text: 'fox', ...asked })).toBe(units)
  })
})

describe('other questions cost', () => {
  it.each<[string, object, number]>([
    ['query', { text: 'fox', trace: true }, 2],
    ['query', { text: 'fox', trace: true, explain: true }, 2],
    ['explain', { id: 'a', query: { text: 'fox' } }, 2],
    ['explain', { id: 'a', query: { text: 'fox', explain: true, limit: 1000, diversity: 0 } }, 30],
    ['similar', { id: 'a' }, 1],
    ['similar', { id: 'a', limit: 1000 }, 10],
    ['c64.query', { query: 'fox' }, 1],
    ['c64.query', { query: 'fox', limit: 201 }, 3],
    ['collections.query', { query: 'fox' }, 1],
    ['collections.query', { query: 'fox', n_results: 201 }, 3],
    ['collections.query', { query: 'fox', n_results: 1e15 }, 100],
    ['chroma.query', { input: 'fox', k: 201 }, 3],
    ['chroma.query_knn', { hashtags: [], k: 201 }, 3],
    ['chroma.batch_query', { queries: [{ input: 'fox' }, { input: 'crow', k: 201 }, { input: 'oak' }] }, 5],
  ])('by what is asked for: %s %j', (name, asked, units) => {
    expect(cost(name, asked)).toBe(units)
  })

  it('1 where what is asked for is no number, or no list', () => {
    for (const k of [null, '500', -5, 0.5, Number.NaN, {}]) expect(cost('chroma.query', { input: 'fox', k })).toBe(1)
    for (const queries of [null, 7, {}, []]) expect(cost('chroma.batch_query', { queries })).toBe(1)
    expect(cost('chroma.batch_query', { queries: [null, 7, 'fox'] })).toBe(3)
  })
})

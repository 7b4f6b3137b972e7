import { describe, expect, it } from 'vitest'
import { Profiles } from '../../../../../src/lenses/chroma/profiles/registry.ts'
import { NEW_YEAR, QUERY, row, viewOf, type World, words } from './view.ts'

const WORLD: World = {
  core: ['python'],
  mid: ['async', 'retry', ...words('m', 6)],
  outer: ['o'],
  nodes: [['python', 'async', 'retry', 'o', ...words('m', 6)]],
}
const profiles = new Profiles()

describe('code_search (CQ-148)', () => {
  it('makes filters of its fields and asks for the rest', async () => {
    const text = 'lang:python kind:function path:"src/a b" symbol:retryAsync top 4 retry async since 2025'
    const { params, completed } = await profiles.parse('code_search', text, viewOf(WORLD))
    expect(params).toMatchObject({
      k: 4,
      temporalRange: [1_735_689_600, NEW_YEAR],
      metadataFilters: { language: 'python', kind: 'function', path: { $contains: 'src/a b' }, symbol: 'retryAsync' },
    })
    expect(params.hashtags.slice(0, 2)).toEqual(['#retry', '#async'])
    expect(completed).toEqual(params.hashtags.slice(2))
    expect((await profiles.parse('code_search', 'retry', viewOf(WORLD))).params.metadataFilters).toBeUndefined()
  })

  it('scores by the words of the label that were asked for', async () => {
    const query = { ...QUERY, hashtags: ['#retry', '#async', '#m0'], completed_hashtags: ['#m0'] }
    const custom = profiles.customScoring('code_search', query)
    const scores = ['retryAsync(times)', 'class AsyncHTTPClient', 'm0'].map((label, at) =>
      custom?.score(at, row({ label })),
    )
    expect(await Promise.all(scores)).toEqual([1, 0.5, 0])
  })

  it('shows three entries of a file at most', async () => {
    const rows = ['a', 'a', 'a', 'a', 'b', null].map((path, at) =>
      row({ entry_id: `e${at}`, metadata: path ? { path } : null }),
    )
    const context = { query: QUERY, state: undefined, now: NEW_YEAR }
    const answer = await profiles.postProcess('code_search', rows, context)
    expect(answer.rows.map(one => one.entry_id)).toEqual(['e0', 'e1', 'e2', 'e4', 'e5'])
  })
})

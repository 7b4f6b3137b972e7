import { describe, expect, it } from 'vitest'
import type { SearchHit } from '../../../../src/lenses/c64/enrichment/hits.ts'
import { runSearch, type Search } from '../../../../src/lenses/c64/server.ts'
import { DEFAULTS, type SearchSettings } from '../../../../src/lenses/c64/settings.ts'

const hit = (id: number, score = 1): SearchHit => ({ id, score, payload: {} })
const hits = (from: number, to: number, score = 1) =>
  Array.from({ length: to - from + 1 }, (_, at) => hit(from + at, score))

/** Answers from two lists, and keeps what it was asked. */
function asked(tagged: readonly SearchHit[], all: readonly SearchHit[]) {
  const calls: string[] = []
  const find: Search = async (tags, limit) => {
    calls.push(`${tags.join('+') || 'all'} ${limit}`)
    return (tags.length > 0 ? tagged : all).slice(0, limit)
  }
  return { calls, find }
}

async function search(
  strategy: 'hybrid' | 'filtered' | 'semantic',
  tagged: readonly SearchHit[],
  all: readonly SearchHit[],
  settings: Partial<SearchSettings> = {},
) {
  const { calls, find } = asked(tagged, all)
  const filterTags = strategy === 'semantic' ? [] : ['$C123']
  const found = await runSearch({ strategy, filterTags }, find, { ...DEFAULTS, ...settings })
  return { calls, ids: found.hits.map(({ id }) => id), mode: found.mode }
}

describe('a strategy', () => {
  it('filtered looks among tagged records, semantic among all, hybrid does both (EN-053)', async () => {
    expect((await search('filtered', hits(1, 2), hits(3, 4))).calls).toEqual(['$C123 20'])
    expect((await search('semantic', hits(1, 2), hits(3, 4))).calls).toEqual(['all 20'])
    expect((await search('hybrid', hits(1, 2), hits(3, 4))).calls.sort()).toEqual(['$C123 20', 'all 20'])
  })

  it('hybrid asks both at once (EN-053)', async () => {
    let running = 0
    let most = 0
    const find: Search = async () => {
      most = Math.max(most, ++running)
      await new Promise(resolve => setImmediate(resolve))
      running--
      return []
    }
    await runSearch({ strategy: 'hybrid', filterTags: ['$D020'] }, find, DEFAULTS)
    expect(most).toBe(2)
  })

  it('filtered without a hit falls back, and says so (EN-054)', async () => {
    const { ids, mode, calls } = await search('filtered', [], hits(3, 4))
    expect(mode).toBe('filtered ($C123), no match, semantic')
    expect([ids, calls]).toEqual([
      [3, 4],
      ['$C123 20', 'all 20'],
    ])
  })

  it('hybrid keeps room for what has no tag, tagged records first (EN-055, EN-056)', async () => {
    const { ids, mode } = await search('hybrid', hits(1, 20), hits(21, 35), { limit: 20 })
    expect(ids).toEqual([...hits(1, 14), ...hits(21, 26)].map(({ id }) => id))
    expect(mode).toBe('hybrid (filtered on $C123 + semantic)')
  })

  it('fuses by rank instead when it is set so (EN-057)', async () => {
    expect((await search('hybrid', [hit(1), hit(2)], [hit(3), hit(2)], { fusion: 'rrf' })).ids).toEqual([2, 1, 3])
  })

  it('fetches the larger of fetchLimit and limit, and cuts at the limit (EN-059)', async () => {
    expect((await search('semantic', [], hits(1, 60), { limit: 50 })).calls).toEqual(['all 50'])
    const few = await search('semantic', [], hits(1, 60), { limit: 3, fetchLimit: 40 })
    expect([few.calls, few.ids]).toEqual([['all 40'], [1, 2, 3]])
  })

  it('leaves out what scores far less than the best (EN-058)', async () => {
    const list = [hit(1, 0.5), hit(2, 0.9), hit(3, 0.53), hit(4, 0.55)]
    expect((await search('semantic', [], list)).ids).toEqual([2, 4])
  })
})

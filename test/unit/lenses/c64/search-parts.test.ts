import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../../src/base/turns.ts'
import { enrich, hasNaturalLanguage } from '../../../../src/lenses/c64/enrichment/enrich.ts'
import {
  formatHits,
  fuseByRank,
  mergeHybrid,
  mergeResults,
  orderByTags,
  type SearchHit,
  trimByScore,
} from '../../../../src/lenses/c64/enrichment/hits.ts'
import { c64Domain } from '../../../../src/lenses/c64/plugins.ts'
import { runSearch, type Search } from '../../../../src/lenses/c64/server.ts'
import { DEFAULTS, type SearchSettings } from '../../../../src/lenses/c64/settings.ts'

const domain = c64Domain()
const hit = (id: string | number, score = 0, payload: SearchHit['payload'] = {}): SearchHit => ({ id, score, payload })
const hits = (...ids: (string | number)[]) => ids.map(id => hit(id))
const numbered = (from: number, count: number) => Array.from({ length: count }, (_, index) => hit(from + index))
/** With these ids, inclusive, and one score. */
const ranged = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => hit(from + at, 1))
const idsOf = (list: readonly SearchHit[]) => list.map(({ id }) => id)

describe('natural language', () => {
  it.each([
    ['$D040', false],
    ['poke 646,1', false],
    ['how to use CHROUT to print', true],
    ['What does POKE 53280, 14 do?', true],
    ['EXTCOL BGCOL0', false],
    ['light blue text', false],
    ['gray 2 background', false],
    ['dark_grey gray-1 x y', false],
    ['6502 assembly tutorial', true],
    ['ICR timer interrupt', true],
    ['m0x bsout', false],
    ['¿Qué hace $D020?', true],
    ['', false],
  ])('is in %j: %s (EN-051)', (query, expected) => {
    expect(atOnce(hasNaturalLanguage(query, enrich(query, domain).filterTags, domain))).toBe(expected)
  })

  it.each([
    ['CHROUT', 'filtered'],
    ['how to use CHROUT to print', 'hybrid'],
    ['6502 assembly tutorial', 'semantic'],
    ['raster interrupt', 'semantic'],
    ['$9A', 'semantic'],
  ])('and tags decide how %s is searched: %s (EN-052)', (query, strategy) => {
    expect(enrich(query, domain).strategy).toBe(strategy)
  })
})

describe('merging', () => {
  it('keeps primaries first and each id once, however it is written (EN-055)', () => {
    expect(idsOf(mergeResults(hits(1, 2), hits(2, 3), 5))).toEqual([1, 2, 3])
    expect(idsOf(mergeResults(hits(1, '2'), hits('1', 2, '3'), 5))).toEqual([1, '2', '3'])
    expect(idsOf(mergeResults(hits(1, 2), hits(3), 2))).toEqual([1, 2])
  })

  it('leaves three tenths to hits without a tag, as far as there are such (EN-056)', () => {
    const kept = (filtered: number, fresh: number, limit = 20) => {
      const merged = idsOf(mergeHybrid(numbered(0, filtered), numbered(1000, fresh), limit)).map(Number)
      return [merged.filter(id => id < 1000).length, merged.filter(id => id >= 1000).length]
    }
    expect(kept(20, 15)).toEqual([14, 6])
    expect(kept(20, 2)).toEqual([18, 2])
    expect(kept(20, 0)).toEqual([20, 0])
    expect(kept(5, 30)).toEqual([5, 15])
    expect(kept(15, 6)).toEqual([14, 6])
    expect(kept(7, 7, 7)).toEqual([4, 3])
    // Found by both searches: no new hit.
    expect(idsOf(mergeHybrid(hits(1, 2, 3, 4), hits(4, 3, 9), 4))).toEqual([1, 2, 3, 9])
    // Left-over filtered hits come last.
    expect(idsOf(mergeHybrid(hits(1, 2, 3), hits(8, 9), 5))).toEqual([1, 2, 3, 8, 9])
    expect(idsOf(mergeHybrid(numbered(1, 10), hits('x'), 12))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 'x'])
  })

  it('loses and doubles nothing that fits (EN-055, EN-056)', () => {
    const lists = fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 25 }).map(ids => hits(...ids))
    fc.assert(
      fc.property(lists, lists, fc.integer({ min: 1, max: 40 }), (filtered, unfiltered, limit) => {
        for (const merge of [mergeResults, mergeHybrid, fuseByRank]) {
          const merged = idsOf(merge(filtered, unfiltered, limit))
          const union = new Set([...idsOf(filtered), ...idsOf(unfiltered)])
          expect(new Set(merged).size).toBe(merged.length)
          expect(merged.length).toBe(Math.min(limit, union.size))
          expect(merged.every(id => union.has(id))).toBe(true)
        }
      }),
    )
  })

  it('puts more matching tags first, within bounds, and shows scores as they are (EN-057)', () => {
    const one = hit('one', 0.5, { tags: ['A'] })
    const two = hit('two', 0.49, { tags: ['A', 'B'] })
    const six = hit('six', 0.445, { tags: ['A', 'B', 'C', 'D', 'E', 'F'] })
    const none = hit('none', 0.5)
    expect(orderByTags([one, six, two], ['A', 'B', 'C', 'D', 'E', 'F'])).toEqual([two, six, one])
    expect(idsOf(orderByTags([none, one, hit('far', 0.43, six.payload)], ['A', 'B', 'C', 'D', 'E']))).toEqual([
      'none',
      'one',
      'far',
    ])
  })

  it('trims below a share of the best score, wherever the best is (EN-058)', () => {
    const list = [0.5, 0.9, 0.53, 0.55].map((score, id) => hit(id, score))
    expect(trimByScore(list, 0.6, 10).map(({ score }) => score)).toEqual([0.9, 0.55])
    expect(trimByScore(list, 0.6, 1).map(({ score }) => score)).toEqual([0.9])
    expect(trimByScore([hit(1, 0), hit(2, -1)], 0.6, 1)).toEqual([hit(1, 0)])
    expect(trimByScore([hit(1, -0.1), hit(2, -1)], 0.6, 5)).toHaveLength(2)
    expect(trimByScore([], 0.6, 5)).toEqual([])
  })
})

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
    expect((await search('filtered', ranged(1, 2), ranged(3, 4))).calls).toEqual(['$C123 20'])
    expect((await search('semantic', ranged(1, 2), ranged(3, 4))).calls).toEqual(['all 20'])
    expect((await search('hybrid', ranged(1, 2), ranged(3, 4))).calls.sort()).toEqual(['$C123 20', 'all 20'])
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

  it('hybrid keeps room for what has no tag, tagged records first (EN-055, EN-056)', async () => {
    const { ids, mode } = await search('hybrid', ranged(1, 20), ranged(21, 35), { limit: 20 })
    expect(ids).toEqual([...ranged(1, 14), ...ranged(21, 26)].map(({ id }) => id))
    expect(mode).toBe('hybrid (filtered on $C123 + semantic)')
  })

  it('fuses by rank instead when it is set so (EN-057)', async () => {
    expect((await search('hybrid', [hit(1, 1), hit(2, 1)], [hit(3, 1), hit(2, 1)], { fusion: 'rrf' })).ids).toEqual([
      2, 1, 3,
    ])
  })

  it('fetches the larger of fetchLimit and limit, and cuts at the limit (EN-059)', async () => {
    expect((await search('semantic', [], ranged(1, 60), { limit: 50 })).calls).toEqual(['all 50'])
    const few = await search('semantic', [], ranged(1, 60), { limit: 3, fetchLimit: 40 })
    expect([few.calls, few.ids]).toEqual([['all 40'], [1, 2, 3]])
  })
})

describe('hits as Markdown', () => {
  it('are laid out with mode, titles, scores, documents and related chunks (EN-063, EN-070)', () => {
    const first = hit(1, 0.8123, {
      title: 'EXTCOL',
      type: 'documentation',
      filename: 'extcol.md',
      document: 'The border.\n',
      references: [
        { chunk: 'bgcol', description: 'the background' },
        { chunk: 'palette', description: '' },
      ],
      year: 1982,
    })
    expect(
      formatHits([first, hit(2, 0.5, { filename: 'a.md' }), hit('3', 0.25)], 'semantic'),
    ).toBe(`_Search mode: semantic_

### Result 1: EXTCOL
_score=0.812 | type=documentation | file=extcol.md_

The border.

**Related chunks:**
- bgcol: the background
- palette

---

### Result 2: a.md
_score=0.500 | file=a.md_

---

### Result 3: untitled
_score=0.250_`)
  })

  it('keep a title on its line (EN-070)', () => {
    expect(formatHits([hit(1, 1, { title: 'a\n# b' })], 'semantic')).toContain('### Result 1: a # b\n')
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UnknownHashtagError, ValidationError } from '../../../../../src/lenses/chroma/errors.ts'
import { completed } from '../../../../../src/lenses/chroma/profiles/complete.ts'
import { findCount } from '../../../../../src/lenses/chroma/profiles/count-words.ts'
import { readQuestion } from '../../../../../src/lenses/chroma/profiles/default-profile.ts'
import { Profiles } from '../../../../../src/lenses/chroma/profiles/registry.ts'
import { NEW_YEAR, viewOf, type World, words } from './view.ts'

const FULL: World = { core: ['python'], mid: ['async', ...words('m', 8)], outer: ['typing', 'o1'] }
const EIGHT = ['python', 'async', 'm0', 'm1', 'm2', 'm3', 'm4', 'typing']
const profiles = new Profiles()

describe('the default profile', () => {
  it('takes the time, then the count, then the tags that are left (CQ-084)', async () => {
    const text = `Recent #Python async: top 3 of m0 m1 m2 m3 m4, typing!`
    const { params, completed: added } = await profiles.parse('default', text, viewOf(FULL))
    expect(params).toEqual({
      hashtags: ['#python', '#async', '#m0', '#m1', '#m2', '#m3', '#m4', '#typing'],
      k: 3,
      temporalRange: [NEW_YEAR - 7 * 86_400, NEW_YEAR],
    })
    expect(added).toEqual([])
  })

  it('leaves out what the text does not say, and matches no words of the time or the count (CQ-084)', async () => {
    const world = { ...FULL, mid: ['recent', 'results', ...(FULL.mid ?? [])] }
    const { params } = await profiles.parse('default', EIGHT.join(' '), viewOf(world))
    expect(Object.keys(params)).toEqual(['hashtags'])
    const timed = await profiles.parse('default', `recent ${EIGHT.join(' ')} 4 results`, viewOf(world))
    expect(timed.params.hashtags).not.toContain('#recent')
    expect(timed.params.hashtags).not.toContain('#results')
  })

  it('is an error without a known tag, and with too few when completion is off (CQ-089)', async () => {
    const broken = (text: string, completeHashtags = true) =>
      profiles.parse('default', text, viewOf(FULL, { completeHashtags })).catch((error: unknown) => error)
    const none = await broken('about nothing known')
    expect(none).toBeInstanceOf(ValidationError)
    expect(none).not.toBeInstanceOf(UnknownHashtagError)
    expect(none).toMatchObject({ code: 'invalid_hashtags', details: { violations: ['core', 'outer', 'total'] } })
    expect(await broken('python async', false)).toMatchObject({
      code: 'invalid_hashtags',
      details: { hashtags: ['#python', '#async'], violations: ['outer', 'total', 'mid'], counts: { core: 1, mid: 1 } },
    })
  })

  it('tells which tags completion added (CQ-010, CQ-090)', async () => {
    const view = viewOf({ ...FULL, nodes: [EIGHT] })
    const { params, completed: added } = await profiles.parse('default', 'python async', view)
    expect(params.hashtags).toEqual(['#python', '#async', '#typing', '#m0', '#m1', '#m2', '#m3', '#m4'])
    expect(added).toEqual(['#typing', '#m0', '#m1', '#m2', '#m3', '#m4'])
  })
})

describe('a count', () => {
  it.each([
    ['top 10 python snippets', 10],
    ['first 7', 7],
    ['LIMIT 3', 3],
    ['20 documents', 20],
    ['1 match', 1],
    ['1 entry', 1],
    ['5 docs and top 2', 5],
    ['top 2 of 5 docs', 2],
    ['top 5000', 1_000],
    [`top ${'9'.repeat(400)}`, 1_000],
    ['0 results', null],
    ['top 0 of 5 docs', null],
    ['los 10 primeros', 10],
    ['las primeras 4 notas', 4],
    ['diez resultados', 10],
    ['top ten', 10],
    ['python 3.12, 2 entries', 2],
  ])('is the leftmost, at most 1000, 0 for none (CQ-088): %s', (text, k) => {
    expect(findCount(text)?.k).toBe(k)
  })

  it.each([
    ...['python 3.12', '404 errors', 'topology 3', 'zip two items', 'top 10.5', '#first 3x'],
    ...['python 3.12 entries', 'v3.13 docs', '3.11.4 results', '1,000 results', 'top 1,000'],
  ])('is not in %s (CQ-088)', text => {
    expect(findCount(text)).toBeNull()
  })

  it('leaves versions to the hashtags (CQ-084, CQ-088)', () => {
    const { hashtags, k } = readQuestion(
      'recent 3.12 entries',
      viewOf({ core: [], mid: ['3.12'], outer: [], nodes: [] }),
    )
    expect([hashtags, k]).toEqual([['#3.12'], null])
  })
})

describe('completion', () => {
  it('prefers tags that occur with more of the matched ones, then lower anchors (CQ-090)', () => {
    const world: World = {
      core: ['c0', 'c1'],
      mid: words('m', 12),
      outer: ['o0', 'o1'],
      nodes: [
        ['m0', 'm1', 'c1', 'o1', 'm9'],
        ['m0', 'c0', 'o0', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7'],
      ],
    }
    // c1, o1 and m9 score 2; the others 1, in the order of their anchors.
    expect(completed(['#m0', '#m1'], viewOf(world)).added).toEqual(['#c1', '#o1', '#m9', '#m2', '#m3', '#m4'])
  })

  it('adds Mid tags until 65 percent are Mid (CQ-035, CQ-090)', () => {
    const core = words('c', 5)
    const world: World = { core, mid: words('m', 20), outer: ['o'], nodes: [[...core, 'o', ...words('m', 20)]] }
    const { hashtags } = completed(
      [...core, 'o'].map(word => `#${word}`),
      viewOf(world),
    )
    expect(hashtags).toHaveLength(6 + 12)
  })

  it('fails when candidates run out, with the tags and what is missing (CQ-090)', () => {
    const world: World = { core: ['c'], mid: words('m', 5), outer: ['o'], nodes: [['c', 'o', ...words('m', 5)]] }
    expect(() => completed(['#c'], viewOf(world))).toThrow(
      expect.objectContaining({
        code: 'invalid_hashtags',
        details: expect.objectContaining({ violations: ['total'] }),
      }),
    )
  })

  it('does not look at other nodes when the tags do as they are (CQ-089)', () => {
    const view = viewOf(FULL, {
      nodesWith: () => {
        throw new Error('looked')
      },
    })
    const tags = EIGHT.map(word => `#${word}`)
    expect(completed(tags, view)).toEqual({ hashtags: tags, added: [] })
  })

  it('scores as a plain count over the nodes does (CQ-090)', () => {
    const mid = words('m', 12)
    const world = fc.record({
      nodes: fc.array(fc.subarray(['c0', 'c1', 'o0', 'o1', ...mid]), { maxLength: 12 }),
      matched: fc.subarray([...mid], { minLength: 1, maxLength: 3 }),
    })
    fc.assert(
      fc.property(world, ({ nodes, matched }) => {
        const all: World = { core: ['c0', 'c1'], mid, outer: ['o0', 'o1'], nodes }
        const score = (tag: string): number =>
          nodes
            .filter(node => node.includes(tag))
            .reduce((sum, node) => sum + matched.filter(one => node.includes(one)).length, 0)
        let added: readonly string[]
        try {
          added = completed(
            matched.map(word => `#${word}`),
            viewOf(all),
          ).added
        } catch {
          return
        }
        for (const zone of ['c', 'o', 'm']) {
          const scores = added.filter(tag => tag.startsWith(`#${zone}`)).map(tag => score(tag.slice(1)))
          expect(scores).toEqual([...scores].sort((a, b) => b - a))
          const others = [...mid, 'c0', 'c1', 'o0', 'o1'].filter(
            tag => tag.startsWith(zone) && !matched.includes(tag) && !added.includes(`#${tag}`),
          )
          if (scores.length > 0) expect(Math.max(0, ...others.map(score))).toBeLessThanOrEqual(scores.at(-1) as number)
        }
      }),
    )
  })
})

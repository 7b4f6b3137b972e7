import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../../../src/base/turns.ts'
import { filledWith, neighboursOf } from '../../../../../src/lenses/chroma/colour/coordinates.ts'
import { findCount, findTime, readQuestion } from '../../../../../src/lenses/chroma/profiles/default-profile.ts'
import { Profiles } from '../../../../../src/lenses/chroma/profiles/registry.ts'
import { NEW_YEAR, viewOf, type World, words } from './view.ts'

const FULL: World = { core: ['python'], mid: ['async', ...words('m', 8)], outer: ['typing', 'o1'] }
const EIGHT = ['python', 'async', 'm0', 'm1', 'm2', 'm3', 'm4', 'typing']
const profiles = new Profiles()

describe('the default profile', () => {
  it('takes the time, then the count, then the tags that are left (CQ-084)', async () => {
    const text = `Recent #Python async: top 3 of m0 m1 m2 m3 m4, typing!`
    const { params } = await profiles.parse('default', text, viewOf(FULL))
    expect(params).toEqual({
      hashtags: ['#python', '#async', '#m0', '#m1', '#m2', '#m3', '#m4', '#typing'],
      k: 3,
      temporalRange: [NEW_YEAR - 7 * 86_400, NEW_YEAR],
    })
  })

  it('leaves out what the text does not say, and matches no words of the time or the count (CQ-084)', async () => {
    const world = { ...FULL, mid: ['recent', 'results', ...(FULL.mid ?? [])] }
    const { params } = await profiles.parse('default', EIGHT.join(' '), viewOf(world))
    expect(Object.keys(params)).toEqual(['hashtags'])
    const timed = await profiles.parse('default', `recent ${EIGHT.join(' ')} 4 results`, viewOf(world))
    expect(timed.params.hashtags).not.toContain('#recent')
    expect(timed.params.hashtags).not.toContain('#results')
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

/** By nodes alone. */
function completed(tags: readonly string[], world: World) {
  const { resolve } = viewOf(world)
  const matched = tags.flatMap(tag => resolve(tag) ?? [])
  const nodes = (world.nodes ?? []).map(node => node.map(word => `#${word}`))
  const nodesWith = (hashtag: string) => nodes.filter(node => node.includes(hashtag)).map(node => [node])
  const neighbours = atOnce(neighboursOf(matched, nodesWith, resolve))
  const hashtags = filledWith(matched, neighbours).map(({ hashtag }) => hashtag)
  return { hashtags, added: hashtags.slice(matched.length) }
}

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
    expect(completed(['#m0', '#m1'], world).added).toEqual(['#c1', '#o1', '#m9', '#m2', '#m3', '#m4'])
  })

  it('adds Mid tags until 65 percent are Mid (CQ-035, CQ-090)', () => {
    const core = words('c', 5)
    const world: World = { core, mid: words('m', 20), outer: ['o'], nodes: [[...core, 'o', ...words('m', 20)]] }
    const { hashtags } = completed(
      [...core, 'o'].map(word => `#${word}`),
      world,
    )
    expect(hashtags).toHaveLength(6 + 12)
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
        const { added } = completed(
          matched.map(word => `#${word}`),
          all,
        )
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

/** Wednesday 2025-12-17T00:00:00Z */
const NOW = 1_765_929_600
const iso = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(0, 19)
const range = (text: string, now = NOW): readonly [number, number] | null => {
  const found = findTime(text, now)
  return found && [found.period.start, found.period.end]
}
const shown = (text: string, now = NOW): string | null => {
  const found = range(text, now)
  return found && `${iso(found[0])} ${iso(found[1])}`
}

describe('the exact time words', () => {
  it.each([
    { text: 'recent python entries', now: 1_767_225_600, wanted: [1_766_620_800, 1_767_225_600] }, // CQ-085
    { text: 'documents from last month', now: NOW, wanted: [1_761_955_200, 1_764_547_199] }, // CQ-086
    { text: 'notes from 2024', now: NOW, wanted: [1_704_067_200, 1_735_689_599] }, // CQ-087
  ])('have the values of CQ-085 to CQ-087: $text', ({ text, now, wanted }) => {
    expect(range(text, now)).toEqual(wanted)
  })

  it.each([
    ['RECENTLY', 7 * 86_400],
    ['last 3 hours', 3 * 3_600],
    ['past 2 days', 2 * 86_400],
    ['last 1 week', 7 * 86_400],
    ['past 2 months', 60 * 86_400],
    ['last 2 years', 730 * 86_400],
    ['past week', 7 * 86_400],
    ['past month', 30 * 86_400],
    ['past year', 365 * 86_400],
    ['last hour', 3_600],
    ['last day', 86_400],
    ['los últimos tres días', 3 * 86_400],
    ['las 2 últimas semanas', 14 * 86_400],
    ['entradas recientes', 7 * 86_400],
    ['la última hora', 3_600],
  ])('roll back from now (CQ-085): %s', (text, seconds) => {
    expect(range(text)).toEqual([NOW - seconds, NOW])
  })

  it.each([
    ['last week', '2025-12-08T00:00:00 2025-12-14T23:59:59'],
    ['last month', '2025-11-01T00:00:00 2025-11-30T23:59:59'],
    ['last year', '2024-01-01T00:00:00 2024-12-31T23:59:59'],
    ['this week', '2025-12-15T00:00:00 2025-12-17T00:00:00'],
    ['this month', '2025-12-01T00:00:00 2025-12-17T00:00:00'],
    ['This Year', '2025-01-01T00:00:00 2025-12-17T00:00:00'],
    ['today', '2025-12-17T00:00:00 2025-12-17T00:00:00'],
    ['yesterday', '2025-12-16T00:00:00 2025-12-16T23:59:59'],
    ['la semana pasada', '2025-12-08T00:00:00 2025-12-14T23:59:59'],
    ['el mes pasado', '2025-11-01T00:00:00 2025-11-30T23:59:59'],
    ['este año', '2025-01-01T00:00:00 2025-12-17T00:00:00'],
    ['ayer', '2025-12-16T00:00:00 2025-12-16T23:59:59'],
    ['antes de ayer', '2025-12-15T00:00:00 2025-12-15T23:59:59'],
  ])('follow the calendar of UTC (CQ-086): %s', (text, wanted) => {
    expect(shown(text)).toBe(wanted)
  })

  it.each([
    ['in 2024-02', '2024-02-01T00:00:00 2024-02-29T23:59:59'],
    ['during 2024-05-17', '2024-05-17T00:00:00 2024-05-17T23:59:59'],
    ['since 2025-06-01', '2025-06-01T00:00:00 2025-12-17T00:00:00'],
    ['after 2024', '2025-01-01T00:00:00 2025-12-17T00:00:00'],
    ['before 2024-05', '1970-01-01T00:00:00 2024-04-30T23:59:59'],
    ['until 2024', '1970-01-01T00:00:00 2024-12-31T23:59:59'],
    ['in 2030', '2030-01-01T00:00:00 2030-01-01T00:00:00'],
    ['since 2030', '2030-01-01T00:00:00 2030-01-01T00:00:00'],
    ['from 2024-13 or in 2023', '2023-01-01T00:00:00 2023-12-31T23:59:59'],
    ['antes de 2024', '1970-01-01T00:00:00 2023-12-31T23:59:59'],
    ['desde 2025-06', '2025-06-01T00:00:00 2025-12-17T00:00:00'],
  ])('take dates after a word (CQ-087): %s', (text, wanted) => {
    expect(shown(text)).toBe(wanted)
  })

  it.each(['from 2024-02-30', '#recent', 'non-recent', 'recentness', 'python 2024', 'http 404', 'in 20245'])(
    'are not in %s',
    text => {
      expect(range(text)).toBeNull()
    },
  )

  it('that stand leftmost win (CQ-088)', () => {
    expect(shown('yesterday, not last year')).toBe(shown('yesterday'))
    expect(shown('last year, not yesterday')).toBe(shown('last year'))
  })
})

describe('any text', () => {
  it('gives a range that the core takes, at a place inside the text, whatever the text', () => {
    const word = fc.constantFrom(
      ...[
        'last',
        'past',
        'this',
        'since',
        'before',
        'from',
        'to',
        '2024',
        '2024-05',
        '1/2/2024',
        'monday',
        'hace',
        'tres',
      ],
      ...[
        'días',
        'week',
        'years',
        'ago',
        '3',
        '999999',
        'el',
        'pasado',
        'mayo',
        'may',
        'today',
        'and',
        '-',
        'until',
        'top',
      ],
    )
    fc.assert(
      fc.property(
        fc.array(fc.oneof(word, fc.string()), { maxLength: 8 }),
        fc.integer({ min: 0, max: 4e9 }),
        (parts, now) => {
          const text = parts.join(' ')
          const found = findTime(text, now)
          if (found === null) return
          const { period, index, length } = found
          expect([period.start, period.end].every(Number.isSafeInteger)).toBe(true)
          expect(period.start).toBeLessThanOrEqual(period.end)
          expect(length).toBeGreaterThan(0)
          expect(index >= 0 && index + length <= text.length).toBe(true)
          expect(findTime(text, now)).toEqual(found)
        },
      ),
      { numRuns: 300 },
    )
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { printable } from '../../../src/base/printable.ts'
import {
  oneLine,
  PLAIN_TEXT,
  rows,
  type Shown,
  type Style,
  styleOf,
} from '../../../src/interfaces/cli/render/answer.ts'
import { explanationText, pageText, shortOrigin } from '../../../src/interfaces/cli/render/page.ts'
import { leaf, node } from '../../../src/model/explanation.ts'
import type { Item, Page } from '../../../src/model/page.ts'

const same = (text: string): string => text
const plain: Style = { bold: same, dim: same, mark: text => `<${text}>`, good: same, bad: same }

function shown(folder: string, input: Shown['input'] = {}): Shown {
  return { isMarkdown: false, style: plain, width: undefined, folder, hasMore: false, flags: {}, input }
}

function markdown(folder: string): Shown {
  return { ...shown(folder), isMarkdown: true }
}

const item: Item = {
  rank: 1,
  id: 'decay.md',
  holder: 'owner',
  collection: 'documents',
  kind: 'document',
  title: 'Decay',
  score: 0.71234,
  components: { words: 1 },
  excerpt: {
    text: 'Memory fades.\n\nThe half life is short.',
    start_line: 3,
    end_line: 5,
    section: [],
    highlights: [[19, 28]],
  },
  tags: [],
  metadata: {},
  origin: 'file:///notes/docs/decay.md',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  source: 'local',
  passages: [],
  why: 'matches "half life"',
}
const page: Page = {
  items: [item],
  cursor: null,
  verdict: 'answered',
  reason: null,
  lens: 'default',
  mode: 'words',
  as_of: '2026-01-01T00:00:00.000Z',
  coverage: { embedded: 0, sources: ['local'], failed: [], complete: true },
  notes: [{ code: 'words_only', message: 'answered from words only' }],
}

describe('a page, as text', () => {
  it('shows rank, title, place with lines, score, id, the excerpt with what matched, why, verdict and notes', () => {
    expect(pageText(page, shown('/notes'))).toBe(
      [
        '1. Decay  docs/decay.md:3-5  0.712  decay.md',
        '   Memory fades.',
        '   The <half life> is short.',
        '   why: matches "half life"',
        '',
        'answered',
        'note: answered from words only',
        '',
      ].join('\n'),
    )
  })

  it('shows the section behind the lines, and where a sentence is cut', () => {
    const excerpt = { ...item.excerpt, section: ['Memory', 'Half\nlife'], cut_start: true, cut_end: true }
    const text = pageText({ ...page, items: [{ ...item, excerpt }] }, shown('/notes'))
    expect(text).toContain('1. Decay  docs/decay.md:3-5  Memory › Half life  0.712  decay.md\n   … Memory fades.\n')
    expect(text).toContain('is short. …\n')
  })

  it('QE-008: shows each passage with its lines, section and score, where passages were asked for', () => {
    const [text, highlights] = ['Memory fades.', []]
    const passages = [
      { ...item.excerpt, section: ['Decay', 'Half \u001b[31mlife'], score: 0.71234 },
      { text, highlights, start_line: 9, end_line: 9, section: [], score: 0.25 },
    ]
    expect(pageText({ ...page, items: [{ ...item, passages }], notes: [] }, shown('/notes'))).toBe(
      [
        '1. Decay  docs/decay.md:3-5  0.712  decay.md',
        '   lines 3-5  Decay › Half \ufffd[31mlife  0.712',
        '     Memory fades.',
        '     The <half life> is short.',
        '   line 9  0.250',
        '     Memory fades.',
        '   why: matches "half life"',
        '',
        'answered',
        '',
      ].join('\n'),
    )
    expect(pageText({ ...page, items: [{ ...item, passages }] }, markdown('/notes'))).toContain(
      'line 9, score 0.250\n\n> Memory fades.\n',
    )
  })

  it('says why nothing is relevant, how to go on, and what came nearest (QE-005)', () => {
    const empty: Page = { ...page, items: [], notes: [], verdict: 'nothing_relevant', reason: 'no word is known' }
    expect(pageText(empty, shown('/'))).toBe(
      'nothing relevant: no word is known\nuse --any to see the closest results\n',
    )
    expect(pageText(empty, shown('/', { any: true }))).toBe('nothing relevant: no word is known\n')
    expect(pageText({ ...empty, nearest: [item] }, shown('/notes'))).toBe(
      'nothing relevant: no word is known\nuse --any to see the closest results\nnearest, not an answer:\n  Decay  docs/decay.md:3-5  0.712\n',
    )
    expect(pageText({ ...page, items: [], notes: [], cursor: 'abc' }, shown('/'))).toBe(
      'answered\nmore: --cursor abc\n',
    )
  })

  it('shows the tree under an item that has one', () => {
    const explanation = node('score', 'sum', [leaf('words', 0.5, 'BM25'), leaf('meaning', 0.25)])
    expect(explanationText(explanation, plain)).toBe('0.7500 score (+)\n  0.5000 words  BM25\n  0.2500 meaning\n')
    expect(pageText({ ...page, items: [{ ...item, explanation }] }, shown('/'))).toContain('   0.7500 score (+)\n')
  })

  it('leaves out what has no part in the score: the words of a query by meaning, and the score of a list', () => {
    const off = node('words', 'product', [leaf('weight of words', 0), leaf('share of the best', 0)])
    expect(explanationText(node('score', 'sum', [off, leaf('meaning', 0.25)]), plain)).toBe(
      '0.2500 score (+)\n  0.2500 meaning\n',
    )
    expect(pageText({ ...page, mode: 'list' }, shown('/notes'))).toContain('1. Decay  docs/decay.md:3-5  decay.md\n')
  })

  it('says above the results how the query was read', () => {
    const notes = [
      { code: 'words_only', message: 'Words only.' },
      { code: 'read_as_text', message: 'Searched as text: -x.' },
    ]
    expect(pageText({ ...page, notes }, shown('/'))).toMatch(
      /^note: Searched as text: -x\.\n\n1\. [\s\S]*\nnote: Words only\.\n$/,
    )
    expect(pageText({ ...page, notes }, markdown('/'))).toMatch(/^- note: Searched as text: -x\.\n\n## 1\. /)
  })

  it('lets no stored text command the terminal', () => {
    const evil = '\u001b]0;owned\u0007\u001b[2J\u009b31m\u202eabc\r'
    const attack: Item = {
      ...item,
      id: evil,
      title: evil,
      why: evil,
      excerpt: { ...item.excerpt, text: evil, highlights: [] },
    }
    const text =
      pageText({ ...page, items: [attack] }, shown('/')) + pageText({ ...page, items: [attack] }, markdown('/'))
    expect(text).not.toMatch(/[^\P{Cc}\n\t]|[\u202a-\u202e]/u)
  })
})

describe('a page, as Markdown', () => {
  it('has a heading and a quotation for each item', () => {
    expect(pageText(page, markdown('/notes'))).toBe(
      [
        '## 1. Decay',
        '',
        'docs/decay.md:3-5, score 0.712, id decay.md',
        '',
        '> Memory fades.',
        '> ',
        '> The **half life** is short.',
        '',
        'matches "half life"',
        '',
        '- answered',
        '- note: answered from words only',
        '',
      ].join('\n'),
    )
  })

  it('does not let text be taken for markup', () => {
    const text = pageText({ ...page, items: [{ ...item, title: '<b>*x*</b> | y' }] }, markdown('/'))
    expect(text).toContain('## 1. \\<b\\>\\*x\\*\\</b\\> \\| y')
  })
})

describe('tables', () => {
  const table = (values: readonly (readonly [string, number])[], more: Partial<Shown> = {}) =>
    rows('rows', ['id', 'n'])({ rows: values.map(([id, n]) => ({ id, n })) }, { ...PLAIN_TEXT, ...more })
  it('align their columns', () => {
    const two = [['a', 1] as const, ['long', 22] as const]
    expect(table(two)).toBe('ID     N\na      1\nlong  22\n')
    expect(table([['longer than fits', 1]], { width: 8 })).toBe('ID     …\nlonger …\n')
    expect(table([['a|b', 1]], { isMarkdown: true })).toBe('| ID | N |\n| --- | ---: |\n| a\\|b | 1 |\n')
  })
})

describe('printable text', () => {
  it('keeps letters, line feeds and tabs, and nothing that controls', () => {
    expect(printable('a\tb\r\nc\u001b[1m é 漢 👍')).toBe('a\tb\nc\ufffd[1m é 漢 👍')
    expect(oneLine('  a \n\t b\u0000 ')).toBe('a b\ufffd')
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), text => {
        expect(printable(text)).not.toMatch(/[^\P{Cc}\t\n]/u)
        expect(oneLine(text)).not.toMatch(/\n|\t/)
      }),
    )
  })
})

describe('where something came from', () => {
  it.each([
    ['file:///a/b/c.md', '/a', 'b/c.md'],
    ['file:///a/b/c.md', '/a/x', '/a/b/c.md'],
    ['file:///a/with%20blank.md', '/a', 'with blank.md'],
    ['https://example.org/x', '/a', 'https://example.org/x'],
    ['/a/b', '/a', 'b'],
    ['file://host/%zz', '/a', 'file://host/%zz'],
  ])('%s seen from %s is %s', (origin, folder, expected) => {
    expect(shortOrigin(origin, folder)).toBe(expected)
  })
})

describe('colour', () => {
  const bold = (env: Record<string, string>, isTTY: boolean) => {
    const stdout = { isTTY } as Parameters<typeof styleOf>[0]['stdout']
    return styleOf({ env, stdout }).bold('a') !== 'a'
  }
  it('is for terminals that want it', () => {
    expect(bold({}, true)).toBe(true)
    expect(bold({}, false)).toBe(false)
    expect(bold({ NO_COLOR: '1' }, true)).toBe(false)
    expect(bold({ NO_COLOR: '1', FORCE_COLOR: '1' }, true)).toBe(false)
    expect(bold({ NO_COLOR: '' }, true)).toBe(true)
    expect(bold({ TERM: 'dumb' }, true)).toBe(false)
    expect(bold({ FORCE_COLOR: '1' }, false)).toBe(true)
  })
})

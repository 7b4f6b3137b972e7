import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ChunkDraft } from '../../../src/model/entry.ts'
import { chunk, chunkContent, type TextStructure } from '../../../src/text/chunk.ts'
import type { Heading } from '../../../src/text/outline.ts'

/** `n` words, each telling its number, in sentences of ten words. */
function prose(n: number, first = 0): string {
  const words = Array.from(
    { length: n },
    (_, at) => `${at % 10 === 0 ? 'W' : 'w'}${at + first}${at % 10 === 9 ? '.' : ''}`,
  )
  return words.join(' ')
}

function markdown(text: string): TextStructure {
  const headings: Heading[] = [...text.matchAll(/^(#+) (.*)$/gm)].map(match => ({
    start: match.index,
    end: match.index + match[0].length,
    level: (match[1] as string).length,
    text: match[2] as string,
  }))
  return { form: 'prose', headings }
}

/** One line a chunk: lines, headings, where it begins and where it ends. */
function sketch(text: string, chunks: readonly ChunkDraft[]): readonly string[] {
  return chunks.map(({ start, end, startLine, endLine, headings }) => {
    const words = text.slice(start, end).trim().split(/\s+/)
    return `${startLine}-${endLine} [${headings.join(' > ')}] ${words[0]} … ${words.at(-1)} (${words.length} words)`
  })
}

describe('chunks of prose', () => {
  it('keeps a short text whole', () => {
    const text = prose(100)
    expect(sketch(text, chunk(text))).toEqual(['1-1 [] W0 … w99. (100 words)'])
  })

  it('gives one chunk for no text, so that a title can be found', () => {
    expect(chunk('')).toEqual([{ start: 0, end: 0, startLine: 1, endLine: 1, headings: [] }])
    expect(chunk(' \n\n')).toEqual([{ start: 0, end: 3, startLine: 1, endLine: 2, headings: [] }])
  })

  it('cuts at sentences and repeats the last ones', () => {
    const text = prose(300)
    expect(sketch(text, chunk(text))).toEqual(['1-1 [] W0 … w179. (180 words)', '1-1 [] W160 … w299. (140 words)'])
  })

  it('prefers paragraphs to sentences', () => {
    const text = [prose(70), prose(70, 70), prose(70, 140)].join('\n\n')
    expect(sketch(text, chunk(text))).toEqual(['1-4 [] W0 … w139. (140 words)', '3-5 [] W120 … w209. (90 words)'])
  })

  it('cuts lists at items and tables at rows', () => {
    const items = Array.from({ length: 30 }, (_, at) => `- item number ${at} says something short, nothing else`)
    const text = items.join('\n')
    for (const { start, end } of chunk(text)) {
      expect(text.slice(start, start + 6)).toBe('- item')
      expect(end === text.length || text[end - 1] === '\n').toBe(true)
    }
  })

  it('takes hard-wrapped lines for sentences, not for borders', () => {
    const text = prose(200).replaceAll(/(w\d*[37]) /g, '$1\n')
    expect(
      chunk(text)
        .slice(0, -1)
        .every(({ end }) => /\.\s*$/.test(text.slice(0, end))),
    ).toBe(true)
  })

  it('falls back to words, then to characters', () => {
    const words = prose(400).replaceAll('.', ',').toLowerCase()
    for (const { start } of chunk(words).slice(1)) expect(words[start - 1]).toBe(' ')
    const solid = 'x'.repeat(5000)
    const chunks = chunk(solid)
    expect(chunks.length).toBeGreaterThan(5)
    expect(chunks.every(({ start, end }) => end - start <= 700)).toBe(true)
  })

  it('counts characters of scripts without blanks, and cuts at their full stops', () => {
    const text = '北京是中华人民共和国的首都位于华北平原的北部。'.repeat(40)
    const chunks = chunk(text)
    expect(chunks.map(({ end }) => text[end - 1])).toEqual(chunks.map(() => '。'))
    expect(chunks.every(({ start, end }) => end - start <= 230)).toBe(true)
    expect(chunks.slice(1).every(({ start }, at) => start < (chunks[at] as ChunkDraft).end)).toBe(true)
  })
})

describe('chunks of sections', () => {
  const text = [
    '# Guide',
    '',
    '## Install',
    prose(70),
    '## Use',
    prose(20),
    '### By hand',
    prose(20, 100),
    '## Notes',
    prose(120, 200),
  ].join('\n')

  it('begins at headings, keeps the headings above, and joins small sections', () => {
    expect(sketch(text, chunk(text, markdown(text)))).toEqual([
      '1-4 [Guide > Install] # … w69. (74 words)',
      '5-8 [Guide > Use] ## … w119. (45 words)',
      '9-10 [Guide > Notes] ## … w319. (122 words)',
    ])
  })

  it('never leaves a heading alone at the end of a chunk', () => {
    const long = `${prose(85)}\n\n## Next\n\n${prose(100, 100)}`
    const chunks = chunk(long, markdown(long))
    expect(sketch(long, chunks)).toEqual(['1-2 [] W0 … w84 (85 words)', '3-5 [Next] ## … w199. (102 words)'])
  })

  it('begins where the text begins', () => {
    const whole = `---\ntitle: x\n---\n${prose(20)}`
    expect(chunk(whole, { form: 'prose', headings: [], start: 17 })).toEqual([
      { start: 17, end: whole.length, startLine: 4, endLine: 4, headings: [] },
    ])
  })

  it('tells sections of one name apart and copes with skipped levels', () => {
    const odd = `### Deep\n${prose(60)}\n# Top\n${prose(60)}\n#### Under\n${prose(60)}\n# Top\n${prose(60)}`
    expect(chunk(odd, markdown(odd)).map(draft => draft.headings)).toEqual([
      ['Deep'],
      ['Top'],
      ['Top', 'Under'],
      ['Top'],
    ])
  })
})

describe('chunks of code', () => {
  const body = (name: string) =>
    [
      `function ${name}(a, b) {`,
      ...Array.from({ length: 6 }, (_, at) => `  const v${at} = a.call(${at}, b)`),
      '}',
      '',
    ].join('\n')
  const code = ['one', 'two', 'three', 'four', 'five', 'six'].map(body).join('\n')

  it('cuts between functions', () => {
    const chunks = chunk(code, { form: 'code', headings: [] })
    expect(chunks.length).toBeGreaterThan(2)
    for (const { end } of chunks.slice(0, -1)) expect(code.slice(end, end + 8)).toBe('function')
  })

  it('never cuts a short line', () => {
    const lines = Array.from({ length: 200 }, (_, at) => `  x.y${at} = { a: [1, 2], b: "c. D" }`).join('\n')
    for (const { start } of chunk(lines, { form: 'code', headings: [] }).slice(1)) expect(lines[start - 1]).toBe('\n')
  })
})

const anyContent = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc
    .array(
      fc.constantFrom(
        ...[
          'word',
          'Word. ',
          ' ',
          '\n',
          '\n\n',
          '\r\n',
          '\r',
          '# Head\n',
          '- ',
          '。',
          '漢字',
          '😀',
          '👩‍👩‍👧',
          'é',
          '_',
          '----------',
        ],
        ...[
          'x'.repeat(100),
          ' '.repeat(600),
          '    indent',
          '}',
          'some words that fill a chunk a little more quickly. ',
        ],
      ),
      { maxLength: 400 },
    )
    .map(parts => parts.join('')),
)

function lineOf(text: string, at: number): number {
  return [...text.matchAll(/\r\n|\r|\n/g)].filter(end => end.index + end[0].length <= at).length + 1
}

describe('chunks of anything', () => {
  it('covers all, moves forward, stays small, splits no pair, tells the right lines', () => {
    fc.assert(
      fc.property(anyContent, fc.constantFrom('prose' as const, 'code' as const), (given, form) => {
        const content = given.toWellFormed()
        const chunks = chunk(content, { ...markdown(content), form })
        let covered = 0
        let previous = -1
        for (const { start, end, startLine, endLine } of chunks) {
          expect(start).toBeGreaterThan(previous)
          expect(start).toBeLessThanOrEqual(covered)
          expect(end).toBeGreaterThanOrEqual(covered)
          expect(content.slice(start, end).isWellFormed()).toBe(true)
          expect(content.slice(start, end).split(/\s+/).length).toBeLessThanOrEqual(232)
          expect(startLine).toBe(lineOf(content, start))
          expect(endLine).toBe(lineOf(content, Math.max(start, end - 1)))
          previous = start
          covered = end
        }
        expect(covered).toBe(content.length)
        expect(chunk(content, { ...markdown(content), form })).toEqual(chunks)
      }),
      { numRuns: 500 },
    )
  })

  const size = process.env['QUERENT_LONG'] === undefined ? 0.5 : 10
  it.each([
    ['one line of words', 'word '],
    ['one word', 'x'],
    ['blanks', ' '],
    ['line ends', '\n'],
    ['signs', '#'],
    ['characters without blanks', '漢'],
    ['pairs', '😀'],
    ['headings', '# a\n'],
    ['underlined headings', 'a\n-\n'],
    ['links that never end', '# [a]('],
  ])(`gets through %s: ${size} million characters, 10 with QUERENT_LONG=1`, (_, piece) => {
    const content = piece.repeat(Math.floor((size * 1024 * 1024) / piece.length))
    expect(chunkContent(content, { format: 'markdown' }).at(-1)?.end).toBe(content.length)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chunk } from '../../../src/text/chunk.ts'
import { excerpt, type Passage, type WordMatcher } from '../../../src/text/excerpt.ts'
import { lineEnds } from '../../../src/text/lines.ts'
import { questionMatcher } from '../../../src/text/question-matcher.ts'

const NOTHING: WordMatcher = () => null

function of(content: string, question: string, maxLength: number, headings: readonly string[] = []): Passage {
  const matcher = questionMatcher(question.split(' '), 'en')
  return excerpt(content, { start: 0, end: content.length, startLine: 1, headings }, matcher, maxLength)
}

/** The text with its highlights in brackets. */
function marked({ text, highlights }: Passage): string {
  return highlights.reduceRight((done, [start, end]) => {
    return `${done.slice(0, start)}[${done.slice(start, end)}]${done.slice(end)}`
  }, text)
}

const STORY = [
  'The harbour was quiet in the morning. Boats lay at the quay, and gulls slept.',
  'A storm had passed in the night. Its winds broke two masts, and the sailors mended them.',
  'In the afternoon the market opened. Fish, rope and tar were sold by the barrel.',
].join('\n')

describe('excerpt', () => {
  it('shows a short chunk whole', () => {
    expect(of('  A short text.\n', 'short', 100)).toEqual({
      start: 2,
      text: 'A short text.',
      startLine: 1,
      endLine: 1,
      highlights: [[2, 7]],
    })
  })

  it('shows the sentences where most different words of the question stand', () => {
    const passage = of(STORY, 'did the storm break masts', 100)
    expect(marked(passage)).toBe(
      'A [storm] had passed in the night. Its winds broke two [masts], and the sailors mended them.',
    )
    expect(passage).toMatchObject({ startLine: 2, endLine: 2 })
  })

  it('tells the lines of what it shows', () => {
    expect(of(STORY, 'gulls storm', 140)).toMatchObject({ startLine: 1, endLine: 2 })
    expect(of(STORY, 'barrel', 60)).toMatchObject({ startLine: 3, endLine: 3 })
    const passage = excerpt(STORY, { start: 78, end: STORY.length, startLine: 2, headings: [] }, NOTHING, 90)
    expect(passage).toMatchObject({ start: 78, startLine: 2, endLine: 2 })
  })

  it('counts a word of the question once, however often it stands there', () => {
    const text = `${'fish '.repeat(20)}and some other words. ${'Nothing here. '.repeat(10)}Fish with tar.`
    expect(of(text, 'fish tar', 60).text).toContain('Fish with tar')
  })

  it('finds other forms of a word, identifiers by their parts, accents or none', () => {
    expect(marked(of('The indexes are rebuilt.', 'rebuilt index', 100))).toBe('The [indexes] are [rebuilt].')
    expect(marked(of('Call parseQuery(text) now.', 'parse', 100))).toBe('Call [parse]Query(text) now.')
    expect(marked(of('Call parseQuery(text) now.', 'parseQuery', 100))).toBe('Call [parseQuery](text) now.')
    expect(marked(of('La canción suena.', 'cancion', 100))).toBe('La [canción] suena.')
  })

  it('does not mark stop words, unless the question has nothing else', () => {
    expect(marked(of('What is the market of the town?', 'what is the market', 100))).toBe(
      'What is the [market] of the town?',
    )
    expect(marked(of('To be or not.', 'to be', 100))).toBe('[To] [be] or not.')
  })

  it('begins behind the headings when nothing matches', () => {
    const text = `# Guide\n\n## Install ##\n\nFirst do this. ${'Then do that. '.repeat(20)}`
    const passage = of(text, 'zebra', 60, ['Guide', 'Install'])
    expect(passage.text).toBe('First do this. Then do that. Then do that. Then do that.')
    expect(passage).toMatchObject({ startLine: 5, endLine: 5, highlights: [] })
    expect(of(text, 'zebra', 60).text).toMatch(/^# Guide/)
  })

  it('ends with a whole word where no sentence ends', () => {
    expect(of('word '.repeat(100), 'zebra', 52).text).toBe('word '.repeat(10).trim())
  })

  // In time that grew with the third power of the blanks, this took a minute.
  it('makes nothing of very many blanks in the line it begins with', () => {
    const blanks = ' '.repeat(20_000)
    expect(of(`# A${blanks}title${blanks}##\n\nFirst do this.`, 'zebra', 40, ['Guide']).text).toBe('# A')
    expect(of(`${blanks}\u000b${blanks}Guide${blanks}##\nFirst do this.`, 'zebra', 40, ['Guide']).text).toBe('')
    expect(of(`# Guide${blanks}##${blanks}\nFirst do this.${blanks}`, 'zebra', 40, ['Guide']).text).toBe(
      'First do this.',
    )
  })

  it('is never lost in text without blanks', () => {
    expect(of(`${'x'.repeat(5000)} needle ${'y'.repeat(5000)}`, 'needle', 80).text).toContain('needle')
    expect(of('😀'.repeat(500), 'zebra', 41).text).toBe('😀'.repeat(20))
  })
})

describe('excerpts of anything', () => {
  const word = fc.constantFrom(
    'alpha',
    'Beta.',
    'gamma,',
    'delta',
    '\n',
    '\n\n',
    '# Head\n',
    '漢字',
    '😀',
    'x'.repeat(90),
    'parseBeta',
    ' ',
    '  ',
  )
  const content = fc.oneof(
    fc.array(word, { maxLength: 300 }).map(words => words.join(' ')),
    fc.string({ unit: 'binary', maxLength: 500 }).map(text => text.toWellFormed()),
  )

  it('are pieces of the chunk, not too long, with right lines and highlights', () => {
    fc.assert(
      fc.property(content, fc.integer({ min: 40, max: 400 }), fc.nat(), (text, maxLength, pick) => {
        const matcher = questionMatcher(['beta', 'delta', '漢字'], 'en')
        const chunks = chunk(text)
        const at = chunks[pick % chunks.length]
        if (at === undefined) throw new Error('there is always a chunk')
        const passage = excerpt(text, at, matcher, maxLength)
        const end = passage.start + passage.text.length
        expect(passage.text).toBe(text.slice(passage.start, end))
        expect(passage.text.length).toBeLessThanOrEqual(maxLength)
        expect(passage.text).toBe(passage.text.trim())
        expect(passage.text.isWellFormed()).toBe(true)
        expect(passage.start).toBeGreaterThanOrEqual(at.start)
        expect(end).toBeLessThanOrEqual(at.end)
        expect(passage.startLine).toBe(lineEnds(text, 0, passage.start) + 1)
        expect(passage.endLine).toBe(lineEnds(text, 0, Math.max(passage.start, end - 1)) + 1)
        let last = -1
        for (const [from, to] of passage.highlights) {
          expect(from).toBeGreaterThan(last)
          expect(to).toBeGreaterThan(from)
          expect(passage.text.slice(from, to)).toMatch(/beta|delta|[漢字]/i)
          last = to
        }
        if (/\b(beta|delta)\b|漢/i.test(text.slice(at.start, at.end))) expect(passage.highlights).not.toEqual([])
      }),
      { numRuns: 1000 },
    )
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { questionMatcher } from '../../../src/pipeline/passage.ts'
import { chunk, chunkContent } from '../../../src/text/chunk.ts'
import { excerpt, type Passage, sectionAt, type WordMatcher } from '../../../src/text/excerpt.ts'
import { lineEnds } from '../../../src/text/lines.ts'
import type { TextForm } from '../../../src/text/piece.ts'
import type { Language } from '../../../src/text/stopwords.ts'

const NOTHING: WordMatcher = () => null

interface Asked {
  readonly headings?: readonly string[]
  readonly form?: TextForm
  readonly language?: Language
  readonly weightOf?: (word: string) => number
}

function of(content: string, question: string, maxLength: number, asked: Asked = {}): Passage {
  const { headings = [], form, language = 'en', weightOf } = asked
  const match = questionMatcher(question.split(' '), language)
  return excerpt(
    content,
    { start: 0, end: content.length, startLine: 1, endLine: content.split('\n').length, headings },
    { match, maxLength, form, weightOf },
  )
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
      isStartCut: false,
      isEndCut: false,
      frame: null,
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
    const passage = excerpt(
      STORY,
      { start: 78, end: STORY.length, startLine: 2, endLine: 3, headings: [] },
      { match: NOTHING, maxLength: 90 },
    )
    expect(passage).toMatchObject({ start: 78, startLine: 2, endLine: 2 })
  })

  it('counts a word of the question once, however often it occurs there', () => {
    const text = `${'fish '.repeat(20)}and some other words. ${'Nothing here. '.repeat(10)}Fish with tar.`
    expect(of(text, 'fish tar', 60).text).toContain('Fish with tar')
  })

  it('prefers one rare word to two frequent ones', () => {
    const text = `Every file has a page. ${'Nothing else is here. '.repeat(5)}The checksum is at the end.`
    const weights: Readonly<Record<string, number>> = { file: 0.4, page: 0.5, checksum: 6 }
    expect(of(text, 'file page checksum', 60).text).toMatch(/^Every file has a page/)
    expect(of(text, 'file page checksum', 60, { weightOf: word => weights[word] ?? 1 }).text).toBe(
      'The checksum is at the end.',
    )
  })

  it('goes back to the beginning of the sentence that its chunk begins inside', () => {
    const start = STORY.indexOf('broke')
    const chunk = { start, end: STORY.length, startLine: 2, endLine: 3, headings: [] }
    const match = questionMatcher(['masts'], 'en')
    expect(excerpt(STORY, chunk, { match, maxLength: 60 })).toMatchObject({
      text: 'Its winds broke two masts, and the sailors mended them.',
      startLine: 2,
      isStartCut: false,
      isEndCut: false,
    })
    const wrapped = 'The first sentence\nis wrapped here. More.'
    const later = { start: wrapped.indexOf('wrapped'), end: wrapped.length, startLine: 2, endLine: 3, headings: [] }
    expect(excerpt(wrapped, later, { match: NOTHING, maxLength: 60 })).toMatchObject({
      text: wrapped,
      startLine: 1,
      endLine: 2,
    })
  })

  it('begins at a clause, or at a word, of a sentence that is longer than it, and says so', () => {
    const clauses = `We went on, ${'and on, '.repeat(20)}because the harbour was far away.`
    expect(of(clauses, 'harbour', 60)).toMatchObject({
      text: 'and on, and on, because the harbour was far away.'.slice(-33),
      isStartCut: true,
      isEndCut: false,
    })
    const words = `We went ${'ever farther '.repeat(20)}to the harbour ${'which is far away '.repeat(10)}`
    const passage = of(words, 'harbour', 60)
    expect(passage).toMatchObject({ isStartCut: true, isEndCut: true })
    expect(` ${words}`).toContain(` ${passage.text} `)
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
    const passage = of(text, 'zebra', 60, { headings: ['Guide', 'Install'] })
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
    expect(of(`# A${blanks}title${blanks}##\n\nFirst do this.`, 'zebra', 40, { headings: ['Guide'] }).text).toBe('# A')
    expect(
      of(`${blanks}\u000b${blanks}Guide${blanks}##\nFirst do this.`, 'zebra', 40, { headings: ['Guide'] }).text,
    ).toBe('First do this.')
    expect(of(`# Guide${blanks}##${blanks}\nFirst do this.${blanks}`, 'zebra', 40, { headings: ['Guide'] }).text).toBe(
      'First do this.',
    )
  })

  it('is never lost in text without blanks', () => {
    expect(of(`${'x'.repeat(5000)} needle ${'y'.repeat(5000)}`, 'needle', 80).text).toContain('needle')
    expect(of('😀'.repeat(500), 'zebra', 41).text).toBe('😀'.repeat(20))
  })
})

/** Each is long enough that a part must be chosen; `shown` begins where a reader would. */
const AWKWARD: readonly (Asked & {
  readonly title: string
  readonly text: string
  readonly ask: string
  readonly shown: string
})[] = [
  {
    title: 'abbreviations',
    text: 'We met at noon in town. Use a short key, e.g. Ed25519 by Dr. Bern, cf. Fig. 3 of the U.S. Standard. It rained in the evening.',
    ask: 'standard',
    shown: 'Use a short key, e.g. Ed25519 by Dr. Bern, cf. Fig. 3 of the U.S. Standard.',
  },
  {
    title: 'decimals and versions',
    text: 'The load is low today. Version 1.2.3 needs 3.14 seconds at 0.5 load. Nobody knows why that is so, but it is.',
    ask: 'seconds',
    shown: 'Version 1.2.3 needs 3.14 seconds at 0.5 load. Nobody knows why that is so, but',
  },
  {
    title: 'addresses',
    text: 'Nothing is free here. Read https://example.org/a.b?c=d!e#Top before the install. Then do something else in the town.',
    ask: 'install',
    shown: 'Read https://example.org/a.b?c=d!e#Top before the install.',
  },
  {
    title: 'a list',
    text: 'Take with you:\n\n- a rope of hemp\n  that is long\n- a lamp with oil\n- bread for three days\n- and a map of the whole coast',
    ask: 'lamp bread',
    shown: '- a lamp with oil\n- bread for three days\n- and a map of the whole coast',
  },
  {
    title: 'a numbered heading',
    text: 'It was said before, and not only once.\n\n5. Temporary files\n\nThey are put into the folder of the system.',
    ask: 'temporary',
    shown: '5. Temporary files\n\nThey are put into the folder of the system.',
  },
  {
    title: 'a table',
    text: '| Port | Use |\n| --- | --- |\n| 8080 | Requests. Of people. |\n| 9090 | Measures. Of machines. |\n| 7070 | Nothing |',
    ask: 'machines',
    shown: '| 9090 | Measures. Of machines. |',
  },
  {
    title: 'code',
    form: 'code',
    text: 'import { open } from "store"\n\nexport function close(store) {\n  store.flush()\n  return store.end({ wait: true })\n}\n',
    ask: 'flush',
    shown: 'store.flush()\n  return store.end({ wait: true })\n}',
  },
  {
    title: 'fenced code in prose',
    text: 'Open the store before anything else is done with it:\n\n```ts\nconst a = await open()\nawait a.put(entry)\nawait a.close()\n```\n\nThat is all.',
    ask: 'put',
    shown: 'await a.put(entry)\nawait a.close()\n```\n\nThat is all.',
  },
  {
    title: 'quotations',
    text: 'The captain woke late. "Who moved the anchor?" he asked the crew. "Not I." Then he went below and slept again.',
    ask: 'anchor',
    shown: '"Who moved the anchor?" he asked the crew. "Not I." Then he went below and slept',
  },
  {
    title: 'Spanish',
    language: 'es',
    text: 'El barco llegó tarde al puerto. Pero, ¿quién abrió la bodega? ¡Nadie lo sabe! El capitán duerme otra vez abajo.',
    ask: 'bodega',
    shown: 'Pero, ¿quién abrió la bodega? ¡Nadie lo sabe! El capitán duerme otra vez abajo.',
  },
  {
    title: 'Chinese',
    text: `${'今天天气很好。'.repeat(10)}港口的船都走了。${'他们不回来。'.repeat(10)}`,
    ask: '港口',
    shown: `港口的船都走了。${'他们不回来。'.repeat(10)}`,
  },
  {
    title: 'wrapped lines',
    text: 'The sailors of the north are\nused to ice. The ships of\nEngland went around the cape in\nthe winter. Nobody saw them.',
    ask: 'england',
    shown: 'The ships of\nEngland went around the cape in\nthe winter. Nobody saw them.',
  },
  {
    title: 'settings, a line each',
    text: 'name: harbour\nport: 8080\nhost: example.org\nretries: 3\ntimeout: 20s\nverbose: false\nfolder: /var/data\nowner: ana',
    ask: 'retries',
    shown: 'retries: 3\ntimeout: 20s\nverbose: false\nfolder: /var/data\nowner: ana',
  },
]

describe('the section of an excerpt', () => {
  const text = '# Guide\n\nHello.\n\n## Install\n\nTake it.\n\n## Use\n\n```sh\n# a comment\nrun it\n```\n\nDone.'
  const [whole] = chunkContent(text, { format: 'markdown' })

  it('is that of the place within its chunk, which may hold several sections, and comments of code are none', () => {
    if (whole === undefined) throw new Error('there is always a chunk')
    expect(whole).toMatchObject({ start: 0, end: text.length, headings: ['Guide'] })
    expect(sectionAt(whole, text.indexOf('Hello'))).toEqual(['Guide'])
    expect(sectionAt(whole, text.indexOf('Take'))).toEqual(['Guide', 'Install'])
    expect(sectionAt(whole, text.indexOf('run it'))).toEqual(['Guide', 'Use'])
    expect(sectionAt(whole, text.indexOf('Done'))).toEqual(['Guide', 'Use'])
  })

  it('is that above its chunk where the store knows of no other', () => {
    expect(sectionAt({ start: 10, headings: ['Guide', 'Use'] }, 40)).toEqual(['Guide', 'Use'])
  })
})

describe('the frame of an excerpt (QE-009)', () => {
  const rows = Array.from({ length: 60 }, (_, at) => `| ${at} | service${at} of the plant |\n`).join('')
  const table = `# Ports\n\n| Port | Service |\n| ---: | --- |\n${rows}`
  const code = `Run it:\n\n\`\`\`sh\n${Array.from({ length: 60 }, (_, at) => `step${at} --now\n`).join('')}\`\`\`\n\nDone.\n`
  const shown = (text: string, question: string, maxLength = 320) => {
    const match = questionMatcher(question.split(' '), 'en')
    const holder = chunkContent(text, { format: 'markdown' }).find(({ start, end }) =>
      text.slice(start, end).includes(question.split(' ')[0] as string),
    )
    if (holder === undefined) throw new Error(`${question}: no chunk has it`)
    return excerpt(text, holder, { match, maxLength })
  }

  it('is the header of the table, whichever part of it is shown, with its words marked', () => {
    for (const row of [31, 58]) {
      const { text, frame, startLine } = shown(table, `service${row} port`)
      expect(text).toContain(`service${row} `)
      expect(frame).toEqual({ lead: '| Port | Service |\n| ---: | --- |', highlights: [[2, 6]], tail: '' })
      expect(table.split('\n')[startLine - 1]).toBe(text.split('\n')[0])
    }
    // In the part that has the header itself, whose excerpt begins behind it.
    expect(shown(table, 'service17', 120).frame?.lead).toBe('| Port | Service |\n| ---: | --- |')
  })

  it('opens and closes the fence, where the line that does is not shown', () => {
    expect(shown(code, 'step20').frame).toEqual({ lead: '```sh', highlights: [], tail: '```' })
    expect(shown(code, 'step59').frame).toEqual({ lead: '```sh', highlights: [], tail: '' })
    expect(shown('Run it:\n\n```sh\nstep\n```\n', 'step').frame).toBeNull()
  })

  it('takes no more than there is room for', () => {
    const wide = `| ${'a long name | '.repeat(20)}\n|${'---|'.repeat(20)}\n| ${'cell | '.repeat(20)}\n`
    for (const maxLength of [40, 80, 160, 320]) {
      const { text, frame } = shown(wide, 'cell', maxLength)
      const size = frame === null ? 0 : frame.lead.length + 1 + frame.tail.length
      expect(text.length + size).toBeLessThanOrEqual(maxLength)
      expect(text).toContain('cell')
    }
  })
})

describe('an excerpt of an awkward text', () => {
  for (const { title, text, ask, shown, ...asked } of AWKWARD) {
    it(`begins where a reader would: ${title}`, () => {
      expect(of(text, ask, 80, asked).text).toBe(shown)
    })
  }
})

/** Nothing, the end of a line or of a sentence, or a sign that belongs to neither. */
const BEFORE_BEGINNING = /(^|[\r\n]|[.!?…。！？][)\]"'”’»*_`」』）.!?…。！？]*)\s*$/

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
    '\n- ',
    '\n| ',
    '\n```\n',
    '\n    x = f(beta);',
    'e.g. Delta',
    '3.14',
    'Why? "No."',
    '¿Qué?',
    '漢字。',
    '\r\n',
  )
  const content = fc.oneof(
    fc.array(word, { maxLength: 300 }).map(words => words.join(' ')),
    fc.string({ unit: 'binary', maxLength: 500 }).map(text => text.toWellFormed()),
  )

  const form = fc.constantFrom<TextForm>('prose', 'code')

  it('are pieces of the chunk, not too long, with right lines and highlights', () => {
    fc.assert(
      fc.property(content, fc.integer({ min: 40, max: 400 }), fc.nat(), form, (text, maxLength, pick, form) => {
        const matcher = questionMatcher(['beta', 'delta', '漢字'], 'en')
        const chunks = chunk(text)
        const at = chunks[pick % chunks.length]
        if (at === undefined) throw new Error('there is always a chunk')
        const passage = excerpt(text, at, { match: matcher, maxLength, form })
        const end = passage.start + passage.text.length
        expect(passage.text).toBe(text.slice(passage.start, end))
        expect(passage.text.length).toBeLessThanOrEqual(maxLength)
        expect(passage.text).toBe(passage.text.trim())
        expect(passage.text.isWellFormed()).toBe(true)
        if (passage.start < at.start) expect(passage.isStartCut).toBe(false)
        if (!passage.isStartCut && passage.text !== '') expect(text.slice(0, passage.start)).toMatch(BEFORE_BEGINNING)
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

/** The parts of the conversation reference: indexed texts, chunks, blocks, BM25, what a question asks for. */
import { beforeAll, describe, expect, it } from 'vitest'
import { Bm25 } from '../../../bench/lib/conversations/bm25.ts'
import { asksWhen, hasTime, isAboutAssistant, namedIn } from '../../../bench/lib/conversations/cues.ts'
import { byCategory, type Judged, meanOf } from '../../../bench/lib/conversations/quality.ts'
import { readRecords } from '../../../bench/lib/conversations/question-set.ts'
import { DEFAULTS, NO_PARTS, ReferenceIndex } from '../../../bench/lib/conversations/reference.ts'
import { blocksOf, chunksOf, unitsOf } from '../../../bench/lib/conversations/units.ts'
import type { Conversation } from '../../../src/lenses/conversations/model.ts'
import { openToyEmbedder } from '../../support/toy-embedder.ts'

const SAID = [
  ['m1', 's1', 'Mira', '2025-03-14T18:00', 'The rent of the studio went up.'],
  ['m2', 's1', 'Tom', '2025-03-14T18:01', 'Did you ever find a new place for the kiln?'],
  ['m3', 's1', 'Mira', '2025-03-14T18:02', 'Yes, we moved it to the barn last weekend.'],
  ['m4', 's2', 'Tom', '2025-04-01T09:00', 'How did the first firing go?'],
  ['m5', 's2', 'Mira', '2025-04-01T09:01', 'Two bowls cracked.'],
] as const

let kiln: Conversation
beforeAll(async () => {
  const records = SAID.map(([id, session, speaker, at, text]) => ({
    ...{ id, session, speaker, at, text },
    conversation: 'kiln',
  }))
  kiln = (await readRecords('kiln', records)).conversations[0] as Conversation
})

describe('the indexed text of a message', () => {
  it('is that of the worked example: date, the question before it, speaker, text, resolved dates', () => {
    expect(unitsOf(kiln, DEFAULTS.people.unit)[2]).toBe(
      '(14 March 2025) Tom: Did you ever find a new place for the kiln?\n' +
        'Mira: Yes, we moved it to the barn last weekend. (weekend of 8 March 2025)',
    )
  })

  it('takes no question from the session before, and none that is not asked at the end', () => {
    const units = unitsOf(kiln, DEFAULTS.people.unit)
    expect(units[3]).toBe('(1 April 2025) Tom: How did the first firing go?')
    expect(units[1]).toBe('(14 March 2025) Tom: Did you ever find a new place for the kiln?')
  })

  it('is what was said alone where nothing is added', () => {
    expect(unitsOf(kiln, NO_PARTS)[2]).toBe(SAID[2][4])
  })
})

describe('chunks and blocks', () => {
  it('a long text is cut at sentences into at most 120 words, and joined again it is whole', () => {
    const text = Array.from({ length: 60 }, (_, at) => `Sentence ${at} has six words here.`).join(' ')
    const chunks = chunksOf(`${text}\n\n${text}`)
    expect(chunks.map(chunk => chunk.split(/\s+/).filter(Boolean).length)).toEqual([120, 120, 120, 120, 120, 120])
    expect(chunks.join('')).toBe(`${text}\n\n${text}`)
    expect(chunksOf('')).toEqual([''])
  })

  it('blocks are eight messages, each begins four later, and none crosses a session', () => {
    const session = (name: string, length: number) =>
      Array.from({ length }, (_, at) => ({
        ...(kiln.messages[0] as Conversation['messages'][number]),
        session: name,
        id: `${at}`,
      }))
    const messages = [...session('a', 14), ...session('b', 3), ...session('c', 8)]
    expect(blocksOf({ messages }).map(({ start, end }) => [start, end])).toEqual([
      [0, 8],
      [4, 12],
      [8, 14],
      [14, 17],
      [17, 25],
    ])
  })
})

describe('BM25', () => {
  it('weighs as the formula says, and finds words in other forms and no function words', () => {
    const texts = ['the kiln cracked', 'bowls and bowls and a vase', 'nothing']
    const scores = new Bm25(texts, { k1: 1.2, b: 0.75 }, 'en').scores('What about the bowl?')
    // Stems: kiln crack (2), bowl bowl vase (3), noth (1): the mean is 2.
    const idf = Math.log(1 + (3 - 1 + 0.5) / 1.5)
    expect([...scores]).toEqual([0, (idf * (2 * 2.2)) / (2 + 1.2 * (0.25 + 0.75 * 1.5)), 0])
  })

  it('knows Spanish', () => {
    const scores = new Bm25(['ya la alquilamos', 'otra cosa'], { k1: 0.9, b: 0.4 }, 'es').scores('¿Quién alquiló eso?')
    expect(scores[0]).toBeGreaterThan(0)
    expect(scores[1]).toBe(0)
  })
})

describe('what a question asks for', () => {
  it('names one participant, or it counts for nobody', () => {
    expect(namedIn("What is Mira's job?", ['Tom', 'Mira'])).toBe('Mira')
    expect(namedIn('Did Mira and Tom meet?', ['Tom', 'Mira'])).toBeNull()
    expect(namedIn('¿Qué compró Lucía?', ['Lucía Vega', 'Mateo'])).toBe('Lucía Vega')
    expect(namedIn('Who likes tomatoes?', ['Tom', 'Mira'])).toBeNull()
  })

  it.each([
    ['When did it happen?', 'en', true],
    ['How long did it take?', 'en', true],
    ['What day was it?', 'en', true],
    ['What happened when it rained?', 'en', false],
    ['¿Cuándo fue?', 'es', true],
    ['¿En qué año nació?', 'es', true],
    ['¿Cuánto cuesta?', 'es', false],
  ] as const)('%s asks when (%s): %s', (question, language, expected) => {
    expect(asksWhen(question, language)).toBe(expected)
  })

  it.each([
    ['What did you recommend?', 'en', true],
    ['Can you list my plants?', 'en', false],
    ['Which plants do I have?', 'en', false],
    ['¿Qué me recomendaste?', 'es', true],
    ['¿Qué plantas tengo?', 'es', false],
  ] as const)('%s is about the assistant (%s): %s', (question, language, expected) => {
    expect(isAboutAssistant(question, language)).toBe(expected)
  })

  it('knows a time in a message', () => {
    const times = ['At 7:30.', 'On Friday, maybe.', 'I was ten years old.', 'Since March.'].map(
      text => [text, 'en'] as const,
    )
    const tiempos = ['A las ocho.', 'El lunes no puedo.', 'Hace mucho, en marzo.'].map(text => [text, 'es'] as const)
    const message = kiln.messages[0] as Conversation['messages'][number]
    for (const [text, language] of [...times, ...tiempos]) {
      expect(hasTime({ ...message, text }, [], language), text).toBe(true)
    }
    expect(hasTime({ ...message, text: 'They march in the rain, may be.' }, [], 'en')).toBe(false)
    expect(hasTime({ ...message, text: 'No.' }, ['a date'], 'en')).toBe(true)
  })
})

describe('the reference', () => {
  it('finds the answer by the question before it, every message once', async () => {
    const embedder = openToyEmbedder()
    const index = await ReferenceIndex.of(kiln, 'en', 'people', embedder)
    const found = await index.ask('When did Mira move the kiln?')
    expect(found[0]?.id).toBe('m3')
    expect(found.map(({ id }) => id).sort()).toEqual(['m1', 'm2', 'm3', 'm4', 'm5'])
  })
})

describe('means', () => {
  const judgedOf = (values: readonly (readonly [string, string, number])[]): readonly Judged[] =>
    values.map(([conversation, category, recallAt10], at) => ({
      question: { id: `${at}`, conversation, category, text: '', gold: new Set() },
      ...{ recallAt10, hitAt10: 1, reciprocalRank: 1, recallInBudget: 1 },
    }))

  it('are over all questions, or over categories', () => {
    const judged = judgedOf([
      ['a', 'x', 1],
      ['a', 'x', 0.5],
      ['b', 'y', 0],
    ])
    expect(meanOf(judged, 'recallAt10')).toBe(0.5)
    expect([...byCategory(judged).keys()]).toEqual(['x', 'y'])
  })
})

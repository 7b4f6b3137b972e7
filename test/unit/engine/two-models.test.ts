/** Two models in one store: an English one, and one that knows Spanish and English. */
import { describe, expect, it } from 'vitest'
import type { Embedder, EmbeddingModel } from '../../../src/embed/embedder.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import type { EngineOptions } from '../../../src/engine/options.ts'
import type { Page } from '../../../src/model/page.ts'
import { callOperation, makeCatalog } from '../../../src/ops/catalog.ts'
import { isStopWord } from '../../../src/text/stopwords.ts'
import { tokenise } from '../../../src/text/tokenise.ts'
import { failingEmbedder } from '../../support/embedders.ts'
import { idsOf, noteCodes, openTestEngine } from '../../support/engines.ts'
import { openToyEmbedder, TOY_MODEL } from '../../support/toy-embedder.ts'

const ENGLISH: EmbeddingModel = { ...TOY_MODEL, id: 'toy-english', languages: ['en'] }
const SPREAD = [-0.2, -0.15, -0.1, -0.05, 0, 0.05, 0.1, 0.15, 0.2, 0.3]
const MANY: EmbeddingModel = {
  ...TOY_MODEL,
  ...{ id: 'toy-many', hash: 'many', dimensions: 96, languages: ['en', 'es'] },
  languagePairs: {
    across: { wordShare: 0.25, refused: { base: 0.1, slope: 0.05 }, answered: { base: 0.2, slope: 0.1 } },
    pairs: {},
    unrelated: { same: SPREAD, across: SPREAD },
  },
}
/** What the second model knows to mean the same. */
const WORDS = [
  ['cat', 'gato'],
  ['kitchen', 'cocina'],
  ['volcano', 'volcan'],
  ['island', 'isla'],
  ['eats', 'come'],
  ['fish', 'pescado'],
]

const NOTES = {
  cat: 'The cat eats the fish that was left in the kitchen.',
  fire: 'The volcano of the island was quiet for a hundred years.',
  tax: 'How to file the tax report before the end of March.',
  gato: 'El gato come el pescado que estaba en la cocina.',
  rio: 'El río de la ciudad lleva mucha agua en el invierno.',
}

/** Looks at the words that say something. */
function reader(model: EmbeddingModel, groups: readonly (readonly string[])[]): Embedder {
  const inner = openToyEmbedder(model, groups)
  const telling = (text: string) =>
    tokenise(text)
      .map(({ term }) => term)
      .filter(term => !isStopWord(term, 'en') && !isStopWord(term, 'es'))
      .join(' ')
  return { ...inner, embed: (texts, ...rest) => inner.embed(texts.map(telling), ...rest) }
}

type AskedAnswer = Pick<Page, 'verdict' | 'notes'> & { readonly messages: readonly { readonly text: string }[] }

async function open(names: readonly (keyof typeof NOTES)[], options: EngineOptions): Promise<Engine> {
  const engine = await openTestEngine({ embedder: reader(ENGLISH, []), ...options })
  for (const id of names) await engine.put({ entries: [{ id, title: '', content: NOTES[id] }], wait: true })
  await engine.embedded()
  return engine
}

const second = { multilingual: reader(MANY, WORDS) }
const ENGLISH_NOTES = ['cat', 'fire', 'tax'] as const
const ALL = Object.keys(NOTES) as (keyof typeof NOTES)[]

describe('a store with a second model', () => {
  it('answers a Spanish query from English notes', async () => {
    await using engine = await open(ENGLISH_NOTES, second)
    const page = await engine.query({ text: '¿dónde está el volcán de la isla?' })
    expect(idsOf(page)[0]).toBe('fire')
    expect(page).toMatchObject({ verdict: 'answered', verdict_by: 'meaning', mode: 'hybrid' })
    expect(noteCodes(page)).toEqual([])
  })

  it('answers an English query from Spanish notes among English ones, on one scale', async () => {
    await using engine = await open(['fire', 'tax', 'gato', 'rio'], second)
    const page = await engine.query({ text: 'what is it that the cat eats in the kitchen' })
    expect(idsOf(page)[0]).toBe('gato')
    expect(page.verdict).toBe('answered')
    expect(noteCodes(page)).toEqual([])
  })

  it('holds what the second model finds against its own bars', async () => {
    const bars = { wordShare: 0, refused: { base: 0.1, slope: 0 }, answered: { base: 1.1, slope: 0 } }
    const model = {
      ...MANY,
      calibration: bars,
      languagePairs: { across: bars, pairs: {}, unrelated: { same: SPREAD, across: SPREAD } },
    }
    await using engine = await open(['fire', 'tax', 'gato', 'rio'], { multilingual: reader(model, WORDS) })
    const page = await engine.query({ text: 'what is it that the cat eats in the kitchen' })
    expect([idsOf(page)[0], page.verdict]).toEqual(['gato', 'weak'])
  })

  it('compares a Spanish query with English and Spanish notes alike', async () => {
    await using engine = await open(ALL, second)
    const page = await engine.query({ text: '¿qué come el gato en la cocina?' })
    expect(idsOf(page).slice(0, 2).toSorted()).toEqual(['cat', 'gato'])
  })

  it('refuses a Spanish query on a foreign subject by the bars of its languages', async () => {
    await using engine = await open(ENGLISH_NOTES, second)
    const page = await engine.query({ text: '¿cuándo nació el emperador de los romanos?' })
    expect(page.verdict).not.toBe('answered')
  })

  it.each(['what does the cat eat in the kitchen', 'tax report', 'cat^2 kitchen', 'what is the capital of France'])(
    'answers %s from English notes as without it, also where others have foreign ones',
    async text => {
      await using one = await open(ENGLISH_NOTES, {})
      await using two = await open(ENGLISH_NOTES, second)
      await two.put({
        entries: [{ id: 'gato', title: '', content: NOTES.gato, visibility: 'private' }],
        wait: true,
      })
      const viewer = { id: 'ana', groups: [] }
      for (const engine of [one, two]) {
        const entries = ENGLISH_NOTES.map(id => ({ id, title: '', content: NOTES[id] }))
        await engine.put({ entries, wait: true }, { viewer })
      }
      expect(await two.query({ text }, { viewer })).toEqual(await one.query({ text }, { viewer }))
    },
  )

  it('pages through entries of both models without repeating any', async () => {
    await using engine = await open(ALL, second)
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await engine.query({
        text: 'the cat in the kitchen',
        any: true,
        limit: 2,
        ...(cursor && { cursor }),
      })
      seen.push(...idsOf(page))
      cursor = page.cursor ?? undefined
    } while (cursor !== undefined)
    expect(seen.toSorted()).toEqual(ALL.toSorted())
  })

  it.each([
    ['gato', 'cat'],
    ['cat', 'gato'],
  ])('finds what is similar to %s in the other language: %s', async (id, expected) => {
    await using engine = await open(ALL, second)
    const page = await engine.similar({ id })
    expect(idsOf(page)[0]).toBe(expected)
    expect(page.mode).toBe('meaning')
    expect(noteCodes(page)).toEqual([])
  })

  it('finds what is similar to an English note as without it, also where others have foreign ones', async () => {
    await using one = await open(ENGLISH_NOTES, {})
    await using two = await open(ENGLISH_NOTES, second)
    await two.put({ entries: [{ id: 'gato', title: '', content: NOTES.gato, visibility: 'private' }], wait: true })
    const viewer = { id: 'ana', groups: [] }
    for (const engine of [one, two]) {
      const entries = ENGLISH_NOTES.map(id => ({ id, title: '', content: NOTES[id] }))
      await engine.put({ entries, wait: true }, { viewer })
    }
    expect(await two.similar({ id: 'cat' }, { viewer })).toEqual(await one.similar({ id: 'cat' }, { viewer }))
  })

  it('recalls a message of another language than the query', async () => {
    await using engine = await openTestEngine({ embedder: reader(ENGLISH, []), ...second })
    const call = { viewer: { id: 'owner', groups: [] }, signal: new AbortController().signal }
    const catalog = makeCatalog(engine)
    for (const id of ALL) {
      const message = { text: NOTES[id], conversation: 'c', speaker: 'Ana', id, wait: true }
      await callOperation(catalog, engine, 'conversations.remember', message, call)
    }
    await engine.embedded()
    const ask = async (text: string) =>
      (await callOperation(catalog, engine, 'conversations.query', { text }, call)) as AskedAnswer
    const spanish = await ask('¿dónde está el volcán de la isla?')
    expect(spanish.messages[0]?.text).toBe(NOTES.fire)
    expect(spanish.verdict).not.toBe('nothing_relevant')
    expect(spanish.notes).toEqual([])
    const english = await ask('what is it that the cat eats in the kitchen')
    expect(english.messages.slice(0, 2).map(({ text }) => text)).toContain(NOTES.gato)
  })

  it('answers from the first model, and says so, where the second fails', async () => {
    let isDown = false
    const multilingual = failingEmbedder(second.multilingual, () => isDown)
    await using engine = await open(['cat', 'gato'], { multilingual })
    isDown = true
    const page = await engine.query({ text: 'the cat in the kitchen' })
    expect(idsOf(page)[0]).toBe('cat')
    expect(noteCodes(page)).toContain('one_model')
  })
})

describe('a store with an English model alone', () => {
  it('answers a Spanish query by words, and says how to get another model', async () => {
    await using engine = await open(ALL, {})
    const page = await engine.query({ text: '¿qué come el gato en la cocina?' })
    expect(idsOf(page)[0]).toBe('gato')
    expect(page).toMatchObject({ mode: 'words', verdict_by: 'words' })
    expect(page.notes.find(({ code }) => code === 'other_language')?.message).toContain('querent model use')
  })

  it('says so too where the first result is in another language', async () => {
    await using engine = await open(['gato', 'rio'], {})
    const page = await engine.query({ text: 'gato pescado', any: true })
    expect(idsOf(page)[0]).toBe('gato')
    expect(noteCodes(page)).toEqual(['other_language'])
  })

  it('says so where the entry of a query for similar ones is in another language', async () => {
    await using engine = await open(ALL, {})
    const page = await engine.similar({ id: 'gato' })
    expect(page.mode).toBe('words')
    expect(noteCodes(page)).toEqual(['other_language'])
  })

  it('says nothing of it for English queries and notes, and for queries by meaning alone', async () => {
    await using engine = await open(ENGLISH_NOTES, {})
    expect(noteCodes(await engine.query({ text: 'the cat in the kitchen' }))).toEqual([])
    const page = await engine.query({ text: '¿qué come el gato en la cocina?', mode: 'meaning' })
    expect(page.mode).toBe('meaning')
  })
})

/** `explain` gives the score and the rank of the answer that it explains, in every lens of the pipeline. QE-014. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SettableClock } from '../../../src/base/clock.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { recompute } from '../../../src/model/explanation.ts'
import type { Page } from '../../../src/model/page.ts'
import type { QueryInput } from '../../../src/model/query-input.ts'
import { call } from '../../support/conversations.ts'
import { openTestEngine, TEST_NOW } from '../../support/engines.ts'
import { FAR, NEAR, openWorld, TAGS } from '../../support/open-chroma-world.ts'
import { openToyEmbedder } from '../../support/toy-embedder.ts'

const WORDS = ['fox', 'dog', 'rain', 'road', 'garden', 'tulip', 'wine', 'cloud', 'vixen', 'honey']
/** Of each kind; more than a first retrieval brings, so that later pages are of a second one. */
const ENTRIES = 90
const PAGES = 8

/** Three to seven words, others for each number; every third has `fox` besides. */
function textOf(at: number): string {
  const words = Array.from(
    { length: 3 + (at % 5) },
    (_, place) => WORDS[(at * 7 + place * (1 + (at % 4))) % WORDS.length],
  )
  return `${words.join(' ')}${at % 3 === 0 ? ' fox' : ''} ${at}`
}

/** Entries `from` to `to` of each kind. */
async function fill(engine: Engine, from: number, to: number): Promise<void> {
  const numbers = Array.from({ length: to - from }, (_, at) => from + at)
  await engine.put({ entries: numbers.map(at => ({ id: `n${at}`, content: textOf(at), tags: at % 2 ? ['odd'] : [] })) })
  await engine.put({
    entries: numbers.map(at => ({
      id: `c${at}`,
      collection: 'c64',
      content: textOf(at + 3),
      tags: at % 2 ? ['odd'] : [],
    })),
  })
  if (from === 0) {
    await engine.context.bodyInit()
    await engine.context.mindInit()
  }
  const concepts = numbers.map(at => ({ name: textOf(at + 4), type: 'Class' }))
  await engine.context.mindConceptsCreateMany({ concepts })
  await call(engine, 'beliefs.put', { beliefs: numbers.map(at => ({ content: textOf(at + 1) })), wait: false })
  for (const at of numbers) {
    const said = {
      conversation: at % 7 === 0 ? 'short' : 'long',
      speaker: at % 2 ? 'Mira' : 'Tom',
      text: textOf(at + 2),
    }
    await call(engine, 'conversations.remember', { ...said, id: `m${at}`, wait: false })
  }
}

async function opened(isWhole: boolean): Promise<Engine> {
  const engine = await openTestEngine({ clock, embedder: openToyEmbedder() })
  await fill(engine, 0, ENTRIES / 2)
  await engine.embedded()
  await fill(engine, ENTRIES / 2, ENTRIES)
  if (isWhole) await engine.embedded()
  return engine
}

const clock = new SettableClock(TEST_NOW)
/** Embedded as a whole, and by half. Uses that one test leaves behind are in both what the next asks and what explains it. */
let [whole, half] = [] as unknown as [Engine, Engine]
beforeAll(async () => {
  whole = await opened(true)
  half = await opened(false)
})
afterAll(() => Promise.all([whole.close(), half.close()]))

/** Each item of the page is explained by the question that was asked, without its cursor. */
async function expectExplained(engine: Engine, query: QueryInput, page: Page): Promise<void> {
  for (const { id, score, rank } of page.items) {
    const answer = await engine.explain({ query: { ...query, as_of: page.as_of }, id })
    expect({ id, score: answer.score, rank: answer.rank }).toEqual({ id, score, rank })
    if (answer.explanation !== null) expect(recompute(answer.explanation)).toBeCloseTo(score, 10)
  }
}

const LENSES = ['default', 'conversations', 'beliefs', 'context', 'c64'] as const

describe.each(LENSES)('the score that explain gives in the lens %s', lens => {
  it('is that of the answer, by words and meaning, and by either alone', async () => {
    for (const mode of ['hybrid', 'words', 'meaning'] as const) {
      const query: QueryInput = { text: 'fox garden', lens, mode, touch: false }
      const page = await whole.query(query)
      expect(page.items.length).toBeGreaterThan(0)
      await expectExplained(whole, query, page)
    }
  })

  it('is that of an answer with conditions', async () => {
    const conditions = { conversations: { fields: { 'conversations.speaker': 'Mira' } }, default: { tags: ['odd'] } }
    const filter = conditions[lens as keyof typeof conditions] ?? { created: { after: '2026-01-01' } }
    const query: QueryInput = { text: 'fox garden', lens, filter, touch: false }
    const page = await whole.query(query)
    expect(page.items.length).toBeGreaterThan(0)
    await expectExplained(whole, query, page)
  })

  it('is that of later pages', async () => {
    const query: QueryInput = { text: 'fox garden', lens, limit: 10, touch: false }
    let page = await whole.query(query)
    for (let at = 1; at < PAGES && page.cursor !== null; at++) {
      const next: QueryInput = { ...query, cursor: page.cursor }
      page = await whole.query(next)
      expect(page.items.length).toBeGreaterThan(0)
      await expectExplained(whole, query, page)
      for (const { id, score } of page.items) {
        // Also by the request of the page itself, and by one of pages of another size.
        expect(await whole.explain({ query: next, id })).toMatchObject({ score })
        expect(await whole.explain({ query: { ...query, limit: 3 }, id })).toMatchObject({ score })
      }
    }
  })

  it('is that of an answer over a store of which a half has no vector yet', async () => {
    const query: QueryInput = { text: 'fox garden', lens, limit: 30, touch: false }
    const page = await half.query(query)
    expect(page.coverage.embedded).toBeLessThan(1)
    expect(page.items.length).toBeGreaterThan(0)
    await expectExplained(half, query, page)
  })

  it('is that of an answer with entries that were used before, and by the answer itself', async () => {
    const query: QueryInput = { text: 'fox garden', lens, touch: true }
    for (let use = 0; use < 3; use++) {
      clock.set(clock.now() + 3_600_000)
      await expectExplained(whole, { ...query, touch: false }, await whole.query({ ...query, touch: false }))
      await whole.query(query)
    }
  })
})

// The lens has nodes of its own, and asks for a colour, which every node has.
describe('the score that explain gives in the lens chroma', () => {
  it('is that of the answer, with conditions, on later pages, and after nodes were used', async () => {
    await using world = await openWorld()
    for (let at = 0; at < ENTRIES; at++) {
      world.now += 3600
      await world.node({ hashtags: [TAGS, NEAR, FAR][at % 3] as readonly string[], label: `Node ${at}` })
    }
    const { engine } = world.chroma
    const query: QueryInput = { text: TAGS.join(' '), lens: 'chroma', limit: 10, touch: false }
    const narrowed: QueryInput = { ...query, filter: { created: { after: (world.now - 40 * 3600) * 1000 } } }
    for (let use = 0; use < 2; use++) {
      let page = await engine.query(query)
      await expectExplained(engine, query, page)
      for (let at = 1; at < PAGES && page.cursor !== null; at++) {
        page = await engine.query({ ...query, cursor: page.cursor })
        expect(page.items.length).toBeGreaterThan(0)
        await expectExplained(engine, query, page)
      }
      await expectExplained(engine, narrowed, await engine.query(narrowed))
      world.now += 86_400
      await engine.query({ ...query, touch: true })
    }
  })
})

describe('the score that the lens beliefs explains by its own operations', () => {
  it.each([true, false])('is that of its answer, all of it embedded: %s', async isWhole => {
    const engine = isWhole ? whole : half
    for (const filters of [{}, { min_confidence: 0.1 }]) {
      for (const offset of [0, 15]) {
        const query = { semantic: 'fox garden', filters, options: { limit: 15, offset } }
        const { beliefs } = await call(engine, 'beliefs.query', query)
        expect(beliefs).toHaveLength(15)
        for (const { belief, score, rank } of beliefs) {
          const answer = await call(engine, 'beliefs.explain', { query, belief_id: belief.id })
          expect({ rank: answer.rank, score: answer.score }).toEqual({ rank, score })
        }
      }
    }
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Explanation, recompute } from '../../../src/model/explanation.ts'
import { audience } from '../../../src/model/partition.ts'
import type { QueryInput } from '../../../src/model/query-input.ts'
import { knowledge, questions } from '../../support/ask-arbitraries.ts'
import type { AskWorld } from '../../support/ask-world.ts'
import { openWordsWorld, openWorld, smallWorld } from './world.ts'

const owners = fc.constant(audience('private'))

describe('every ranking', () => {
  it('falls in score, then rises in id; components add up, and leaves of explanations make the score', async () => {
    await fc.assert(
      fc.asyncProperty(knowledge(owners), questions(), async (all, question) => {
        const world = openWorld()
        await world.learn(all)
        const { page } = await world.ask({ ...question, any: true, explain: true, limit: 100 })
        for (const { score, components, explanation } of page.items) {
          expect(Math.abs(recompute(explanation as Explanation) - score)).toBeLessThan(1e-12)
          expect(explanation?.value).toBeCloseTo(score, 12)
          expect(Object.values(components).reduce((a, b) => a + b, 0)).toBeCloseTo(score, 12)
        }
        expect(page.items.map(item => item.rank)).toEqual(page.items.map((_, at) => at + 1))
        if (page.mode === 'list') return
        const places = page.items.map(({ score, id }) => [-score, id] as const)
        expect(places).toEqual([...places].sort(([a, x], [b, y]) => a - b || (x < y ? -1 : 1)))
      }),
      { numRuns: 80 },
    )
  })

  it('explains BM25 by the words that matched', async () => {
    const world = openWorld()
    world.put({ id: 'a', content: 'fox and dog and fox' })
    world.put({ id: 'b', content: 'rain on the road' })
    await world.embedAll()
    const { page } = await world.ask({ text: 'fox dog tulip', explain: true, any: true })
    const labels = (tree: Explanation): string[] => [tree.label, ...(tree.children ?? []).flatMap(labels)]
    const item = page.items[0]
    expect(item?.id).toBe('a')
    expect(labels(item?.explanation as Explanation)).toEqual(expect.arrayContaining(['BM25', 'fox', 'dog', 'cosine']))
    expect(labels(item?.explanation as Explanation)).not.toContain('tulip')
    expect(item?.why).toMatch(/^meaning 0\.\d\d \(cosine 0\.\d\d\) \+ words 0\.30 \((fox, dog|dog, fox)\)$/)
  })
})

describe('words and meaning', () => {
  it('find by meaning what shares no word', async () => {
    const world = openWorld()
    world.put({ id: 'wanted', content: 'a swift automobile' })
    world.put({ id: 'other', content: 'tulips in the garden' })
    await world.embedAll()
    const { page } = await world.ask({ text: 'quick car' })
    expect(page.items[0]).toMatchObject({ id: 'wanted', components: { words: 0 } })
    expect(page.verdict).toBe('answered')
  })

  it('count 0.3 and 0.7, or as asked', async () => {
    const world = openWorld()
    world.put({ id: 'a', content: 'fox' })
    await world.embedAll()
    const parts = async (input: object) => (await world.ask({ text: 'fox', ...input })).page.items[0]?.components
    expect(await parts({})).toMatchObject({ words: 0.3, meaning: expect.closeTo(0.7, 5) })
    expect(await parts({ meaning_weight: 0.25 })).toMatchObject({ words: 0.75, meaning: expect.closeTo(0.25, 5) })
    expect(await parts({ mode: 'words' })).toMatchObject({ words: 1, meaning: 0 })
    expect(await parts({ mode: 'meaning' })).toMatchObject({ words: 0, meaning: expect.closeTo(1, 5) })
  })

  describe('over code', () => {
    const QUESTION = 'parse the query'
    const wordsOf = async (world: AskWorld, input: QueryInput, viewer?: string) =>
      (await world.ask(input, viewer === undefined ? {} : { viewer: { id: viewer } })).page.items[0]?.components[
        'words'
      ]

    it('count 0.15 and 0.85 where all that is asked is code, by the filter or because the store holds nothing else', async () => {
      const world = openWorld()
      world.put({ id: 'a', kind: 'code', content: QUESTION })
      world.put({ id: 'b', kind: 'concept', content: QUESTION })
      await world.embedAll()
      expect(await wordsOf(world, { text: QUESTION })).toBe(0.15)
      world.put({ id: 'c', kind: 'note', content: QUESTION })
      await world.embedAll()
      expect(await wordsOf(world, { text: QUESTION, filter: { kinds: ['code'] } })).toBe(0.15)
      expect(await wordsOf(world, { text: `${QUESTION} kind:code`, filter: { kinds: ['code', 'note'] } })).toBe(0.15)
      expect(await wordsOf(world, { text: QUESTION, filter: { kinds: ['note'] } })).toBe(0.3)
    })

    it('count between prose and code by the share of code, which the explanation and the trace name', async () => {
      const world = openWorld()
      world.put({ id: 'a', kind: 'code', content: QUESTION })
      for (const id of ['b', 'c', 'd']) world.put({ id, kind: 'note', content: QUESTION })
      await world.embedAll()
      const { page } = await world.ask({ text: QUESTION, explain: true })
      for (const { components, explanation } of page.items) {
        expect(components['words']).toBe(0.2625)
        expect(JSON.stringify(explanation)).toContain('{"label":"weight of words","value":0.2625')
      }
      expect((await world.explain({ text: QUESTION }, { id: 'a' })).score).toBe(page.items[0]?.score)
    })

    it('count as in prose where the question has an identifier, and as asked where it says so', async () => {
      const world = openWorld()
      world.put({ id: 'a', kind: 'code', content: QUESTION })
      await world.embedAll()
      for (const text of ['parseQuery', 'parse_query', 'parse.query', 'parse()']) {
        expect(await wordsOf(world, { text: `${text} query parse` })).toBe(0.3)
      }
      expect(await wordsOf(world, { text: QUESTION, meaning_weight: 0.5 })).toBe(0.5)
    })

    it('count the same whatever code or prose is hidden from the viewer', async () => {
      const world = openWorld()
      world.put({ id: 'a', kind: 'code', content: QUESTION, audience: audience('private', 'ana', []) })
      await world.embedAll()
      expect(await wordsOf(world, { text: QUESTION }, 'ana')).toBe(0.15)
      for (const id of ['b', 'c', 'd'])
        world.put({ id, kind: 'note', content: QUESTION, audience: audience('private', 'ben', []) })
      await world.embedAll()
      expect(await wordsOf(world, { text: QUESTION }, 'ana')).toBe(0.15)
      expect(await wordsOf(world, { text: QUESTION }, 'ben')).toBe(0.3)
    })
  })

  it('score an entry alike however deep retrieval goes', async () => {
    const world = openWorld()
    for (let number = 0; number < 150; number++) {
      world.put({ id: `e${number}`, content: `fox ${'rain '.repeat(number % 7)}${number} dog${number % 11}` })
    }
    await world.embedAll()
    const ask = async (limit: number) => (await world.ask({ text: 'fox dog3 rain', limit })).page.items
    const [few, many] = [await ask(10), await ask(150)]
    expect(many.length).toBe(150)
    const scores = new Map(many.map(item => [item.id, item.score]))
    expect(few.map(item => scores.get(item.id))).toEqual(few.map(item => item.score))
  })

  it('give an entry without a vector the cosine that is expected of its words, and say so', async () => {
    const world = openWorld()
    world.put({ id: 'near', content: 'fox' })
    world.put({ id: 'far', content: 'rain' })
    await world.embedAll()
    world.put({ id: 'fresh', content: 'fox dog' })
    const { page } = await world.ask({ text: 'fox', explain: true, any: true })
    const [near, fresh] = ['near', 'fresh'].map(id => page.items.find(item => item.id === id))
    const share = (near?.components['words'] ?? 0) / 0.3
    const cosine = (near?.components['meaning'] ?? 0) / 0.7
    const base = (cosine - 0.45 * share + 2 * 0.2) / 3
    const freshShare = (fresh?.components['words'] ?? 0) / 0.3
    expect(fresh?.components['meaning']).toBeCloseTo(0.7 * (base + 0.45 * freshShare), 10)
    expect(fresh?.components['words']).toBeGreaterThan(0)
    expect(JSON.stringify(fresh?.explanation)).toContain('no vector yet')
    expect(page.coverage.embedded).toBeCloseTo(2 / 3, 10)
    expect(page.notes.map(note => note.code)).toContain('partly_embedded')
  })

  it('become words alone without an embedder, which the answer says', async () => {
    const world = openWordsWorld()
    world.put({ id: 'a', content: 'fox' })
    const { page } = await world.ask({ text: 'fox' })
    expect(page).toMatchObject({ mode: 'words', items: [{ id: 'a', score: 1 }], notes: [{ code: 'words_only' }] })
    await expect(world.ask({ text: 'fox', mode: 'meaning' })).rejects.toMatchObject({ code: 'embedder_failed' })
  })
})

describe('use', () => {
  const DAY_MS = 86_400_000
  const now = Date.UTC(2026, 0, 1)

  function twins() {
    const world = openWorld()
    const keys = ['a', 'b'].map(id => world.put({ id, content: 'fox' }))
    return { world, keys }
  }

  it('lifts an entry by the worked 2.5 % when it was used 4 times, last 30 days ago', async () => {
    const { world, keys } = twins()
    const state = { lastAccessed: now - 30 * DAY_MS, count: 4, strength: 4 }
    world.parts.store.write(now, writer => writer.setAccess({ id: 'owner' }, keys[1] as number, state))
    const { page } = await world.ask({ text: 'fox', mode: 'words' })
    expect(page.items.map(item => [item.id, item.score])).toEqual([
      ['b', 1.025],
      ['a', 1],
    ])
    expect(page.items[0]?.why).toBe('words 1.00 (fox), used 4 times')
  })

  it('never lifts by more than a tenth, and only for the viewer who used it', async () => {
    const { world, keys } = twins()
    const state = { lastAccessed: now, count: 9, strength: 1e9 }
    world.parts.store.write(now, writer => writer.setAccess({ id: 'ann' }, keys[1] as number, state))
    const scoreOf = async (input: object) =>
      (await world.ask({ text: 'fox', mode: 'words', ...input })).page.items[0]?.score
    expect(await scoreOf({})).toBe(1)
    world.parts.store.write(now, writer => writer.setAccess({ id: 'owner' }, keys[1] as number, state))
    expect(await scoreOf({})).toBeCloseTo(1.1, 6)
    expect(await scoreOf({})).toBeLessThanOrEqual(1.1)
    expect(await scoreOf({ memory: false })).toBe(1)
  })

  it('does not make worse what is opposite to the question', async () => {
    const world = openWorld()
    await world.learn([])
    const all = ['rain', 'road', 'garden', 'tulip', 'dog'].map(word => world.put({ id: word, content: word }))
    await world.embedAll()
    const before = (await world.ask({ text: 'fox', any: true })).page.items
    expect(before.some(item => item.score < 0)).toBe(true)
    const state = { lastAccessed: now, count: 1, strength: 9 }
    world.parts.store.write(now, writer => {
      for (const key of all) writer.setAccess({ id: 'owner' }, key, state)
    })
    const after = (await world.ask({ text: 'fox', any: true })).page.items
    for (const item of after) {
      expect(item.score).toBeGreaterThanOrEqual(before.find(({ id }) => id === item.id)?.score as number)
    }
  })
})

describe('similar', () => {
  it('finds by vectors what is like an entry, and not the entry itself', async () => {
    const world = await smallWorld()
    const [key] = world.parts.store.find('meaning', world.context({ text: 'x' }).accessScope.partitions)
    const { page } = await world.similar(key as number)
    expect(page.items.map(item => item.id)).toEqual(['words'])
    expect(page).toMatchObject({ mode: 'meaning', verdict: 'answered' })
  })

  it('asks with the rarest words where there is no vector', async () => {
    const world = await smallWorld()
    const key = world.put({ id: 'fresh', content: 'the dog and the dog' })
    const { page } = await world.similar(key)
    expect(page.items.map(item => item.id)).toEqual(['words'])
    expect(page).toMatchObject({ mode: 'words', notes: [{ code: 'words_only' }] })
  })
})

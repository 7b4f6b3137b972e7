import { describe, expect, it } from 'vitest'
import type { EmbeddingModel } from '../../../src/embed/embedder.ts'
import type { AskWorld } from '../../../src/testing/ask-world.ts'
import { TOY_MODEL } from '../../../src/testing/toy-embedder.ts'
import { openWordsWorld, openWorld } from './world.ts'

const TOPICS = ['fox den', 'dog house', 'car road', 'tulip garden', 'rain cloud', 'wine grape']

async function knowingWorld(): Promise<AskWorld> {
  const world = openWorld()
  for (let number = 0; number < 60; number++) {
    world.put({ id: `e${number}`, content: `${TOPICS[number % 6]} number${number} word${number * 3}` })
  }
  await world.embedAll()
  return world
}

const foreign = { text: 'quantum lattice superconductors entangle bosons' }

describe('nothing relevant', () => {
  it('is said of a foreign question, with the numbers, and without results', async () => {
    const { page } = await (await knowingWorld()).ask(foreign)
    expect(page).toMatchObject({ verdict: 'nothing_relevant', items: [], cursor: null })
    expect(page.reason).toMatch(
      /^Nothing on this subject is known here \(evidence 0\.\d\d, needed 0\.32 among 60 passages\)\.$/,
    )
  })

  it('is still said when the nearest are asked for all the same', async () => {
    const { page } = await (await knowingWorld()).ask({ ...foreign, any: true })
    expect(page.verdict).toBe('nothing_relevant')
    expect(page.items.length).toBe(10)
  })

  it('is not said of a known subject', async () => {
    const { page } = await (await knowingWorld()).ask({ text: 'the den of a vixen' })
    expect(page).toMatchObject({ verdict: 'answered', reason: null })
    expect(page.items[0]?.excerpt.text).toContain('fox den')
  })

  it('is not said where one passage has all the words, or the question’s demands are met', async () => {
    const world = await knowingWorld()
    // Vectors that say nothing: what is left are the words.
    const blind = { ...TOY_MODEL, calibration: { ...(TOY_MODEL.calibration as object), base: 2 } } as EmbeddingModel
    const ask = async (text: string) =>
      (await world.ask({ text }, { twist: context => ({ ...context, model: blind }) })).page
    expect(await ask('number7')).toMatchObject({
      verdict: 'weak',
      items: expect.arrayContaining([expect.objectContaining({ id: 'e7' })]),
    })
    expect((await ask('number7 bosons')).verdict).toBe('nothing_relevant')
    expect((await ask('bosons +number7')).verdict).toBe('weak')
    expect((await ask('bosons "dog house"')).verdict).toBe('weak')
  })

  it('is not said while passages that have the words lack a vector', async () => {
    const world = await knowingWorld()
    for (let number = 0; number < 3; number++)
      world.put({ id: `late${number}`, content: `zebra stripes late${number}` })
    const text = 'zebra stripes grow'
    expect((await world.ask({ text })).page).toMatchObject({ verdict: 'weak', coverage: { embedded: 60 / 63 } })
    await world.embedAll()
    expect((await world.ask({ text })).page.verdict).toBe('answered')
  })

  it('is never said by an embedder that was not calibrated', async () => {
    const world = await knowingWorld()
    const { page } = await world.ask(foreign, {
      twist: context => ({ ...context, model: { ...TOY_MODEL, calibration: null } }),
    })
    expect(page).toMatchObject({ verdict: 'answered', reason: null })
  })

  it('tells apart what has no vector yet from what is not there', async () => {
    const world = openWorld()
    const reason = async (mode: 'hybrid' | 'words' | 'meaning') =>
      (await world.ask({ text: 'zebra stripes', mode })).page.reason
    for (const mode of ['hybrid', 'words', 'meaning'] as const) {
      expect(await reason(mode)).toBe('There is nothing to search yet.')
    }
    world.put({ id: 'late', content: 'Rain at night.' })
    expect(await reason('hybrid')).toBe('None of the words of the question occur.')
    expect(await reason('words')).toBe('None of the words of the question occur.')
    expect(await reason('meaning')).toBe('No passage has a vector yet.')
  })

  it('has a bar that grows with the passages that pass the conditions', async () => {
    const world = await knowingWorld()
    const { page } = await world.ask({ ...foreign, filter: { ids: ['e1', 'e2'] } })
    expect(page.reason).toContain('needed 0.29 among 2 passages')
  })

  it('is said where nothing fulfils the conditions, and in an empty store', async () => {
    const world = await knowingWorld()
    const condition = await world.ask({ text: 'fox den', filter: { tags: ['none'] } })
    expect(condition.page).toMatchObject({
      verdict: 'nothing_relevant',
      reason: 'Nothing fulfils the conditions of the question.',
    })
    const phrase = await world.ask({ text: 'fox "den fox"', phrase: 'require' })
    expect(phrase.page).toMatchObject({ verdict: 'nothing_relevant', reason: 'No entry contains "den fox".' })
    expect((await openWorld().ask({ text: 'fox' })).page).toMatchObject({ verdict: 'nothing_relevant', items: [] })
  })
})

describe('words alone', () => {
  it('refuse only when no word occurs, and are weak when little of the question does', async () => {
    const world = openWordsWorld()
    for (const [at, topic] of TOPICS.entries()) world.put({ id: `e${at}`, content: `${topic} weather` })
    const verdict = async (text: string) => (await world.ask({ text })).page.verdict
    expect(await verdict('bosons')).toBe('nothing_relevant')
    expect(await verdict('weather in superconducting quantum lattices of bosons')).toBe('weak')
    expect(await verdict('fox weather')).toBe('answered')
  })
})

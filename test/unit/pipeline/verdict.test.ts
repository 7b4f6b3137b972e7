import { describe, expect, it } from 'vitest'
import { Deadline } from '../../../src/base/clock.ts'
import type { Calibration, EmbeddingModel } from '../../../src/embed/embedder.ts'
import { barAt } from '../../../src/math/evidence.ts'
import { judgeEvidence } from '../../../src/pipeline/verdict.ts'
import type { AskWorld } from '../../support/ask-world.ts'
import { TOY_MODEL } from '../../support/toy-embedder.ts'
import { openWordsWorld, openWorld } from './world.ts'

/** Bars that no cosine reaches. */
const BLIND = { wordShare: 0.25, refused: { base: 2, slope: 0 }, answered: { base: 3, slope: 0 } }

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
      /^Nothing on this subject is known here \(evidence 0\.\d\d, needed 0\.31 among 60 passages\)\.$/,
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
    const blind = { ...TOY_MODEL, calibration: BLIND } as EmbeddingModel
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
    expect(await reason('hybrid')).toMatch(/^None of the words of the query occur\. Passages were not compared/)
    expect(await reason('words')).toBe('None of the words of the query occur.')
    expect(await reason('meaning')).toBe('No passage has a vector yet.')
  })

  it('has a bar that grows with the passages that pass the conditions', async () => {
    const world = await knowingWorld()
    const { page } = await world.ask({ ...foreign, filter: { ids: ['e1', 'e2'] } })
    expect(page.reason).toContain('needed 0.28 among 2 passages')
  })

  it('is not said of what was found before entries of other subjects came in (QE-021)', async () => {
    const world = openWorld()
    for (const [at, topic] of TOPICS.entries()) world.put({ id: `e${at}`, content: topic })
    await world.embedAll()
    const asked = ['the den of a vixen', 'fox', 'tulip garden in the rain', 'a house for the dog', 'grape harvest']
    const found = async () => {
      const verdicts: string[] = []
      for (const text of asked) verdicts.push((await world.ask({ text })).page.verdict)
      return verdicts
    }
    expect(await found()).not.toContain('nothing_relevant')
    for (const size of [100, 1_000, 3_000]) {
      for (let at = size / 10; at < size; at++)
        world.put({ id: `s${at}`, content: `strange${at} matter${at * 7} of ${at % 13}` })
      await world.embedAll()
      expect(await found(), `${size} strangers`).not.toContain('nothing_relevant')
    }
    expect((await world.ask(foreign)).page.verdict).toBe('nothing_relevant')
  })

  it('is said where nothing fulfils the conditions, and in an empty store', async () => {
    const world = await knowingWorld()
    const condition = await world.ask({ text: 'fox den', filter: { tags: ['none'] } })
    expect(condition.page).toMatchObject({
      verdict: 'nothing_relevant',
      reason: 'No entry matches these filters.',
    })
    const unknown = await world.ask({ text: 'fox den', filter: { collections: ['nonesuch', 'letters'] } })
    expect(unknown.page).toMatchObject({
      verdict: 'nothing_relevant',
      reason: expect.stringMatching(
        /^No visible entry is in the collection "nonesuch" or "letters"\. There are entries in "/,
      ),
    })
    const phrase = await world.ask({ text: 'fox "den fox"', phrase: 'require' })
    expect(phrase.page).toMatchObject({ verdict: 'nothing_relevant', reason: 'No entry contains "den fox".' })
    expect((await openWorld().ask({ text: 'fox' })).page).toMatchObject({ verdict: 'nothing_relevant', items: [] })
  })
})

describe('a question that could not be compared by meaning', () => {
  const never = () => new Promise<never>(() => {})
  const late = { twist: (context: ReturnType<AskWorld['context']>) => ({ ...context, embed: never }) }

  it('is answered by words, and nothing is called unknown for lack of time (QE-005)', async () => {
    const world = await knowingWorld()
    const ask = async (text: string, more: object = {}) =>
      (await world.ask({ text, ...more }, { ...late, deadline: new Deadline(200) })).page
    expect(await ask('bosons')).toMatchObject({
      ...{ verdict: 'weak', verdict_by: 'words', mode: 'words', items: [], notes: [{ code: 'meaning_late' }] },
      reason: expect.stringMatching(/were not compared by meaning\.$/),
    })
    expect(await ask('fox den')).toMatchObject({ verdict: 'answered', verdict_by: 'words', reason: null })
    // What was found out without meaning is said all the same.
    expect(await ask('fox "den fox"', { phrase: 'require' })).toMatchObject({
      verdict: 'nothing_relevant',
      reason: 'No entry contains "den fox".',
    })
  })

  it('is judged by words while many passages have no vector, and by meaning once they have (QE-005)', async () => {
    const world = await knowingWorld()
    for (let number = 0; number < 20; number++)
      world.put({ id: `late${number}`, content: `zebra stripes late${number}` })
    const ask = async (text: string) => (await world.ask({ text })).page
    expect(await ask('bosons entangle')).toMatchObject({ verdict: 'weak', verdict_by: 'words', mode: 'hybrid' })
    expect(await ask('the den of a vixen')).toMatchObject({ verdict: 'answered', verdict_by: 'meaning' })
    await world.embedAll()
    expect(await ask('bosons entangle')).toMatchObject({ verdict: 'nothing_relevant', verdict_by: 'meaning' })
  })

  it('is called nothing relevant by words where words are all that was asked (QE-005)', async () => {
    const page = async (mode: 'words' | 'hybrid') => (await (await knowingWorld()).ask({ text: 'bosons', mode })).page
    expect(await page('words')).toMatchObject({ verdict: 'nothing_relevant', verdict_by: 'words', nearest: [] })
    expect(await page('hybrid')).toMatchObject({ verdict: 'nothing_relevant', verdict_by: 'meaning' })
  })
})

describe('an answer of nothing relevant', () => {
  it('carries what came nearest outside the items, with its scores, and counts it as no use (QE-005)', async () => {
    const world = await knowingWorld()
    const answer = await world.ask(foreign)
    const { nearest = [], items } = answer.page
    expect([items, answer.entries]).toEqual([[], []])
    expect(nearest.map(({ rank }) => rank)).toEqual([1, 2, 3])
    const any = (await world.ask({ ...foreign, any: true })).page
    expect(nearest).toEqual(any.items.slice(0, 3))
    expect(any.nearest).toBeUndefined()
    expect((await world.ask({ ...foreign, limit: 1 })).page.nearest).toHaveLength(1)
    expect((await world.ask({ text: 'the den of a vixen' })).page.nearest).toBeUndefined()
  })
})

describe('the figures of a reason (QE-006)', () => {
  const calibration = TOY_MODEL.calibration as Calibration
  const judge = (evidence: number, rows: number) => judgeEvidence(evidence, calibration, rows, () => true)

  it('agree with the verdict, also where they are equal as they are shown', () => {
    const verdicts = new Set<string>()
    for (let thousandths = 0; thousandths <= 1000; thousandths++) {
      for (const rows of [1, 30, 61, 800, 14_361]) {
        const { verdict, reason } = judge(thousandths / 1000, rows)
        verdicts.add(verdict)
        if (verdict === 'answered') continue
        const [, found, needed] = /\(evidence ([\d.]+), needed ([\d.]+) among \d+ passages\)/.exec(reason ?? '') ?? []
        expect(Number(found)).toBeLessThan(Number(needed))
      }
    }
    expect([...verdicts].sort()).toEqual(['answered', 'nothing_relevant', 'weak'])
    const needed = barAt(30, calibration.answered)
    expect(judge(needed - 0.004, 30).verdict).toBe(
      Number(needed.toFixed(2)) <= Number((needed - 0.004).toFixed(2)) ? 'answered' : 'weak',
    )
  })

  it('name the bar of an answer where little evidence is kept from being called nothing relevant', () => {
    const { verdict, reason } = judgeEvidence(0.05, calibration, 100, () => false)
    expect(verdict).toBe('weak')
    expect(reason).toBe(
      `There is little evidence for these results (evidence 0.05, needed ${barAt(100, calibration.answered).toFixed(2)} among 100 passages).`,
    )
  })
})

describe('words alone', () => {
  it('refuse where no word occurs or a passage holds too little of the query, and are weak where it holds some (QE-005)', async () => {
    const world = openWordsWorld()
    for (const [at, topic] of TOPICS.entries()) world.put({ id: `e${at}`, content: `${topic} weather` })
    const ask = async (text: string) => (await world.ask({ text })).page
    expect(await ask('bosons')).toMatchObject({ verdict: 'nothing_relevant', verdict_by: 'words' })
    const little = await ask('weather in superconducting quantum lattices of bosons')
    expect(little).toMatchObject({ verdict: 'nothing_relevant', verdict_by: 'words', items: [] })
    expect(little.reason).toMatch(
      /^Nothing on this subject is known here \(evidence 0\.1\d, needed 0\.20 among 6 passages\)\.$/,
    )
    expect(little.nearest).toHaveLength(3)
    expect(await ask('fox bosons quantum')).toMatchObject({ verdict: 'weak', verdict_by: 'words' })
    expect((await ask('fox weather')).verdict).toBe('answered')
    expect((await ask('weather')).verdict).not.toBe('nothing_relevant')
  })
})

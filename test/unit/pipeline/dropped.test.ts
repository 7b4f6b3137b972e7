import { describe, expect, it } from 'vitest'
import { Deadline } from '../../../src/base/clock.ts'
import { audience } from '../../../src/model/partition.ts'
import type { AskWorld } from '../../support/ask-world.ts'
import { openToyEmbedder } from '../../support/toy-embedder.ts'
import { openWorld, smallWorld } from './world.ts'

describe('why an entry is not there', () => {
  it.each([
    { text: 'fox tag:red', id: 'meaning', stage: 'filter', reason: 'It does not match the condition on tag.' },
    { text: 'fox +dog', id: 'meaning', stage: 'must', reason: 'It does not contain "dog".' },
    { text: 'fox "dog fox"', id: 'words', stage: 'phrase', reason: 'It does not contain "dog fox".' },
    { text: 'fox -dog', id: 'words', stage: 'exclusion', reason: 'It contains "dog", which the query excludes.' },
    { text: 'fox tulip vixen', id: 'neither', stage: 'page', reason: 'It has rank 3; the page ends at 2.' },
    {
      text: 'fox',
      id: 'neither',
      stage: 'score',
      reason: 'It contains no word of the query, and its meaning is no nearer than by chance.',
    },
    { text: 'quantum lattice bosons', id: 'words', stage: 'verdict', reason: /^Nothing on this subject/ },
  ])('$stage: $text', async ({ text, id, stage, reason }) => {
    const world = await smallWorld()
    const { dropped, sentence } = await world.explain({ text, phrase: 'require', limit: 2 }, { id })
    expect(dropped).toMatchObject({ stage, reason: expect.stringMatching(reason) })
    expect(sentence).toBe(`"${id}" is not among the results: ${dropped?.reason}`)
  })

  it('validity', async () => {
    const world = await smallWorld()
    world.put({ id: 'over', content: 'fox', validUntil: 5 })
    expect((await world.explain({ text: 'fox' }, { id: 'over' })).dropped?.stage).toBe('validity')
  })

  it('diversify: its group was full', async () => {
    const world = await smallWorld()
    const { dropped } = await world.explain({ text: 'fox', per_collection: 2, any: true }, { id: 'neither' })
    expect(dropped?.stage).toBe('diversify')
  })

  it('a spread answer is spread no further than the page, and only while there is time', async () => {
    const world = openWorld()
    for (let number = 0; number < 60; number++) world.put({ id: `e${number}`, content: `fox dog${number % 5}` })
    await world.embedAll()
    const input = { text: 'fox', diversity: 0.5, limit: 5 }
    const shown = new Set((await world.ask(input)).page.items.map(item => item.id))
    const ranks: (number | null)[] = []
    for (let number = 0; number < 60; number++) {
      const { rank, dropped } = await world.explain(input, { id: `e${number}` })
      expect(dropped === null).toBe(shown.has(`e${number}`))
      ranks.push(rank)
    }
    expect(Math.max(...ranks.map(rank => rank ?? 0))).toBe(10)
    const late = world.explain(input, { id: 'e1' }, { deadline: new Deadline(0) })
    await expect(late).rejects.toMatchObject({ code: 'deadline_exceeded' })
  })

  it('retrieve: no leg brought it, and what rank it has deeper down', async () => {
    const world = openWorld()
    for (let number = 0; number < 140; number++) world.put({ id: `e${number}`, content: `fox dog${number % 5}` })
    world.put({ id: 'far', content: 'tulip' })
    await world.embedAll()
    const { dropped, rank } = await world.explain({ text: 'fox dog1', any: true }, { id: 'far' })
    expect(rank).toBe(141)
    expect(dropped).toEqual({
      stage: 'retrieve',
      reason: 'It is neither among the best by words nor by meaning; in a deeper search it has rank 141.',
    })
  })

  it('is the same for an entry that is hidden and one that does not exist', async () => {
    const world = await smallWorld()
    world.put({ id: 'hidden', content: 'fox', audience: audience('private', 'bob') })
    const ann = { viewer: { id: 'ann' } }
    const ask = async (target: { id: string; over?: string }) => {
      try {
        return await world.explain({ text: 'fox' }, target, ann)
      } catch (error) {
        return JSON.stringify(error).replaceAll('hidden', 'ID').replaceAll('missing', 'ID')
      }
    }
    expect(await ask({ id: 'hidden' })).toBe(await ask({ id: 'missing' }))
    expect(await ask({ id: 'hidden' })).toContain('not_found')
    world.put({ id: 'seen', content: 'fox', audience: audience('public') })
    expect(await ask({ id: 'seen', over: 'hidden' })).toBe(await ask({ id: 'seen', over: 'missing' }))
  })
})

describe('what is hidden while the question is embedded', () => {
  async function worldThatHides(act: (world: AskWorld) => void): Promise<AskWorld> {
    const toy = openToyEmbedder()
    let isReady = false
    const world: AskWorld = openWorld({
      ...toy,
      embed: async (texts, role, signal) => {
        const vectors = await toy.embed(texts, role, signal)
        if (isReady) act(world)
        return vectors
      },
    })
    world.join('f', 'ann')
    world.join('f', 'bob')
    world.put({ id: 'shared', content: 'fox dog', audience: audience('shared', 'bob', ['f']) })
    world.put({ id: 'own', content: 'fox', audience: audience('private', 'ann') })
    await world.embedAll()
    isReady = true
    return world
  }
  const ann = { viewer: { id: 'ann' } }
  const without = async () => {
    const world = openWorld()
    world.put({ id: 'own', content: 'fox', audience: audience('private', 'ann') })
    await world.embedAll()
    return world
  }

  it('is neither explained nor compared with', async () => {
    const world = await worldThatHides(hiding => hiding.join('f', 'ann', 'left'))
    await expect(world.explain({ text: 'fox' }, { id: 'shared' }, ann)).rejects.toMatchObject({ code: 'not_found' })
    world.join('f', 'ann')
    const over = world.explain({ text: 'fox' }, { id: 'own', over: 'shared' }, ann)
    await expect(over).rejects.toMatchObject({ code: 'not_found' })
  })

  it('shows in no number of the answer', async () => {
    const world = await worldThatHides(hiding => hiding.join('f', 'ann', 'left'))
    const input = { text: 'fox dog', explain: true }
    expect((await world.ask(input, ann)).page).toEqual((await (await without()).ask(input, ann)).page)
  })
})

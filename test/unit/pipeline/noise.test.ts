import { describe, expect, it } from 'vitest'
import type { AskWorld } from '../../support/ask-world.ts'
import { openToyEmbedder, TOY_MODEL } from '../../support/toy-embedder.ts'
import { openWorld } from './world.ts'

/** 5 entries that a question about foxes is for, 500 that it is not; ids do not rise with the keys. */
async function foxWorld(): Promise<AskWorld> {
  const world = openWorld()
  for (let number = 0; number < 500; number++) world.put({ id: `other${(number * 7) % 500}`, content: 'tulip garden' })
  for (let number = 0; number < 3; number++) world.put({ id: `fox${number}`, content: 'fox' })
  for (let number = 0; number < 2; number++) world.put({ id: `vixen${number}`, content: 'vixen' })
  await world.embedAll()
  world.put({ id: 'late', content: 'fox without vector' })
  return world
}

const ids = (items: readonly { readonly id: string }[]) => items.map(item => item.id).sort()
const FOXES = ['fox0', 'fox1', 'fox2', 'late', 'vixen0', 'vixen1']

describe('what nothing speaks for', () => {
  it.each([true, false])('is not an answer, and is not looked for deeper down (approximate: %s)', async approximate => {
    const world = await foxWorld()
    const { page, entries } = await world.ask({ text: 'fox', approximate, limit: 50, trace: true })
    expect(ids(page.items)).toEqual(FOXES)
    expect(page).toMatchObject({ verdict: 'answered', cursor: null, coverage: { complete: true } })
    expect(entries.length).toBe(6)
    expect(page.trace?.filter(({ stage }) => stage === 'retrieve').length).toBe(1)
  })

  it('is shown where anything is asked for, and where the question insists on words', async () => {
    const world = await foxWorld()
    expect((await world.ask({ text: 'fox', any: true, limit: 1000 })).page.items.length).toBe(506)
    expect((await world.ask({ text: 'fox +tulip', limit: 1000 })).page.items.length).toBe(500)
  })

  it('makes an answer of nothing else a refusal', async () => {
    const world = openWorld(openToyEmbedder({ ...TOY_MODEL, calibration: null }))
    world.put({ id: 'a', content: 'tulip' })
    await world.embedAll()
    const { page } = await world.ask({ text: 'quantum' })
    expect(page).toMatchObject({ items: [], cursor: null, verdict: 'nothing_relevant' })
  })
})

import { describe, expect, it } from 'vitest'
import { smallWorld } from './world.ts'

describe('similar', () => {
  it('finds by vectors what is like an entry, and not the entry itself', async () => {
    const world = await smallWorld()
    const [key] = world.parts.store.find('meaning', world.context({ text: 'x' }).sight.partitions)
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

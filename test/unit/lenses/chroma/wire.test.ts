/** The lens on the wire: what its operations take and refuse. */
import { describe, expect, it } from 'vitest'
import { writeStack } from '../../../../src/lenses/chroma/colour/stack-file.ts'
import { LOCAL_OWNER } from '../../../../src/model/viewer.ts'
import { callOperation, makeCatalog } from '../../../../src/ops/catalog.ts'
import { openWorld, TAGS, type World } from '../../../support/open-chroma-world.ts'

function call({ chroma: { engine } }: World, name: string, input: object): Promise<unknown> {
  const context = { viewer: LOCAL_OWNER, signal: new AbortController().signal }
  return callOperation(makeCatalog(engine), engine, name, input, context)
}

const refused = (parameter: string, more: object = {}) => ({
  name: 'ValidationError',
  code: 'invalid_parameter',
  details: { parameter, ...more },
})

describe('names on the wire', () => {
  it.each([
    ['chroma.query', { hashtags: TAGS, maxDistance: 5 }, 'maxDistance'],
    ['chroma.query', { hashtags: TAGS, max_distanc: 5 }, 'max_distanc'],
    ['chroma.query_knn', { hashtags: TAGS, includeRotten: true }, 'includeRotten'],
    ['chroma.store', { hashtags: TAGS, label: '', content: '', modeName: 'Sparse' }, 'modeName'],
    ['chroma.store', { hashtags: TAGS, label: '', content: '', entry_id: 'a' }, 'entry_id'],
    ['chroma.update', { entry_id: 'a', mode_name: 'Sparse' }, 'mode_name'],
    ['chroma.assign', { hashtag: 'a', anchorId: 9 }, 'anchorId'],
    ['chroma.map', { query: { maxDistance: 5 } }, 'maxDistance'],
    ['chroma.map', { hashtags: TAGS, input: 'x' }, 'hashtags'],
    ['chroma.map', { hashtags: 'x' }, 'hashtags'],
    ['chroma.store', { hashtags: TAGS, label: '', content: '', plugin_fields: [] }, 'plugin_fields'],
  ])('CQ-001, CQ-006: %s refuses %j, told as written', async (name, input, parameter) => {
    await using world = await openWorld()
    await expect(call(world, name, input)).rejects.toMatchObject(refused(parameter))
    expect((await world.chroma.getStatistics()).total_nodes).toBe(0)
  })

  it('CQ-006, CQ-101: those of a batch, in their turn', async () => {
    await using world = await openWorld()
    const misspelt = { hashtags: TAGS, maxDistance: 5 }
    const batch = (...queries: readonly object[]) => call(world, 'chroma.batch_query', { queries })
    await expect(batch({ hashtags: TAGS }, misspelt)).rejects.toMatchObject(refused('maxDistance', { batch_index: 1 }))
    await expect(batch({ hashtags: TAGS, k: 0 }, misspelt)).rejects.toMatchObject(refused('k', { batch_index: 0 }))
  })

  it('CQ-006, CQ-029: those of assignments, of which none is kept', async () => {
    await using world = await openWorld()
    const assignments = [
      { hashtag: 'one', zone: 'mid' },
      { hashtag: 'two', zone: 'mid', anchorId: 9 },
    ]
    const done = call(world, 'chroma.assign', { assignments })
    await expect(done).rejects.toMatchObject(refused('anchorId', { index: 1 }))
    expect(world.chroma.resolveHashtag('one')).toBeNull()
  })
})

describe('chroma.assign', () => {
  it('takes over the hashtags of a stack file, or none of them (CQ-023, CQ-024)', async () => {
    await using world = await openWorld()
    const bound = [
      { hashtag: '#moss', anchor_id: 321 },
      { hashtag: '#fern', anchor_id: 9_123 },
    ]
    const text = `\uFEFF\n${writeStack(bound, 0)}`
    expect(await call(world, 'chroma.assign', { text })).toMatchObject({ assigned: bound })
    const wrong = text.replace('"id":321,', '"id":322,').replace('#moss', '#reed')
    await expect(call(world, 'chroma.assign', { text: wrong })).rejects.toMatchObject({
      name: 'StorageError',
      code: 'stack_invalid',
      details: { anchor_id: 321 },
    })
    expect(world.chroma.resolveHashtag('reed')).toBeNull()
  })
})

describe('chroma.set', () => {
  it('changes everything that is said, or nothing', async () => {
    await using world = await openWorld()
    const entry_id = await world.node()
    const before = await world.chroma.getNode(entry_id)
    const wrong = [
      { label: 'New', mode_name: 'Bogus' },
      { mode_name: 'Sparse', plugin_fields: { label: 1 } },
      { decay_enabled: false, rotten: false },
      { label: 'New', plugin_fields: 'no object' },
    ]
    for (const changes of wrong) {
      await expect(call(world, 'chroma.set', { entry_id, ...changes })).rejects.toThrow()
      expect(await world.chroma.getNode(entry_id)).toEqual(before)
    }
    const changes = { label: 'New', metadata: { a: 1 }, mode_name: 'Sparse', decay_enabled: false, rotten: true }
    expect(await call(world, 'chroma.set', { entry_id, ...changes })).toEqual({ updated: true })
    expect(await world.chroma.getNode(entry_id)).toMatchObject(changes)
    expect(await call(world, 'chroma.set', { entry_id: 'none', label: 'New', rotten: true })).toEqual({
      updated: false,
    })
    expect(await call(world, 'chroma.set', { entry_id })).toEqual({ updated: false })
  })
})

/** What keeps nodes out of the answer of the whole lens. */
import { describe, expect, it } from 'vitest'
import type { QueryOptions, ResultRow } from '../../../../../src/lenses/chroma/model.ts'
import { ids, labels } from '../../../../support/chroma-answers.ts'
import { FAR, NEAR, openWorld, TAGS } from '../../../../support/open-chroma-world.ts'

describe('only nodes', () => {
  it('CQ-056: rotten nodes come only when asked for, and CQ-068: are rescued then', async () => {
    await using world = await openWorld()
    const id = await world.node()
    expect(await world.chroma.markRotten(id)).toBe(true)
    expect(await world.chroma.query(TAGS)).toEqual([])
    expect((await world.chroma.query(TAGS, { includeRotten: true }))[0]).toMatchObject({
      rotten: true,
      state: 'ROTTEN',
    })
    expect(await world.chroma.getNode(id)).toMatchObject({ rotten: false, state: 'ACTIVE' })
    expect(ids(await world.chroma.query(TAGS))).toEqual([id])
  })

  it('CQ-057: a time range holds what was created or last accessed in it, ends included', async () => {
    await using timed = await openWorld()
    const at = async (created: number, accessed: number, label: string) => {
      timed.now = created
      const id = await timed.node({ label })
      const exported = (await timed.chroma.exportNodes()).nodes.find(node => node.entry_id === id)
      await timed.chroma.deleteNode(id)
      timed.now = 1000
      await timed.chroma.importNodes({ version: 1, nodes: [{ ...exported, last_accessed: accessed } as never] })
    }
    await at(200, 500, 'created at the end')
    await at(1, 100, 'accessed at the start')
    await at(99, 201, 'around it')
    const rows = await timed.chroma.query(TAGS, { temporalRange: [100, 200] })
    expect([...labels(rows)].sort()).toEqual(['accessed at the start', 'created at the end'])
    expect(await timed.chroma.query(TAGS, { temporalRange: [2, 50] })).toEqual([])
  })

  it('CQ-058: filters look into columns and metadata, CQ-007: and follow every change', async () => {
    const extension = { name: 'base', version: '1', columns: { paradigm: 'text' } } as const
    await using world = await openWorld({ extensions: [extension] })
    const a = await world.node({ metadata: { paradigm: 'meta', deep: { year: 2024 } } })
    const b = await world.node({ metadata: { paradigm: 'meta' }, pluginFields: { paradigm: 'column' } })
    const ask = async (metadataFilters: QueryOptions['metadataFilters']) =>
      new Set(ids(await world.chroma.query(TAGS, { metadataFilters, updateAccess: false })))
    expect(await ask({ paradigm: 'meta' })).toEqual(new Set([a]))
    expect(await ask({ paradigm: 'column' })).toEqual(new Set([b]))
    expect(await ask({ 'deep.year': 2024 })).toEqual(new Set([a]))
    expect(await ask({ mode_name: 'Adaptive' })).toEqual(new Set())
    expect(await ask({})).toEqual(new Set([a, b]))
    expect(await ask({ paradigm: 'meta', 'deep.year': { $gt: 2024 } })).toEqual(new Set())
    await world.chroma.writeField(b, 'paradigm', null)
    expect(await ask({ paradigm: 'meta' })).toEqual(new Set([a, b]))
    await world.chroma.updateNode(a, { metadata: null })
    expect(await ask({ paradigm: 'meta' })).toEqual(new Set([b]))
    const c = await world.node({ metadata: { paradigm: 'meta' } })
    await world.chroma.deleteNode(b)
    expect(await ask({ paradigm: 'meta' })).toEqual(new Set([c]))
    expect(await ask({ paradigm: null })).toEqual(new Set([a]))
  })

  it('CQ-073: nothing found is an empty list; a distance that emptied it is told', async () => {
    await using world = await openWorld()
    expect(await world.chroma.queryDetailed(TAGS, { maxDistance: 1 })).toMatchObject({ results: [], warnings: [] })
    const id = await world.node({ hashtags: FAR, metadata: { a: 1 } })
    await world.node({ hashtags: NEAR, metadata: { a: 2 } })
    const { distance } = (await world.chroma.query(TAGS, { metadataFilters: { a: 1 } }))[0] as ResultRow
    const { results, warnings } = await world.chroma.queryDetailed(TAGS, { maxDistance: 1, metadataFilters: { a: 1 } })
    expect(results).toEqual([])
    expect(warnings).toMatchObject([{ code: 'no_results_within_distance', details: { nearest_distance: distance } }])
    const none = await world.chroma.queryDetailed(TAGS, { maxDistance: 1, metadataFilters: { a: 3 } })
    expect(none).toMatchObject({ results: [], warnings: [] })
    expect((await world.chroma.getNode(id))?.access_count).toBe(1)
  })
})

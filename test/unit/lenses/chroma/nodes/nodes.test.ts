/** Storing, changing and reading nodes. */
import { describe, expect } from 'vitest'
import type { NewNode } from '../../../../../src/lenses/chroma/nodes/nodes.ts'
import { invalid } from '../../../../support/chroma-answers.ts'
import { it, NEAR, NOW, openWorld, TAGS } from '../../../../support/open-chroma-world.ts'

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe('a new node', () => {
  it('CQ-123: begins unused, at its place, with its hashtags in order', async () => {
    await using world = await openWorld({ memoryConfig: { defaultMode: 'Spacey' } })
    const id = await world.chroma.store({
      hashtags: [...TAGS].reverse().map(tag => tag.toUpperCase()),
      label: 'L',
      content: 'C',
    })
    expect(id).toMatch(UUID_V4)
    const [color_L, color_a, color_b] = world.chroma.computeNodeColor(TAGS)
    expect(await world.chroma.getNode(id)).toEqual({
      entry_id: id,
      node_id: 'node_289797b9e741142c',
      color_L,
      color_a,
      color_b,
      hashtags: [...TAGS],
      label: 'L',
      content: 'C',
      metadata: null,
      created_at: NOW,
      last_accessed: NOW,
      strength_raw: 0,
      decay_health: 1,
      ascension: false,
      rotten: false,
      mode_name: 'Spacey',
      access_count: 0,
      decay_enabled: true,
      state: 'ACTIVE',
    })
    expect((await world.chroma.exportNodes()).nodes[0]?.version).toBe(0)
  })

  it('CQ-125: shares its node_id with others at the same place', async ({ world }) => {
    const rows = await Promise.all([await world.node(), await world.node()].map(id => world.chroma.getNode(id)))
    expect(rows[0]?.entry_id).not.toBe(rows[1]?.entry_id)
    expect(rows.map(row => row?.node_id)).toEqual(['node_289797b9e741142c', 'node_289797b9e741142c'])
  })

  it.each<[string, Partial<Record<keyof NewNode, unknown>>]>([
    ['label', { label: 'x'.repeat(501) }],
    ['label', { label: 5 }],
    ['label', { label: 'a\0b' }],
    ['content', { content: 'x'.repeat(1_048_577) }],
    ['content', { content: 'é'.repeat(524_289) }],
    ['content', { content: null }],
    ['content', { content: '\ud800' }],
    ['metadata', { metadata: [1] }],
    ['metadata', { metadata: 'x' }],
    ['metadata', { metadata: new Date(0) }],
    ['metadata', { metadata: { a: undefined } }],
    ['metadata', { metadata: { a: Number.NaN } }],
    ['metadata', { metadata: { a: 5n } }],
    ['mode_name', { modeName: 'adaptive' }],
    ['mode_name', { modeName: null }],
    ['hashtags', { hashtags: 'c0' }],
    ['visibility', { visibility: 'secret' }],
    ['federations', { federations: ['x'] }],
    ['collection', { collection: '' }],
    ['strength', { strength: 5 } as never],
  ])('CQ-124: a wrong %s is refused by name', async (parameter, given) => {
    await using world = await openWorld()
    await expect(world.node(given as Partial<NewNode>)).rejects.toMatchObject(invalid(parameter))
    expect((await world.chroma.getStatistics()).total_nodes).toBe(0)
  })

  it('CQ-124: metadata that holds itself is refused', async ({ world }) => {
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    await expect(world.node({ metadata: circle as never })).rejects.toMatchObject(invalid('metadata'))
  })

  it('CQ-124: the limits themselves are fine', async ({ world }) => {
    const id = await world.node({ label: '😀'.repeat(500), content: 'é'.repeat(524_288), metadata: {} })
    expect(await world.chroma.getNode(id)).toMatchObject({ label: '😀'.repeat(500), metadata: {} })
  })

  it('CQ-007: is a copy of what was given', async ({ world }) => {
    const metadata = { list: [1] }
    const id = await world.node({ metadata })
    metadata.list.push(2)
    expect((await world.chroma.getNode(id))?.metadata).toEqual({ list: [1] })
  })
})

describe('changing a node', () => {
  it('CQ-126: nothing given, nobody there, a field of another sort', async ({ world }) => {
    const id = await world.node()
    expect(await world.chroma.updateNode(id, {})).toBe(false)
    expect(await world.chroma.updateNode('nobody', { label: 'x' })).toBe(false)
    await expect(world.chroma.updateNode(id, { hashtags: NEAR } as never)).rejects.toMatchObject(invalid('hashtags'))
    await expect(world.chroma.updateNode(id, { label: 'x'.repeat(501) })).rejects.toMatchObject(invalid('label'))
    await expect(world.chroma.updateNode(id, null as never)).rejects.toMatchObject(invalid('fields'))
    expect((await world.chroma.exportNodes()).nodes[0]).toMatchObject({ version: 0, label: 'A node' })
  })

  it('CQ-127: deletes, marks, and sets mode and decay', async ({ world }) => {
    const id = await world.node()
    expect(await world.chroma.setNodeMode(id, 'Eidetic')).toBe(true)
    expect(await world.chroma.setNodeDecay(id, false)).toBe(true)
    expect(await world.chroma.markRotten(id)).toBe(true)
    expect(await world.chroma.markRotten(id)).toBe(true)
    expect(await world.chroma.getNode(id)).toMatchObject({ mode_name: 'Eidetic', decay_enabled: false, rotten: true })
    expect((await world.chroma.exportNodes()).nodes[0]?.version).toBe(3)
    const [row] = await world.chroma.query(TAGS, { includeRotten: true })
    expect(row).toMatchObject({ mode_name: 'Eidetic', score: 0.6000000000000001 })
    await expect(world.chroma.setNodeMode(id, 'eidetic' as never)).rejects.toMatchObject(invalid('mode_name'))
    await expect(world.chroma.setNodeDecay(id, 1 as never)).rejects.toMatchObject(invalid('decay_enabled'))
    expect(await world.chroma.deleteNode(id)).toBe(true)
    expect(await world.chroma.deleteNode(id)).toBe(false)
    expect(await world.chroma.getNode(id)).toBeNull()
    expect(await world.chroma.query(TAGS, { includeRotten: true })).toEqual([])
    const gone = [
      world.chroma.setNodeMode(id, 'Sparse'),
      world.chroma.setNodeDecay(id, true),
      world.chroma.markRotten(id),
    ]
    expect(await Promise.all(gone)).toEqual([false, false, false])
    await expect(world.chroma.getNode(5 as never)).rejects.toMatchObject(invalid('entry_id'))
  })

  it('CQ-127: what has ascended does not rot', async ({ world }) => {
    const id = await world.node()
    const { nodes } = await world.chroma.exportNodes()
    await world.chroma.deleteNode(id)
    await world.chroma.importNodes({ version: 1, nodes: [{ ...nodes[0], ascension: true } as never] })
    expect(await world.chroma.markRotten(id)).toBe(false)
    expect(await world.chroma.getNode(id)).toMatchObject({ state: 'ASCENDED', rotten: false })
  })

  it('CQ-069: reading, listing and counting are no access', async ({ world }) => {
    const id = await world.node()
    world.now += 10
    await world.chroma.getNode(id)
    world.chroma.suggestHashtags('c0 and m0')
    await world.chroma.getStatistics()
    await world.chroma.exportNodes()
    expect(await world.chroma.getNode(id)).toMatchObject({ access_count: 0, last_accessed: NOW })
  })
})

describe('columns of plug-ins', () => {
  const extension = { name: 'base', version: '1', columns: { paradigm: 'text', size: 'real', traits: 'json' } } as const

  it('CQ-131, CQ-132: are written with the node or by name, and stay through everything', async () => {
    await using world = await openWorld({ extensions: [extension] })
    const id = await world.node({ pluginFields: { paradigm: 'x', traits: { a: [1] } } })
    expect(await world.chroma.writeField(id, 'size', 1.5)).toBe(true)
    expect(await world.chroma.writeField('nobody', 'size', 1.5)).toBe(false)
    await world.chroma.updateNode(id, { label: 'New' })
    await world.chroma.query(TAGS)
    await world.chroma.runDecayCycle()
    await world.chroma.migrateHashtag('m5', { anchorId: 6002 })
    expect(await world.chroma.getNode(id)).toMatchObject({ paradigm: 'x', size: 1.5, traits: { a: [1] }, label: 'New' })
    await world.chroma.writeField(id, 'paradigm', null)
    expect(await world.chroma.getNode(id)).toMatchObject({ paradigm: null, size: 1.5 })
  })

  it('CQ-132: unknown ones, core fields and wrong types are refused', async () => {
    await using world = await openWorld({ extensions: [extension] })
    const id = await world.node()
    await expect(world.chroma.writeField(id, 'colour', 'x')).rejects.toMatchObject({ code: 'unknown_column' })
    await expect(world.chroma.writeField(id, 'label', 'x')).rejects.toMatchObject({
      name: 'PluginError',
      code: 'core_field',
    })
    await expect(world.chroma.writeField(id, 'size', 'big')).rejects.toMatchObject({ name: 'ValidationError' })
    await expect(world.node({ pluginFields: { size: 'big' } })).rejects.toMatchObject({ name: 'ValidationError' })
  })

  it('CQ-131: come before the store is opened; again is nothing new', async () => {
    await using world = await openWorld({ extensions: [extension] })
    expect(() => world.chroma.registerSchemaExtension(extension)).not.toThrow()
    const late = { name: 'late', version: '1', columns: { other: 'text' } } as const
    expect(() => world.chroma.registerSchemaExtension(late)).toThrow(expect.objectContaining({ name: 'PluginError' }))
  })

  it('CQ-133: what needs another that is missing does not open', async () => {
    const needy = { ...extension, requires: { other: '2' } }
    await expect(openWorld({ extensions: [needy] })).rejects.toMatchObject({ name: 'StartupError' })
  })
})

/** Nodes out of one store and into another. */
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import type { ExportedNode } from '../../../../../src/lenses/chroma/nodes/nodes.ts'
import { openChroma } from '../../../../../src/openings/chroma.ts'
import { FAR, it, NEAR, NOW, openWorld, TAGS, type World } from '../../../../support/open-chroma-world.ts'

const extensions = [{ name: 'base', version: '1', columns: { paradigm: 'text' } }] as const
const DAY = 86_400

async function oneNode(world: World): Promise<ExportedNode> {
  const id = await world.node({ metadata: { a: 1 } })
  const { nodes } = await world.chroma.exportNodes()
  await world.chroma.deleteNode(id)
  return nodes[0] as ExportedNode
}

const put = (world: World, ...nodes: readonly object[]) => world.chroma.importNodes({ version: 1, nodes } as never)

describe('CQ-128: what is exported', () => {
  it('has every field, and is restored with all of it', async () => {
    await using from = await openWorld({ extensions })
    const id = await from.node({ metadata: { a: [1] }, pluginFields: { paradigm: 'x' }, modeName: 'Sparse' })
    await from.node({ hashtags: NEAR })
    from.now += DAY
    await from.chroma.query(TAGS, { k: 1 })
    from.now += DAY
    await from.chroma.runDecayCycle()
    await from.chroma.setNodeDecay(id, false)
    const document = await from.chroma.exportNodes()
    expect(document).toMatchObject({ version: 1, exported_at: NOW + 2 * DAY })
    const node = document.nodes.find(({ entry_id }) => entry_id === id)
    expect(node).toMatchObject({
      node_id: 'node_289797b9e741142c',
      color: [...from.chroma.computeNodeColor(TAGS)],
      metadata: { a: [1] },
      created_at: NOW,
      last_accessed: NOW + DAY,
      access_count: 1,
      mode_name: 'Sparse',
      decay_enabled: false,
      version: 3,
      plugin_fields: { paradigm: 'x' },
    })
    await using to = await openWorld({ extensions })
    to.now = from.now
    expect(await to.chroma.importNodes(JSON.parse(JSON.stringify(document)))).toEqual({ imported: 2 })
    expect(await to.chroma.exportNodes()).toEqual(document)
    const ask = (world: World) => world.chroma.query(TAGS, { updateAccess: false })
    expect(await ask(to)).toEqual(await ask(from))
    from.now += DAY
    to.now += DAY
    await Promise.all([from.chroma.runDecayCycle(), to.chroma.runDecayCycle()])
    expect((await to.chroma.exportNodes()).nodes).toEqual((await from.chroma.exportNodes()).nodes)
  })

  it('holds where the hashtags lie that its nodes carry, and adds them to a store without them', async () => {
    await using from = await openWorld()
    await from.node()
    const document = await from.chroma.exportNodes()
    const anchors = TAGS.map(tag => from.chroma.listHashtags().find(({ hashtag }) => hashtag === tag)?.anchor_id)
    expect(document.bindings).toEqual(Object.fromEntries(TAGS.map((tag, at) => [tag, anchors[at]])))
    await using to = await openChroma({ store: 'memory', background: false, now: () => NOW })
    await expect(to.importNodes({ ...document, bindings: undefined } as never)).rejects.toMatchObject({
      code: 'unknown_hashtag',
    })
    expect(await to.importNodes(JSON.parse(JSON.stringify(document)))).toEqual({ imported: 1 })
    expect(await to.exportNodes()).toEqual(document)
    expect(to.listHashtags()).toHaveLength(TAGS.length)
  })

  it('QE-019: binds hashtags only for those who may assign them; for others a denied import writes nothing', async () => {
    await using from = await openWorld()
    await from.node()
    const document = JSON.parse(JSON.stringify(await from.chroma.exportNodes()))
    const vocabularyConfig = { editors: ['ann'] }
    await using to = await openChroma({ store: 'memory', background: false, now: () => NOW, vocabularyConfig })
    const [ann, bob] = [to.as({ id: 'ann' }), to.as({ id: 'bob' })]
    const denied = { code: 'denied', details: { operation: 'chroma.import' } }
    await to.assignHashtag(TAGS[0] as string, { anchorId: document.bindings[TAGS[0] as string] })
    await expect(bob.importNodes(document)).rejects.toMatchObject(denied)
    expect(to.listHashtags()).toHaveLength(1)
    expect((await bob.exportNodes()).nodes).toEqual([])
    expect(await ann.importNodes(document)).toEqual({ imported: 1 })
    expect(to.listHashtags()).toHaveLength(TAGS.length)
    // What is assigned just so needs no right.
    expect(await bob.importNodes(document)).toEqual({ imported: 1 })
    expect((await bob.exportNodes()).nodes).toHaveLength(1)
  })

  it('is a document of its viewer alone', async ({ world }) => {
    const ann = world.chroma.as({ id: 'ann' })
    await ann.store({ hashtags: TAGS, label: 'x', content: 'x', visibility: 'public' })
    expect((await world.chroma.exportNodes()).nodes).toEqual([])
    expect((await ann.exportNodes()).nodes).toHaveLength(1)
  })

  it('of any use, comes back the same', async () => {
    const use = fc.record({
      ask: fc.constantFrom(TAGS, NEAR, FAR),
      k: fc.integer({ min: 1, max: 3 }),
      wait: fc.nat(9 * DAY),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(use, { maxLength: 6 }), async uses => {
        await using from = await openWorld()
        for (const hashtags of [TAGS, NEAR, FAR]) await from.node({ hashtags })
        for (const { ask, k, wait } of uses) {
          from.now += wait
          await from.chroma.query(ask, { k })
          if (k === 3) await from.chroma.runDecayCycle()
          await from.chroma.runLifecycleCheck()
        }
        const document = await from.chroma.exportNodes()
        await using to = await openWorld()
        to.now = from.now
        await to.chroma.importNodes(document)
        expect(await to.chroma.exportNodes()).toEqual(document)
      }),
      { numRuns: 8 },
    )
  })
})

describe('an import', () => {
  it.each<[string, unknown, string]>([
    ['on another anchor', { '#c0': 2 }, 'hashtag_assigned'],
    ['where another hashtag lies', { '#new': 1 }, 'anchor_occupied'],
    ['where no anchor is', { '#new': 10_001 }, 'invalid_parameter'],
    ['that are no object', ['#c0'], 'invalid_parameter'],
  ])('CQ-128: refuses bindings %s, and takes nothing then', async (_, bindings, code) => {
    await using world = await openWorld()
    const node = await oneNode(world)
    const before = world.chroma.listHashtags()
    const document = { version: 1, nodes: [node], bindings: { '#first': 700, ...(bindings as object) } }
    const given = Array.isArray(bindings) ? { ...document, bindings } : document
    await expect(world.chroma.importNodes(given as never)).rejects.toMatchObject({
      name: expect.stringMatching(/^(Validation|HashtagConflict)Error$/),
      code,
    })
    // A node that is refused takes the bindings back with it.
    const bad = { ...document, bindings: { '#first': 700 }, nodes: [{ ...node, strength_raw: -1 }] }
    await expect(world.chroma.importNodes(bad as never)).rejects.toMatchObject({ code: 'invalid_state' })
    expect(world.chroma.listHashtags()).toEqual(before)
    expect((await world.chroma.getStatistics()).total_nodes).toBe(0)
  })

  it('CQ-128: takes all nodes or none', async ({ world }) => {
    const node = await oneNode(world)
    await expect(put(world, node, { ...node, entry_id: 'b', strength_raw: -1 })).rejects.toMatchObject({
      code: 'invalid_state',
      details: { index: 1 },
    })
    expect((await world.chroma.getStatistics()).total_nodes).toBe(0)
  })

  it('CQ-128: refuses an id that is taken, in the store or twice in the document', async ({ world }) => {
    const node = await oneNode(world)
    await expect(put(world, node, node)).rejects.toMatchObject({ name: 'ValidationError', code: 'duplicate_entry' })
    await put(world, node)
    await expect(put(world, { ...node, entry_id: 'new' }, node)).rejects.toMatchObject({ code: 'duplicate_entry' })
    expect((await world.chroma.getStatistics()).total_nodes).toBe(1)
  })

  it('CQ-128: computes a missing colour, and refuses another one', async ({ world }) => {
    const { color, ...node } = await oneNode(world)
    const [l, a, b] = color as [number, number, number]
    await expect(put(world, { ...node, color: [l + 2e-6, a, b] })).rejects.toMatchObject({ code: 'color_mismatch' })
    await expect(put(world, { ...node, color: [l, a] })).rejects.toMatchObject({ code: 'invalid_parameter' })
    await put(world, { ...node, entry_id: 'near', color: [l + 5e-7, a, b] })
    await put(world, node)
    for (const row of await world.chroma.query(TAGS)) expect([row.color_L, row.distance]).toEqual([l, 0])
  })

  it.each<[string, object]>([
    ['last_accessed', { last_accessed: NOW - 1 }],
    ['created_at', { created_at: NOW + 1, last_accessed: NOW + 1 }],
    ['rotten', { ascension: true, rotten: true }],
    ['decay_health', { decay_health: 1.1 }],
    ['decay_health', { decay_health: -0.1 }],
    ['strength_raw', { strength_raw: -1 }],
    ['strength_raw', { strength_raw: null }],
    ['mode_name', { mode_name: 'adaptive' }],
    ['access_count', { access_count: 1.5 }],
  ])('CQ-129: refuses a state with a wrong %s', async (field, wrong) => {
    await using world = await openWorld()
    await expect(put(world, { ...(await oneNode(world)), ...wrong })).rejects.toMatchObject({
      name: 'ValidationError',
      code: 'invalid_state',
      details: { field: expect.stringContaining(field) },
    })
  })

  it.each<[string, object]>([
    ['label', { label: 5 }],
    ['entry_id', { entry_id: '' }],
    ['metadata', { metadata: [] }],
    ['decay_enabled', { decay_enabled: 'yes' }],
    ['decayed_at', { decayed_at: NOW + 1 }],
    ['colour', { colour: 'red' }],
  ])('CQ-124, CQ-128: refuses a wrong %s', async (parameter, wrong) => {
    await using world = await openWorld()
    await expect(put(world, { ...(await oneNode(world)), ...wrong })).rejects.toMatchObject({
      code: 'invalid_parameter',
      details: { parameter },
    })
  })

  it.each([[null], [[]], [{ version: 2, nodes: [] }], [{ version: 1 }], [{ version: 1, nodes: [], more: 1 }]])(
    'CQ-128: refuses the document %j',
    async document => {
      await using world = await openWorld()
      await expect(world.chroma.importNodes(document as never)).rejects.toMatchObject({ code: 'invalid_parameter' })
    },
  )
})

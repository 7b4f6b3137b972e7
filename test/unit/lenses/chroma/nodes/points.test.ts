/** Nodes as points of the colour space: what is drawn, page by page, and what time will make of it. */
import { describe, expect } from 'vitest'
import { MAX_POINTS } from '../../../../../src/lenses/chroma/nodes/points.ts'
import { FAR, it, NEAR, NOW, openWorld } from '../../../../support/open-chroma-world.ts'

const DAY = 86_400

describe('points', () => {
  it('give each node its colour and its memory, the newest first', async ({ world }) => {
    const first = await world.node({ label: 'First', hashtags: FAR })
    const second = await world.node({ label: 'Second' })
    const { now, total, points } = await world.chroma.points()
    expect({ now, total }).toEqual({ now: NOW, total: 2 })
    expect(points.map(({ entry_id }) => entry_id)).toEqual([second, first])
    const node = await world.chroma.getNode(first)
    expect(points[1]).toMatchObject({
      label: 'First',
      color: [node?.color_L, node?.color_a, node?.color_b],
      state: 'ACTIVE',
      last_accessed: NOW,
      strength_raw: 0,
      decays_from: NOW,
      ascends_at: null,
    })
  })

  it('foresee what the runs will do to each node, changing nothing', async ({ world }) => {
    const strong = await world.node({ label: 'strong', hashtags: FAR })
    await world.node({ label: 'used' })
    await world.node({ label: 'idle', hashtags: NEAR, modeName: 'Sparse' })
    await world.chroma.setNodeDecay(await world.node({ label: 'frozen' }), false)
    await world.chroma.markRotten(await world.node({ label: 'rotten' }))
    for (let use = 0; use < 200; use++) await world.chroma.query(FAR, { k: 1, maxDistance: 1 })
    await world.chroma.query(NEAR, { k: 2 })
    const { points } = await world.chroma.points()
    const seen = (at: number) => ({
      ascended: points.flatMap(one => (one.ascends_at !== null && one.ascends_at <= at ? [one.entry_id] : [])).sort(),
      rotten: points
        .flatMap(one => (one.state === 'ROTTEN' || (one.rots_at !== null && one.rots_at <= at) ? [one.entry_id] : []))
        .sort(),
    })
    expect(points.find(({ label }) => label === 'frozen')).toMatchObject({ decays_from: null, rots_at: null })
    expect(seen(NOW).ascended).toEqual([strong])
    for (const days of [0, 3, 8, 12, 60]) {
      world.now = NOW + days * DAY
      await world.chroma.runDecayCycle()
      await world.chroma.runLifecycleCheck()
      const stored = (await world.chroma.points()).points
      const now = (state: string) => stored.flatMap(one => (one.state === state ? [one.entry_id] : [])).sort()
      expect({ ascended: now('ASCENDED'), rotten: now('ROTTEN') }).toEqual(seen(world.now))
    }
  })

  it('foresee nothing where memory is switched off', async () => {
    await using world = await openWorld({ memoryConfig: { enabled: false } })
    await world.node()
    const { points } = await world.chroma.points()
    expect(points[0]).toMatchObject({ decays_from: null, ascends_at: null, rots_at: null, fades_at: null })
  })

  it('come by pages that make up the whole', async ({ world }) => {
    for (let at = 0; at < 7; at++) await world.node({ label: `${at}` })
    const labels: string[] = []
    for (let offset = 0; offset < 9; offset += 3) {
      const { total, points } = await world.chroma.points({ offset, limit: 3 })
      expect(total).toBe(7)
      labels.push(...points.map(({ label }) => label))
    }
    expect(labels).toEqual(['6', '5', '4', '3', '2', '1', '0'])
  })

  it('are those that the viewer sees: nothing shows of what others hide', async ({ world }) => {
    const [ann, bob] = [world.chroma.as({ id: 'ann' }), world.chroma.as({ id: 'bob' })]
    const before = await bob.points()
    await ann.store({ hashtags: FAR, label: 'hidden', content: '', visibility: 'private' })
    expect(await bob.points()).toEqual(before)
    expect((await ann.points()).total).toBe(1)
  })

  it.each([{ limit: 0 }, { limit: MAX_POINTS + 1 }, { limit: 1.5 }, { offset: -1 }, { offset: 'x' }])(
    'refuse %j',
    async options => {
      await using world = await openWorld()
      await expect(world.chroma.points(options as object)).rejects.toMatchObject({
        code: 'invalid_parameter',
        details: { parameter: Object.keys(options)[0] },
      })
    },
  )

  it('count as nobody’s use', async ({ world }) => {
    const id = await world.node()
    await world.chroma.points()
    expect((await world.chroma.getNode(id))?.access_count).toBe(0)
  })
})

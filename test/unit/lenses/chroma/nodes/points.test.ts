/** Nodes as points of the colour space: what is drawn, page by page, and what time will make of it. */
import { describe, expect, it } from 'vitest'
import { MOST_POINTS } from '../../../../../src/lenses/chroma/nodes/points.ts'
import { FAR, NEAR, NOW, openWorld } from '../../../../support/open-chroma-world.ts'

const DAY = 86_400

describe('points', () => {
  it('give each node its colour and its memory, the newest first', async () => {
    await using world = await openWorld()
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

  it('foresee for each what the forecast foresees for all', async () => {
    await using world = await openWorld()
    const used = await world.node({ label: 'used' })
    const rotten = await world.node({ label: 'rotten', hashtags: NEAR })
    const frozen = await world.node({ label: 'frozen', hashtags: FAR })
    await world.chroma.query(NEAR, { k: 2 })
    await world.chroma.markRotten(rotten)
    await world.chroma.setNodeDecay(frozen, false)
    world.now += 5 * DAY
    await world.chroma.runDecayCycle()
    world.now += DAY
    const { items } = await world.chroma.forecast(world.now + 3650 * DAY)
    const { points } = await world.chroma.points()
    const told = points.flatMap(({ entry_id, ascends_at, rots_at, fades_at }) => {
      const all = { ascends: ascends_at, rots: rots_at, fades: fades_at }
      return Object.entries(all).flatMap(([event, at]) => (at === null ? [] : [{ entry_id, event, at }]))
    })
    const line = (event: object) => JSON.stringify(event)
    expect(told.map(line).sort()).toEqual(items.map(({ entry_id, event, at }) => line({ entry_id, event, at })).sort())
    expect(points.find(({ entry_id }) => entry_id === rotten)?.state).toBe('ROTTEN')
    expect(points.find(({ entry_id }) => entry_id === frozen)).toMatchObject({ decays_from: null, fades_at: null })
    expect(points.find(({ entry_id }) => entry_id === used)?.decays_from).toBe(world.now - DAY)
  })

  it('foresee nothing where memory is switched off', async () => {
    await using world = await openWorld({ memoryConfig: { enabled: false } })
    await world.node()
    const { points } = await world.chroma.points()
    expect(points[0]).toMatchObject({ decays_from: null, ascends_at: null, rots_at: null, fades_at: null })
  })

  it('come by pages that make up the whole', async () => {
    await using world = await openWorld()
    for (let at = 0; at < 7; at++) await world.node({ label: `${at}` })
    const labels: string[] = []
    for (let offset = 0; offset < 9; offset += 3) {
      const { total, points } = await world.chroma.points({ offset, limit: 3 })
      expect(total).toBe(7)
      labels.push(...points.map(({ label }) => label))
    }
    expect(labels).toEqual(['6', '5', '4', '3', '2', '1', '0'])
  })

  it('are those that the viewer sees: nothing shows of what others hide', async () => {
    await using world = await openWorld()
    const [ann, bob] = [world.chroma.as({ id: 'ann' }), world.chroma.as({ id: 'bob' })]
    const before = await bob.points()
    await ann.store({ hashtags: FAR, label: 'hidden', content: '', visibility: 'private' })
    expect(await bob.points()).toEqual(before)
    expect((await ann.points()).total).toBe(1)
  })

  it.each([{ limit: 0 }, { limit: MOST_POINTS + 1 }, { limit: 1.5 }, { offset: -1 }, { offset: 'x' }])(
    'refuse %j',
    async options => {
      await using world = await openWorld()
      await expect(world.chroma.points(options as object)).rejects.toMatchObject({
        code: 'invalid_parameter',
        details: { parameter: Object.keys(options)[0] },
      })
    },
  )

  it('count as nobody’s use', async () => {
    await using world = await openWorld()
    const id = await world.node()
    await world.chroma.points()
    expect((await world.chroma.getNode(id))?.access_count).toBe(0)
  })
})

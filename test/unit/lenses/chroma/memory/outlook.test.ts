import { describe, expect, it } from 'vitest'
import { statisticsOf } from '../../../../../src/lenses/chroma/nodes/points.ts'
import { OWNER } from '../../../../../src/model/partition.ts'
import { World } from './world.ts'

describe('statistics (CQ-142)', () => {
  it('of nothing have no averages', () => {
    expect(statisticsOf(new World().context, OWNER)).toEqual({
      total_nodes: 0,
      permanent_nodes: 0,
      rotten_nodes: 0,
      decay_disabled: 0,
      mode_distribution: {},
      strength: { average: null, min: null, max: null },
      health: { average: null, min: null },
    })
  })

  it('count what the viewer sees, by the viewer’s own memory', () => {
    const world = new World()
    world.node('a', { strength_raw: 3, decay_health: 0.5 })
    world.node('b', { strength_raw: 30, ascension: true })
    world.node('c', { rotten: true, mode: 'Sparse', decay_enabled: false })
    world.node('d', { holder: 'fox' })
    expect(statisticsOf(world.context, OWNER)).toEqual({
      total_nodes: 4,
      permanent_nodes: 1,
      rotten_nodes: 1,
      decay_disabled: 1,
      mode_distribution: { Sparse: 1, Adaptive: 3 },
      strength: { average: 8.25, min: 0, max: 30 },
      health: { average: 0.875, min: 0.5 },
    })
    expect(statisticsOf(world.context, 'fox')).toMatchObject({
      total_nodes: 1,
      mode_distribution: { Adaptive: 1 },
      strength: { average: 0, min: 0, max: 0 },
    })
    expect(statisticsOf(world.context, 'dog').total_nodes).toBe(0)
  })
})

/** BQ-195: work depends on what is visible alone. Counted here; bench/hidden-load.ts takes the time. */
import { afterEach, describe, expect, it } from 'vitest'
import { SettableClock } from '../../../../src/base/clock.ts'
import type { Engine } from '../../../../src/engine/engine.ts'
import { ALL_SOURCES } from '../../../../src/lenses/beliefs/access/requester.ts'
import { stateOf } from '../../../../src/lenses/beliefs/state.ts'
import { openSqliteStore } from '../../../../src/store/sqlite-store.ts'
import { seededUniform } from '../../../../src/testing/seeded.ts'
import { type TempFolder, tempFolder } from '../../../../src/testing/temp-folder.ts'
import { callOperation, openBeliefsEngine } from '../../../support/beliefs-engine.ts'
import { countRows } from '../../../support/counting-columns.ts'
import { countingStore, type Work } from '../../../support/counting-store.ts'

const QUERY = { semantic: 'fox', options: { scope: { local: true, network: true }, include_explanation: true } }

interface World {
  readonly engine: Engine
  readonly work: Work
  readonly folder: TempFolder
}
const worlds: World[] = []
afterEach(async () => {
  for (const { engine, folder } of worlds.splice(0)) {
    await engine.close()
    folder[Symbol.dispose]()
  }
})

/** Five beliefs that ann sees among so many that she does not. */
async function open(hidden: number): Promise<World> {
  const folder = tempFolder()
  const { store, work } = countingStore(openSqliteStore({ file: folder.file('store.db') }))
  const uniform = seededUniform(4)
  const random = (length: number) => Uint8Array.from({ length }, () => Math.floor(256 * uniform()))
  const engine = await openBeliefsEngine({ store, random, clock: new SettableClock(Date.UTC(2026, 5, 1)) })
  const world = { engine, work, folder }
  worlds.push(world)
  for (const id of ['ann', 'bob']) await callOperation(engine, 'agents.create', 'owner', { id })
  for (let at = 0; at < 5; at++) {
    await write(world, `fox number ${at}`, 'public', `seen-${at}`)
    for (let left = 0; left < hidden / 5; left++) await write(world, `fox hidden ${at} ${left}`, 'private')
  }
  return world
}

async function write({ engine }: World, content: string, visibility: string, id?: string): Promise<void> {
  await callOperation(engine, 'beliefs.put', 'bob', { content, visibility, ...(id !== undefined && { id }) })
}

async function callsOf({ engine, work }: World, name: string, input: object): Promise<readonly string[]> {
  work.calls.length = 0
  await callOperation(engine, name, 'ann', input)
  return [...work.calls]
}

describe('hidden beliefs (BQ-195)', () => {
  it('cost no look at the store, however many there are', async () => {
    const few = await open(10)
    const many = await open(100)
    const inputs: readonly (readonly [string, object])[] = [
      ['beliefs.query', QUERY],
      ['beliefs.query', { ...QUERY, semantic: 'fox +number' }],
      ['beliefs.count', { ...QUERY, filters: { max_derivation_depth: 0, min_confidence: { temporal_freshness: 0 } } }],
      ['beliefs.facets', { query: QUERY, fields: ['domains', 'confidence_bucket'] }],
    ]
    // Twice, for what is kept; then with news of one hidden belief.
    for (let round = 0; round < 3; round++) {
      if (round === 2) for (const world of [few, many]) await write(world, 'fox of late', 'private')
      for (const [name, input] of inputs) {
        const calls = await callsOf(few, name, input)
        expect(await callsOf(many, name, input)).toEqual(calls)
      }
    }
  })

  it('cost no look at a row, with ten times as many of them', async () => {
    const few = await open(50)
    const many = await open(500)
    const rowsOf = ({ engine }: World) => {
      const { columns } = stateOf(engine.host('beliefs'))
      return { columns, work: countRows(columns) }
    }
    const [fewRows, manyRows] = [rowsOf(few), rowsOf(many)]
    expect([fewRows.columns.size, manyRows.columns.size]).toEqual([55, 505])
    const told = async ({ engine }: World, { work }: typeof fewRows, name: string, input: object) => {
      work.counts.clear()
      work.partitions.clear()
      await callOperation(engine, name, 'ann', input)
      return { counts: Object.fromEntries(work.counts), partitions: work.partitions.size }
    }
    const all = { ...QUERY, filters: { min_confidence: { temporal_freshness: 0 } } }
    const belief_id = 'seen-2'
    const inputs: readonly (readonly [string, object])[] = [
      ['beliefs.query', all],
      [
        'beliefs.query',
        { ...all, semantic: 'fox +number', options: { ...QUERY.options, diversity: { enabled: true } } },
      ],
      ['beliefs.count', all],
      ['beliefs.facets', { query: all, fields: ['domains', 'holder_id', 'confidence_bucket'] }],
      ['beliefs.similar', { belief_id, options: { scope: QUERY.options.scope, include_same_holder: true } }],
      ['beliefs.contradictions', { belief_id, options: { scope: QUERY.options.scope } }],
      ['beliefs.explain', { belief_id, query: all }],
      ['beliefs.derivation', { belief_id }],
    ]
    // At first, again, and with news of a hidden belief.
    for (let round = 0; round < 3; round++) {
      if (round === 2) for (const world of [few, many]) await write(world, 'fox of late', 'private')
      for (const [name, input] of inputs) {
        const seen = await told(few, fewRows, name, input)
        expect(Object.keys(seen.counts).length).toBeGreaterThan(0)
        // All that ann sees is in one partition, the public one.
        expect(seen.partitions).toBeLessThanOrEqual(1)
        expect({ name, round, ...(await told(many, manyRows, name, input)) }).toEqual({ name, round, ...seen })
      }
    }
  })

  it('undo nothing that was worked out of the visible ones when they come or go', async () => {
    const world = await open(10)
    const state = stateOf(world.engine.host('beliefs'))
    const passed = () =>
      state.look('ann', ({ columns, requester }) =>
        state.scopes.of({
          columns,
          requester,
          scope: ALL_SOURCES,
          asOf: world.engine.host('beliefs').clock.now(),
          validAt: null,
        }),
      )
    const before = passed()
    expect(before.count).toBe(5)
    for (let at = 0; at < 300; at++) await write(world, `fox in the dark ${at}`, 'private')
    expect(passed()).toBe(before)
    await write(world, 'fox for all', 'public')
    expect(passed().count).toBe(6)
  })

  it('are not looked at where rows are gone through', async () => {
    const world = await open(50)
    const state = stateOf(world.engine.host('beliefs'))
    state.look('ann', ({ columns, requester }) => {
      const seen = requester.sight.partitions.reduce((sum, partition) => sum + columns.rowsIn(partition).length, 0)
      expect(seen).toBe(5)
      expect(columns.size).toBe(55)
      const shared = requester.sight.partitions.flatMap(partition => [...columns.rowsIn(partition)])
      for (const row of shared) expect(requester.sees(columns.arrays.partitions[row] as number)).toBe(true)
    })
  })
})

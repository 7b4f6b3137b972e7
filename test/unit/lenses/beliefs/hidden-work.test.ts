/** BQ-195: work depends on what is visible alone. Counted here; bench/hidden-load.ts takes the time. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { SettableClock } from '../../../../src/base/clock.ts'
import type { Engine } from '../../../../src/engine/engine.ts'
import { ALL_SOURCES } from '../../../../src/lenses/beliefs/access/requester.ts'
import { stateOf } from '../../../../src/lenses/beliefs/state.ts'
import { makeCatalog } from '../../../../src/ops/catalog.ts'
import { openSqliteStore } from '../../../../src/store/sqlite-store.ts'
import { callOperation, type Json, openBeliefsEngine } from '../../../support/beliefs-engine.ts'
import { countRows } from '../../../support/counting-columns.ts'
import { countingStore, type Work } from '../../../support/counting-store.ts'
import { seededBytes } from '../../../support/seeded.ts'
import { type TempFolder, tempFolder } from '../../../support/temp-folder.ts'

const QUERY = { semantic: 'fox', options: { scope: { local: true, network: true }, include_explanation: true } }

interface World {
  readonly engine: Engine
  readonly work: Work
  readonly folder: TempFolder
  /** What was answered last. */
  last: Json
}
const worlds: World[] = []
// Work that takes long pauses, and looks again at what it shows: on a busy machine one of two worlds would do so.
beforeEach(() => void vi.spyOn(performance, 'now').mockReturnValue(performance.now()))
afterEach(async () => {
  vi.restoreAllMocks()
  for (const { engine, folder } of worlds.splice(0)) {
    await engine.close()
    folder[Symbol.dispose]()
  }
})

/** Five beliefs that ann sees among so many that ann does not see. */
async function open(hidden: number): Promise<World> {
  const folder = tempFolder()
  const { store, work } = countingStore(openSqliteStore({ file: folder.file('store.db') }))
  const random = seededBytes(4)
  const engine = await openBeliefsEngine({ store, random, clock: new SettableClock(Date.UTC(2026, 5, 1)) })
  const world: World = { engine, work, folder, last: {} }
  worlds.push(world)
  for (const id of ['ann', 'bob']) await callOperation(engine, 'agents.create', 'owner', { id })
  for (let at = 0; at < 5; at++) {
    await write(world, `fox number ${at}`, 'public', `seen-${at}`)
    for (let left = 0; left < hidden / 5; left++) await write(world, `fox hidden ${at} ${left}`, 'private')
  }
  // What indexes take in once, of whatever is written, is no question's work.
  await callOperation(engine, 'query', 'ann', { text: 'crow', touch: false })
  return world
}

async function write({ engine }: World, content: string, visibility: string, id?: string): Promise<void> {
  await callOperation(engine, 'beliefs.put', 'bob', { content, visibility, ...(id !== undefined && { id }) })
}

const SCOPE = QUERY.options.scope
const FILTERED = { ...QUERY, filters: { max_derivation_depth: 0, min_confidence: { temporal_freshness: 0 } } }
const belief_id = 'seen-2'

/** Whatever can be asked, of the lens and of the engine. */
const INPUTS: readonly (readonly [string, object])[] = [
  ['beliefs.query', QUERY],
  ['beliefs.query', FILTERED],
  ['beliefs.query', { ...FILTERED, semantic: 'fox +number -crow "fox"' }],
  ['beliefs.query', { ...FILTERED, semantic: '', options: { ...QUERY.options, offset: 1, limit: 2 } }],
  [
    'beliefs.query',
    { ...QUERY, options: { ...QUERY.options, diversity: { enabled: true }, include_derivation: true } },
  ],
  ['beliefs.count', FILTERED],
  ['beliefs.facets', { query: FILTERED, fields: ['domains', 'holder_id', 'confidence_bucket'] }],
  ['beliefs.batch', { queries: [QUERY, FILTERED] }],
  ['beliefs.context_query', { ...QUERY, purpose: 'answer', max_tokens: 100 }],
  ['beliefs.similar', { belief_id, options: { scope: SCOPE, include_same_holder: true } }],
  ['beliefs.contradictions', { belief_id, options: { scope: SCOPE } }],
  ['beliefs.explain', { belief_id, query: FILTERED, other_id: 'seen-3' }],
  ['beliefs.derivation', { belief_id }],
  ['beliefs.get', { belief_id, include_superseded: true }],
  ['query', { text: 'fox', lens: 'beliefs', explain: true }],
  ['query', { text: 'fox number', lens: 'default' }],
  ['query', { text: '', lens: 'default', limit: 3, filter: { kinds: ['belief'] } }],
  ['explain', { id: belief_id, query: { text: 'fox', lens: 'beliefs' } }],
  ['count', { text: 'fox', lens: 'beliefs' }],
  ['similar', { id: belief_id }],
  ['get', { id: belief_id }],
  ['list', { limit: 3 }],
]

type Report = (world: World, name: string, input: object) => Promise<object>

/** At first, again, and with news of a hidden belief: `tell` counts the same in a world with ten times as many. */
async function compare(few: World, many: World, tell: Report): Promise<void> {
  for (let round = 0; round < 3; round++) {
    if (round === 2) for (const world of [few, many]) await write(world, 'fox of late', 'private')
    for (const [name, input] of INPUTS) {
      const reported = await tell(few, name, input)
      expect({ name, input, round, ...(await tell(many, name, input)) }).toEqual({ name, input, round, ...reported })
    }
    expect(await reportPages(many, tell)).toEqual(await reportPages(few, tell))
  }
}

/** Of each page of one answer. */
async function reportPages(world: World, tell: Report): Promise<readonly object[]> {
  const found: object[] = []
  for (let cursor: unknown, page = 0; page < 3; page++) {
    const options = { ...QUERY.options, limit: 2, ...(page > 0 && { cursor }) }
    found.push(await tell(world, 'beliefs.query', { ...QUERY, options }))
    cursor = world.last['next_cursor']
  }
  return found
}

async function ask(world: World, name: string, input: object): Promise<void> {
  world.last = await callOperation(world.engine, name, 'ann', input)
}

describe('hidden beliefs (BQ-195)', () => {
  it('cost no look at the store, however many there are', async () => {
    await compare(await open(10), await open(100), async (world, name, input) => {
      world.work.calls.length = 0
      await ask(world, name, input)
      return { calls: [...world.work.calls] }
    })
  })

  it('BQ-094: cost no look at a row, with ten times as many of them', async () => {
    const [few, many] = [await open(50), await open(500)]
    const worked = new Map([few, many].map(world => [world, countRows(stateOf(world.engine.host('beliefs')).columns)]))
    expect([few, many].map(({ engine }) => stateOf(engine.host('beliefs')).columns.size)).toEqual([55, 505])
    await compare(few, many, async (world, name, input) => {
      const work = worked.get(world)
      work?.counts.clear()
      work?.partitions.clear()
      await ask(world, name, input)
      // All that ann sees is in one partition, the public one.
      expect(work?.partitions.size).toBeLessThanOrEqual(1)
      if (name.startsWith('beliefs.')) expect(work?.counts.size).toBeGreaterThan(0)
      return { counts: Object.fromEntries(work?.counts ?? []) }
    })
  })

  it('has every question of the lens in the list', async () => {
    const { engine } = await open(0)
    const questions = [...makeCatalog(engine).values()].filter(({ cost }) => cost !== undefined)
    // What other nodes ask has tests of its own: nodes/answering.test.ts, nodes/notices.test.ts.
    const isOther = (name: string) => name.endsWith('watch') || name.startsWith('nodes.')
    const names = questions.map(({ name }) => name).filter(name => !isOther(name))
    expect(names.filter(name => !INPUTS.some(([listed]) => listed === name))).toEqual([])
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
})

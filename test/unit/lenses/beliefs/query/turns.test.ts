/** QE-019: a query over beliefs pauses while it loads, matches and spreads; what others do at its pauses does not break it. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { SettableClock } from '../../../../../src/base/clock.ts'
import type { Engine } from '../../../../../src/engine/engine.ts'
import { tallyOf, textTopic } from '../../../../../src/lenses/beliefs/aggregates/tally.ts'
import { stateOf } from '../../../../../src/lenses/beliefs/state.ts'
import { TimeLimit } from '../../../../../src/lenses/beliefs/time-limit.ts'
import { callOperation, type Json, openBeliefsEngine } from '../../../../support/beliefs-engine.ts'
import { countingBytes, TEST_NOW } from '../../../../support/engines.ts'
import { PATIENCE_MS } from '../../../../support/patience.ts'
import { seededUniform } from '../../../../support/seeded.ts'
import { type TempFolder, tempFolder } from '../../../../support/temp-folder.ts'
import { turnsOf } from '../../../../support/turns-of.ts'

vi.mock('../../../../../src/base/turns.ts', async original =>
  (await import('../../../../support/turns-of.ts')).alwaysDue(original),
)

const BELIEFS = 1_500
const LOADED_AT_ONCE = 250
const SCORED_AT_ONCE = 500
const SCOPE = { scope: { local: true, network: true } }

let folder: TempFolder
let engine: Engine
beforeEach(() => {
  folder = tempFolder()
})
afterEach(async () => {
  await engine.close()
  folder[Symbol.dispose]()
})

const open = () => openBeliefsEngine({ home: folder.path, clock: new SettableClock(TEST_NOW), random: countingBytes() })

/** `contentOf`: by number, from 0. */
async function filled(contentOf: (at: number) => string): Promise<void> {
  engine = await open()
  const beliefs = Array.from({ length: BELIEFS }, (_, at) => ({
    id: `b${at}`,
    content: contentOf(at),
    domains: [`d${at % 7}`],
    visibility: 'public',
  }))
  await callOperation(engine, 'beliefs.put', 'ann', { beliefs })
}

async function reopened(): Promise<void> {
  await engine.close()
  engine = await open()
}

async function ask(input: Json, by = 'ann', signal?: AbortSignal): Promise<Json> {
  const { query_time_ms: _, ...answer } = await callOperation(engine, 'beliefs.query', by, input, signal)
  return answer
}

function idsIn(answer: Json): readonly string[] {
  return (answer['beliefs'] as { belief: { id: string } }[]).map(({ belief }) => belief.id)
}

const uniform = seededUniform(7)
const varied = (at: number) =>
  `rain number${at} ${Array.from({ length: 6 }, () => `w${Math.floor(uniform() * 90)}`).join(' ')}`
const QUERY = { semantic: 'rain w1 w2', options: { ...SCOPE, limit: 30, dry_run: true } }

describe('the first query of a process', () => {
  it(
    'QE-019: takes a turn for every 250 beliefs, and answers as the second',
    async () => {
      await filled(varied)
      await reopened()
      const first = await turnsOf(() => ask(QUERY))
      const second = await turnsOf(() => ask(QUERY))
      expect(first.turns).toBeGreaterThanOrEqual(second.turns + BELIEFS / LOADED_AT_ONCE)
      expect(first.result).toEqual(second.result)
    },
    PATIENCE_MS,
  )

  it(
    'QE-019: shares its reading with all that come meanwhile; one that goes ends none of the others, and what is written is found',
    async () => {
      await filled(varied)
      await reopened()
      const going = new AbortController()
      const { turns, result } = await turnsOf(
        () => Promise.allSettled([ask(QUERY, 'ann', going.signal), ask(QUERY), ask(QUERY, 'bob')]),
        async turn => {
          if (turn !== 2) return
          going.abort()
          const late = { id: 'late', content: 'rain w1 w2', domains: ['d1'], visibility: 'public' }
          await callOperation(engine, 'beliefs.put', 'ann', { beliefs: [late] })
        },
      )
      expect(result[0]).toMatchObject({ status: 'rejected' })
      for (const [at, by] of [
        [1, 'ann'],
        [2, 'bob'],
      ] as const) {
        const answered = result[at] as PromiseFulfilledResult<Json>
        expect(idsIn(answered.value)[0]).toBe('late')
        expect(idsIn(answered.value)).toEqual(idsIn(await ask(QUERY, by)))
      }
      // Three that each read all would take three times as many.
      expect(turns).toBeGreaterThanOrEqual(BELIEFS / LOADED_AT_ONCE)
    },
    PATIENCE_MS,
  )
})

describe('a query over beliefs', () => {
  it(
    'QE-019: takes a turn for each result that is picked for variety, and the results are those without a pause',
    async () => {
      await filled(varied)
      const options = { ...QUERY.options, limit: 100, diversity: { enabled: true, lambda: 0.4, max_per_domain: 60 } }
      const expected = await ask({ ...QUERY, options })
      const { turns, result } = await turnsOf(() => ask({ ...QUERY, options }))
      expect(result).toEqual(expected)
      expect(idsIn(result)).toHaveLength(100)
      expect(turns).toBeGreaterThanOrEqual(100)
      const next = { ...QUERY, options: { ...options, limit: 20, cursor: expected['next_cursor'] as string } }
      const page = await turnsOf(() => ask(next))
      expect(page.result).toEqual(await ask(next))
      expect(page.turns).toBeGreaterThanOrEqual(100)
    },
    PATIENCE_MS,
  )

  it(
    'QE-019: takes a turn for every 500 copies of others, also where only their number or facets are asked for',
    async () => {
      await filled(at => `rain ${at % 100}`)
      const expected = await ask(QUERY, 'bob')
      const asked = await turnsOf(() => ask(QUERY, 'bob'))
      expect(asked.result).toEqual(expected)
      const query = { semantic: 'rain', options: SCOPE }
      const others: readonly (readonly [string, Json])[] = [
        ['beliefs.count', query],
        ['beliefs.facets', { query, fields: ['domains'] }],
        ['beliefs.explain', { query, belief_id: 'b1' }],
        ['beliefs.similar', { belief_id: 'b1', options: { include_same_holder: true, ...SCOPE } }],
        ['beliefs.context_query', { ...query, purpose: 'answer', max_tokens: 500 }],
      ]
      expect(asked.turns).toBeGreaterThanOrEqual(BELIEFS / SCORED_AT_ONCE)
      for (const [name, input] of others) {
        const { turns } = await turnsOf(() => callOperation(engine, name, 'bob', input))
        expect(turns, name).toBeGreaterThanOrEqual(BELIEFS / SCORED_AT_ONCE)
      }
      const page = await turnsOf(() => engine.query({ text: 'rain', lens: 'beliefs' }, { viewer: { id: 'bob' } }))
      expect(page.turns).toBeGreaterThanOrEqual(BELIEFS / SCORED_AT_ONCE)
    },
    PATIENCE_MS,
  )

  it(
    'QE-019: takes a turn for every 500 contents that it looks for a phrase in',
    async () => {
      await filled(varied)
      await reopened()
      const query = { ...QUERY, semantic: 'w1 "number1499"' }
      await ask(QUERY)
      const first = await turnsOf(() => ask(query))
      expect(idsIn(first.result)).toEqual(['b1499'])
      expect(first.turns).toBeGreaterThanOrEqual(BELIEFS / 500)
    },
    PATIENCE_MS,
  )

  const writes = (by: string, visibility: string) => (turn: number) =>
    callOperation(engine, 'beliefs.put', by, {
      beliefs: [{ id: `${by}${turn}`, content: `rain w1 w2 ${turn}`, domains: ['d1'], visibility }],
      wait: false,
    })

  it(
    'QE-019: begins again where it may see what is written at a pause, and not where it may not',
    async () => {
      await filled(at => `rain ${at % 100}`)
      const state = stateOf(engine.host('beliefs'))
      const begun = { count: 0 }
      const { scopes } = state
      const of = scopes.of.bind(scopes)
      scopes.of = request => {
        begun.count++
        return of(request)
      }
      const before = await ask(QUERY)
      expect(begun.count).toBe(1)
      const few = (turn: number) => turn < 20 && writes('zoe', 'private')(turn)
      const hidden = await turnsOf(() => ask(QUERY), few)
      expect(hidden.turns).toBeGreaterThanOrEqual(3)
      expect(begun.count).toBe(2)
      expect(hidden.result).toEqual(before)

      let written = false
      const once = await turnsOf(
        () => ask(QUERY),
        turn => {
          if (written || begun.count < 3) return undefined
          written = true
          return writes('ann', 'public')(turn)
        },
      )
      expect(begun.count).toBe(4)
      expect(once.result).toEqual(await ask(QUERY))
    },
    PATIENCE_MS,
  )

  it(
    'QE-019: ends and is of one moment, though others write at each of its pauses what it may see; those of its process wait for its last attempt',
    async () => {
      await filled(at => `rain ${at % 100}`)
      const { store } = engine.host('beliefs')
      const [versions, writing]: [number[], Promise<unknown>[]] = [[], []]
      let isAlone = false
      const real = store.readInSteps.bind(store)
      const spy = vi.spyOn(store, 'readInSteps').mockImplementation((...args) => {
        isAlone = true
        return real(...(args as Parameters<typeof real>)).finally(() => {
          isAlone = false
        })
      })
      const { result } = await turnsOf(
        () => ask(QUERY),
        turn => {
          if (isAlone) versions.push(store.version())
          writing.push(writes('bob', 'public')(turn))
        },
      )
      await Promise.all(writing)
      spy.mockRestore()
      expect(idsIn(result)).toHaveLength(30)
      expect(new Set(idsIn(result)).size).toBe(30)
      // The first may be a turn in which it waits for those before it.
      expect(versions.length).toBeGreaterThan(BELIEFS / SCORED_AT_ONCE)
      expect(new Set(versions.slice(-BELIEFS / SCORED_AT_ONCE)).size).toBe(1)
    },
    PATIENCE_MS,
  )
})

describe('a query over beliefs of a home that is only read', () => {
  it(
    'QE-019: ends and is of one moment, though another process writes at each of its pauses what it may see',
    async () => {
      await filled(at => `rain ${at % 100}`)
      const writer = engine
      engine = await openBeliefsEngine({ home: folder.path, readOnly: true, clock: new SettableClock(TEST_NOW) })
      const reads = vi.spyOn(engine.host('beliefs').store, 'readInSteps')
      const { result, turns } = await turnsOf(
        () => ask(QUERY),
        turn =>
          callOperation(writer, 'beliefs.put', 'bob', {
            beliefs: [{ id: `new${turn}`, content: 'rain w1 w2', visibility: 'public' }],
          }).then(() => undefined),
      )
      await writer.close()
      expect(reads).toHaveBeenCalledOnce()
      expect(new Set(idsIn(result)).size).toBe(30)
      // Its last attempt pauses too.
      expect(turns).toBeGreaterThan(4 + BELIEFS / SCORED_AT_ONCE)
    },
    PATIENCE_MS,
  )
})

describe('what a node puts together', () => {
  it('QE-019: counts the beliefs of a topic in a turn for every 500 contents that it reads, as without a pause', {
    timeout: PATIENCE_MS,
  }, async () => {
    engine = await open()
    await callOperation(engine, 'federations.create', 'owner', { id: 'lab', results: 'aggregate' })
    await callOperation(engine, 'agents.create', 'owner', { id: 'ann' })
    await callOperation(engine, 'federations.set_member', 'owner', { federation: 'lab', agent: 'ann' })
    const beliefs = Array.from({ length: BELIEFS }, (_, at) => ({
      ...{ id: `s${at}`, content: `foxes number ${at}`, visibility: 'federated', federation_ids: ['lab'] },
    }))
    await callOperation(engine, 'beliefs.put', 'ann', { beliefs })
    const state = stateOf(engine.host('beliefs'))
    const asked = { topic: textTopic('foxes'), vector: null }
    const time = new TimeLimit(PATIENCE_MS, new AbortController().signal)
    const count = () => state.lookInSteps('ann', view => tallyOf(state, view, 'lab', asked, TEST_NOW), time)
    const { turns, result } = await turnsOf(count)
    expect(turns).toBeGreaterThanOrEqual(BELIEFS / SCORED_AT_ONCE)
    expect(result).toEqual(await count())
    expect(result.members).toBe(1)
  })
})

it('QE-019: a list of beliefs is put in a step for each, all or none, and none is seen before the last', {
  timeout: PATIENCE_MS,
}, async () => {
  engine = await open()
  const beliefs = Array.from({ length: 200 }, (_, at) => ({ id: `b${at}`, content: `belief ${at}` }))
  const counts = new Set<number>()
  const { store } = engine.host('beliefs')
  const count = () => counts.add(store.scanEntries(0, 1_000).length)
  const { turns } = await turnsOf(() => callOperation(engine, 'beliefs.put', 'ann', { beliefs, wait: false }), count)
  expect(turns).toBeGreaterThanOrEqual(beliefs.length)
  expect([0, beliefs.length]).toEqual(expect.arrayContaining([...counts]))
})

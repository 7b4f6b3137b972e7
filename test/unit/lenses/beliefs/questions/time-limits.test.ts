/** BQ-192 for questions beside a query: how long each may take, and that it ends with its caller. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SettableClock } from '../../../../../src/base/clock.ts'
import { nextTurn } from '../../../../../src/base/turns.ts'
import type { Engine } from '../../../../../src/engine/engine.ts'
import { openEngine } from '../../../../../src/engine/open.ts'
import type { Call } from '../../../../../src/lenses/beliefs/query/evaluation.ts'
import { contradictionsOf, derivationOf, similarTo } from '../../../../../src/lenses/beliefs/questions/about-belief.ts'
import { contextQuery } from '../../../../../src/lenses/beliefs/questions/context-query.ts'
import { explainPlace } from '../../../../../src/lenses/beliefs/questions/explain-place.ts'
import { countFacets, countMatches } from '../../../../../src/lenses/beliefs/questions/facets.ts'
import type { Requester } from '../../../../../src/lenses/beliefs/schema/filters.ts'
import { type BeliefsState, stateOf } from '../../../../../src/lenses/beliefs/state.ts'
import { ROWS_AT_ONCE } from '../../../../../src/lenses/beliefs/time-limit.ts'
import { callOperation, makeCatalog } from '../../../../../src/ops/catalog.ts'
import { seededBytes } from '../../../../support/seeded.ts'
import { openToyEmbedder } from '../../../../support/toy-embedder.ts'
import {
  checkContextQuery,
  checkContradictions,
  checkExplain,
  checkFacets,
  checkQuery,
  checkSimilar,
} from '../schema/checks.ts'

const never = new AbortController().signal
const ann: Requester = { id: 'ann', trustGraph: null }
const SUBJECT = { belief_id: 'subject' }
const QUERY = { semantic: 'rain', filters: { max_derivation_depth: 5 } }
/** Several times as many as are shown at once. */
const LIKE_IT = 300

let engine: Engine
beforeAll(async () => {
  const clock = new SettableClock(Date.UTC(2026, 5, 1))
  const random = seededBytes(1)
  engine = await openEngine({ store: 'memory', embedder: openToyEmbedder(), clock, random, background: false })
  const put = (beliefs: readonly object[]) =>
    callOperation(makeCatalog(engine), engine, 'beliefs.put', { beliefs }, { viewer: { id: 'ann' }, signal: never })
  await put(
    Array.from({ length: LIKE_IT }, (_, at) => ({ content: `Rain falls on the hills ${at}`, domains: ['weather'] })),
  )
  await put([{ id: 'root', content: 'Clouds gather', domains: ['weather'] }])
  await put([
    {
      ...{ id: 'subject', content: 'Rain falls on the hills', domains: ['weather'] },
      derivation: { type: 'inference', sources: [{ belief_id: 'root', contribution_type: 'primary', weight: 1 }] },
    },
  ])
})
afterAll(() => engine.close())

type Ask = (state: BeliefsState, call: Call) => unknown
const QUESTIONS: Readonly<Record<string, Ask>> = {
  count: (state, call) => countMatches(state, checkQuery(QUERY, ann), call),
  facets: (state, call) => countFacets(state, checkFacets({ query: QUERY, fields: ['domains'] }, ann), call),
  context_query: (state, call) => {
    const asking = { ...QUERY, purpose: 'answer', max_tokens: 500 }
    return contextQuery(state, checkContextQuery(asking, ann), call)
  },
  explain: (state, call) => explainPlace(state, checkExplain({ ...SUBJECT, query: QUERY }, ann), call),
  similar: (state, call) =>
    similarTo(
      state,
      checkSimilar({ ...SUBJECT, options: { include_same_holder: true, min_similarity: -1, limit: 1000 } }, ann),
      call,
    ),
  contradictions: (state, call) => contradictionsOf(state, checkContradictions(SUBJECT, ann), call),
  derivation: (state, call) => derivationOf(state, { beliefId: SUBJECT.belief_id, maxDepth: 5 }, call),
}
const NAMES = Object.keys(QUESTIONS)

async function ask(name: string, call: Partial<Call>): Promise<string> {
  // In a turn of its own: each pause is a look at the time.
  await nextTurn()
  const state = stateOf(engine.host('beliefs'))
  const answer = await QUESTIONS[name]?.(state, { requester: 'ann', signal: never, ...call })
  return JSON.stringify(answer)
}

/** The same time for so many readings; then an hour later. */
function stopped(after: number): { readonly now: () => number; readonly looks: () => number } {
  let looks = 0
  return { now: () => (looks++ < after ? 0 : 3_600_000), looks: () => looks }
}

describe.each(NAMES)('%s (BQ-192)', name => {
  it('is TIMEOUT wherever its time ends, and is answered as ever after that', async () => {
    const whole = await ask(name, {})
    // From now on with what is kept of the store.
    const counts: number[] = []
    for (let round = 0; round < 3; round++) {
      const always = stopped(Number.POSITIVE_INFINITY)
      expect(await ask(name, { machineTime: always.now })).toBe(whole)
      counts.push(always.looks())
    }
    // A slow machine pauses more often, and each pause is a look.
    const looks = Math.min(...counts)
    // One look begins the time; work is looked at more than once.
    expect(looks).toBeGreaterThanOrEqual(3)
    const step = Math.ceil(looks / 40)
    for (let after = 1; after < looks; after += step) {
      const asked = Promise.resolve().then(() => ask(name, { machineTime: stopped(after).now }))
      await expect(asked).rejects.toMatchObject({ code: 'TIMEOUT', retryable: true })
    }
    expect(await ask(name, {})).toBe(whole)
  })

  it('ends where its caller has gone', async () => {
    const gone = new AbortController()
    gone.abort()
    const asked = Promise.resolve().then(() => ask(name, { signal: gone.signal }))
    await expect(asked).rejects.toBeInstanceOf(Error)
  })
})

describe('a caller who goes while the store is read (BQ-192)', () => {
  const query = QUERY
  const INPUTS: readonly (readonly [string, object])[] = [
    ['beliefs.query', query],
    ['beliefs.count', query],
    ['beliefs.facets', { query, fields: ['domains'] }],
    ['beliefs.batch', { queries: Array.from({ length: 20 }, () => query) }],
    ['beliefs.context_query', { ...query, purpose: 'answer', max_tokens: 500 }],
    ['beliefs.explain', { ...SUBJECT, query }],
    ['beliefs.similar', SUBJECT],
    ['beliefs.contradictions', SUBJECT],
    ['beliefs.derivation', SUBJECT],
  ]

  it.each(INPUTS)('ends %s', async (name, input) => {
    const state = stateOf(engine.host('beliefs')) as { -readonly [K in keyof BeliefsState]: BeliefsState[K] }
    const { look, lookInSteps } = state
    const gone = new AbortController()
    let looks = 0
    const seen = () => {
      looks++
      gone.abort()
    }
    state.look = (...given) => {
      seen()
      return look(...given)
    }
    state.lookInSteps = (...given) => {
      seen()
      return lookInSteps(...given)
    }
    const context = { viewer: { id: 'ann' }, signal: gone.signal }
    const asked = callOperation(makeCatalog(engine), engine, name, input, context)
    await expect(asked.finally(() => Object.assign(state, { look, lookInSteps }))).rejects.toMatchObject({
      code: 'TIMEOUT',
    })
    expect(looks).toBe(1)
  })

  it('ends the reading of a past', async () => {
    const state = stateOf(engine.host('beliefs')) as { -readonly [K in keyof BeliefsState]: BeliefsState[K] }
    const { look } = state
    const gone = new AbortController()
    state.look = (...given) => {
      gone.abort()
      return look(...given)
    }
    const context = { viewer: { id: 'ann' }, signal: gone.signal }
    const input = { ...SUBJECT, include_superseded: true }
    const asked = callOperation(makeCatalog(engine), engine, 'beliefs.get', input, context)
    await expect(asked.finally(() => (state.look = look))).rejects.toMatchObject({ code: 'TIMEOUT' })
  })

  it('has all questions of the lens listed here', () => {
    const asks = [...makeCatalog(engine).values()].filter(({ name, cost }) => name.startsWith('beliefs.') && cost)
    expect(
      asks
        .map(({ name }) => name)
        .filter(name => name !== 'beliefs.watch')
        .sort(),
    ).toEqual(INPUTS.map(([name]) => name).sort())
  })
})

describe('the lens asked through the pipeline (BQ-192)', () => {
  it.each([
    ['its caller goes', 'cancelled', 30_000],
    ['its time ends', 'deadline_exceeded', 1],
  ])('ends where %s', async (_, code, timeout_ms) => {
    const { columns } = stateOf(engine.host('beliefs'))
    const gone = new AbortController()
    Object.defineProperty(columns, 'refresh', {
      configurable: true,
      value: () => {
        if (code === 'cancelled') gone.abort()
        // Nothing sets this clock: it is waited for.
        else for (const from = performance.now(); performance.now() - from < 2; );
        Object.getPrototypeOf(columns).refresh.call(columns)
      },
    })
    const input = { text: 'rain', lens: 'beliefs', timeout_ms }
    const asked = engine.query(input, { viewer: { id: 'ann' }, signal: gone.signal })
    await expect(asked.finally(() => Reflect.deleteProperty(columns, 'refresh'))).rejects.toMatchObject({ code })
    expect(
      (await engine.query({ ...input, timeout_ms: 30_000 }, { viewer: { id: 'ann' } })).items.length,
    ).toBeGreaterThan(0)
  })
})

describe('a look at the clock (BQ-192)', () => {
  it(`comes with every ${ROWS_AT_ONCE} rows that facets go through, and with every 50 beliefs that are shown`, async () => {
    const looks = async (name: string) => {
      const clock = stopped(Number.POSITIVE_INFINITY)
      await ask(name, { machineTime: clock.now })
      return clock.looks()
    }
    expect(await looks('similar')).toBeGreaterThanOrEqual(Math.ceil(LIKE_IT / 50))
    expect(await looks('contradictions')).toBeGreaterThanOrEqual(LIKE_IT)
    expect(await looks('context_query')).toBeGreaterThanOrEqual(LIKE_IT)
    const few = await looks('facets')
    const beliefs = Array.from({ length: ROWS_AT_ONCE / 2 }, (_, at) => ({
      content: `Snow ${at}`,
      visibility: 'public',
    }))
    const context = { viewer: { id: 'ann' }, signal: never }
    for (const part of [0, 1, 2, 3]) {
      const of = beliefs.slice((part * beliefs.length) / 4, ((part + 1) * beliefs.length) / 4)
      for (const by of [0, 1]) {
        const named = of.map(({ content, ...rest }) => ({ ...rest, content: `${content} ${by}` }))
        await callOperation(makeCatalog(engine), engine, 'beliefs.put', { beliefs: named, wait: false }, context)
      }
    }
    // The pass over what is in sight, the filter, the depths and the counting: each goes through the rows.
    expect((await looks('facets')) - few).toBeGreaterThanOrEqual(4)
  })
})

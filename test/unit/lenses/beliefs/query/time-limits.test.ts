/** BQ-192: how long a question may take. The clock of the limits is the test's own, and ticks whenever it is looked at. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { SettableClock } from '../../../../../src/base/clock.ts'
import type { Embedder } from '../../../../../src/embed/embedder.ts'
import type { Engine } from '../../../../../src/engine/engine.ts'
import { openEngine } from '../../../../../src/engine/open.ts'
import type { QueryResult } from '../../../../../src/lenses/beliefs/model.ts'
import { runQuery, streamQuery } from '../../../../../src/lenses/beliefs/paging/reading.ts'
import { countMatches } from '../../../../../src/lenses/beliefs/questions/facets.ts'
import { stateOf } from '../../../../../src/lenses/beliefs/state.ts'
import { CHARACTERS_AT_ONCE, ROWS_AT_ONCE, TimeLimit } from '../../../../../src/lenses/beliefs/time-limit.ts'
import { callOperation, makeCatalog } from '../../../../../src/ops/catalog.ts'
import { seededBytes } from '../../../../support/seeded.ts'
import { openToyEmbedder } from '../../../../support/toy-embedder.ts'
import { turnsOf } from '../../../../support/turns-of.ts'
import { checkQuery, checkStreamedQuery } from '../schema/checks.ts'

vi.mock('../../../../../src/base/turns.ts', async original =>
  (await import('../../../../support/turns-of.ts')).alwaysDue(original),
)

const never = new AbortController().signal
let engine: Engine
afterEach(() => engine.close())

function open(embedder: Embedder | 'none'): Promise<Engine> {
  const clock = new SettableClock(Date.UTC(2026, 5, 1))
  const random = seededBytes(1)
  return openEngine({ store: 'memory', embedder, clock, random, background: false })
}

async function put(contents: readonly string[]): Promise<void> {
  const beliefs = contents.map(content => ({ content, confidence: { source_reliability: 0.9 } }))
  const context = { viewer: { id: 'ann' }, signal: never }
  for (let from = 0; from < beliefs.length; from += 500) {
    const input = { beliefs: beliefs.slice(from, from + 500) }
    await callOperation(makeCatalog(engine), engine, 'beliefs.put', input, context)
  }
}

function ask(query: object, machineTime?: () => number, signal: AbortSignal = never): Promise<QueryResult> {
  const state = stateOf(engine.host('beliefs'))
  const checked = checkQuery(query, { id: 'ann', trustGraph: null })
  return runQuery(state, checked, { requester: 'ann', signal, machineTime })
}

/** A millisecond a look. */
function ticking(): { readonly now: () => number; looks: number } {
  const clock = { looks: 0, now: () => clock.looks++ }
  return clock
}

const CONTENTS = [
  'Rain falls on the hills',
  'Rain falls in the valley',
  'Snow covers the hills',
  'Wind blows over the sea',
]

describe('a question with a time limit (BQ-192)', () => {
  beforeEach(async () => {
    engine = await open(openToyEmbedder())
    await put(CONTENTS)
  })

  const query = (timeout_ms: number) => ({
    semantic: 'rain +rain',
    filters: { created_after: '2020-01-01T00:00:00Z' },
    options: { timeout_ms, include_explanation: true, include_derivation: true },
  })

  async function outcome(timeout: number): Promise<'late' | 'part' | 'whole'> {
    try {
      const { partial, errors, beliefs } = await ask(query(timeout), ticking().now)
      expect(beliefs.length).toBeGreaterThan(0)
      expect(errors).toMatchObject(partial ? [{ code: 'TIMEOUT', retryable: true }] : [])
      const isExplained = beliefs.every(belief => 'explanation' in belief && 'derivation_chain' in belief)
      expect(isExplained).toBe(!partial)
      return partial ? 'part' : 'whole'
    } catch (thrown) {
      expect(thrown).toMatchObject({
        code: 'TIMEOUT',
        retryable: true,
        details: { elapsed_ms: expect.any(Number), timeout_ms: timeout },
      })
      return 'late'
    }
  }

  it('ends late, then with a part, then whole, the more time it has', async () => {
    await ask(query(30_000))
    const outcomes: string[] = []
    for (let timeout = 1; timeout <= 60; timeout++) outcomes.push(await outcome(timeout))
    const kinds = outcomes.filter((kind, at) => kind !== outcomes[at - 1])
    expect(kinds).toEqual(['late', 'part', 'whole'])
  })

  it('leaves nothing behind: the next one is answered as ever', async () => {
    const before = await ask(query(30_000))
    for (let timeout = 1; timeout <= 20; timeout++) await outcome(timeout)
    expect({ ...(await ask(query(30_000))), query_time_ms: 0 }).toEqual({ ...before, query_time_ms: 0 })
  })

  it('holds for what is counted too', async () => {
    const state = stateOf(engine.host('beliefs'))
    const asked = checkQuery({ semantic: 'rain', options: { timeout_ms: 1 } }, { id: 'ann', trustGraph: null })
    const call = { requester: 'ann', signal: never, machineTime: ticking().now }
    await expect(countMatches(state, asked, call)).rejects.toMatchObject({ code: 'TIMEOUT' })
  })
})

describe('a look at the clock (BQ-192)', () => {
  it(`comes with every ${ROWS_AT_ONCE} rows at the latest`, async () => {
    engine = await open('none')
    await put(['the first'])
    const looks = async () => {
      const clock = ticking()
      // A moment of its own, so that no pass is kept; filters that look at every row.
      const filters = { valid_at: '2027-01-01T00:00:00Z', created_after: '2020-01-01T00:00:00Z' }
      await ask({ semantic: '', filters, options: { timeout_ms: 30_000 } }, clock.now)
      return clock.looks
    }
    const few = await looks()
    await put(Array.from({ length: 2 * ROWS_AT_ONCE }, (_, at) => `belief ${at}`))
    // The pass over what is in sight, the filter, and what all stand at: each goes through the rows.
    expect((await looks()) - few).toBeGreaterThanOrEqual(3 * 2)
  })

  it(`comes with every ${CHARACTERS_AT_ONCE} characters in which words are looked for, for each operand again`, async () => {
    engine = await open('none')
    await put(['rain'])
    const looks = async (semantic: string) => {
      const clock = ticking()
      await ask({ semantic, options: { timeout_ms: 30_000 } }, clock.now)
      return clock.looks
    }
    const few = await looks('rain +fog -snow "fog"')
    await put(Array.from({ length: 10 }, (_, at) => `fog ${at} `.padEnd(CHARACTERS_AT_ONCE, 'fog ')))
    // To fold each, and for each of the phrase, what is shut out and what is demanded.
    expect((await looks('rain +fog -snow "fog"')) - few).toBeGreaterThanOrEqual(10 * 4)
    expect((await looks('rain +fog -snow "fog"')) - few).toBeGreaterThanOrEqual(10 * 3)
  })

  it('comes with each pick of diversity, and with each two results that are set beside each other', async () => {
    engine = await open('none')
    await put(Array.from({ length: 60 }, (_, at) => `belief ${at}`))
    const looks = async (options: object) => {
      const clock = ticking()
      const { beliefs, partial } = await ask(
        { semantic: 'belief', options: { timeout_ms: 30_000, limit: 50, ...options } },
        clock.now,
      )
      expect({ count: beliefs.length, partial }).toEqual({ count: 50, partial: false })
      return clock.looks
    }
    await looks({})
    const plain = await looks({})
    expect(plain).toBeGreaterThanOrEqual((50 * 49) / 2)
    // Less a look or two of the total order, which is not asked for.
    expect((await looks({ diversity: { enabled: true } })) - plain).toBeGreaterThanOrEqual(45)
  })

  it('ends the comparing, and leaves the results: the answer is a part', async () => {
    engine = await open('none')
    // They give different numbers, which is a conflict of each two.
    await put(Array.from({ length: 50 }, (_, at) => `belief ${at}`))
    const query = (timeout_ms: number) => ({ semantic: 'belief', options: { timeout_ms, limit: 50 } })
    const whole = await ask(query(30_000), () => 0)
    // Also where it pauses when its time is over.
    const { result: cut } = await turnsOf(() => ask(query(600), ticking().now))
    expect(cut).toMatchObject({ partial: true, errors: [{ code: 'TIMEOUT' }], total_count: 50, beliefs: whole.beliefs })
    expect(cut.conflicts.length).toBeGreaterThan(0)
    expect(whole.conflicts.length).toBeGreaterThan(cut.conflicts.length)
    expect(whole.conflicts.slice(0, cut.conflicts.length)).toEqual(cut.conflicts)
  })

  it('comes with every so many calls of a ticker', () => {
    const clock = ticking()
    const tick = new TimeLimit(3, never, clock.now).ticker()
    let calls = 0
    const tickAll = () => {
      for (; calls < 10 * ROWS_AT_ONCE; calls++) tick()
    }
    expect(tickAll).toThrow('longer than 3 ms')
    expect(calls).toBe(3 * ROWS_AT_ONCE - 1)
  })
})

describe('an embedder that never answers (BQ-192)', () => {
  let stopped: AbortSignal | undefined

  beforeEach(async () => {
    const toy = openToyEmbedder()
    const embed: Embedder['embed'] = (texts, kind, signal) => {
      if (kind !== 'query') return toy.embed(texts, kind, signal)
      stopped = signal
      return new Promise(() => undefined)
    }
    engine = await open({ ...toy, model: toy.model, embed, close: () => toy.close() })
    await put(CONTENTS)
  })

  it('holds no question: words answer, the answer is partial, and the embedder is cancelled', async () => {
    // By the clock of the limits no time passes: what is left of it is as much as the answer needs.
    const query = { semantic: 'valley', options: { timeout_ms: 20 } }
    const { beliefs, partial, errors, warnings } = await ask(query, () => 0)
    expect(partial).toBe(true)
    expect(errors).toEqual([])
    expect(warnings).toMatchObject([{ code: 'meaning_late' }])
    expect(beliefs[0]?.belief.content).toBe(CONTENTS[1])
    expect(stopped?.aborted).toBe(true)
  })

  it('is reported by a stream too, in its last piece (BQ-155)', async () => {
    const asked = { semantic: 'valley', options: { timeout_ms: 20, chunk_size: 2, any: true } }
    const query = checkStreamedQuery(asked, { id: 'ann', trustGraph: null })
    const chunks: object[] = []
    const call = { requester: 'ann', signal: never, machineTime: () => 0 }
    for await (const chunk of streamQuery(stateOf(engine.host('beliefs')), query, call)) chunks.push(chunk)
    expect(chunks).toHaveLength(2)
    expect(chunks[0]).not.toHaveProperty('partial')
    expect(chunks[1]).toMatchObject({ partial: true, errors: [], warnings: [{ code: 'meaning_late' }], done: true })
  })

  it('holds no caller who has gone', async () => {
    const gone = new AbortController()
    const asked = ask({ semantic: 'valley' }, undefined, gone.signal)
    setTimeout(() => gone.abort(), 1)
    await expect(asked).rejects.toThrow()
    expect(stopped?.aborted).toBe(true)
  })
})

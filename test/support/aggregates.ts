/** A federation whose results are aggregates, with members who hold something. */
import { SettableClock } from '../../src/base/clock.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { EngineOptions } from '../../src/engine/options.ts'
import type { AggregateAnswer } from '../../src/lenses/beliefs/aggregates/tally.ts'
import { openMemoryStore } from '../../src/store/sqlite-store.ts'
import { callOperation, type Json, openBeliefsEngine } from './beliefs-engine.ts'
import { seededUniform } from './seeded.ts'

export const START = Date.parse('2026-06-01T12:00:00Z')
export const DAY = 86_400_000

export interface Census extends AsyncDisposable {
  readonly engine: Engine
  readonly clock: SettableClock
  call(operation: string, by: string, input: Json): Promise<Json>
  ask(by: string, asked: Json): Promise<AggregateAnswer>
  /** Random bytes come from another stream from now on. */
  reseed(seed: number): void
  /** Shared with the census. */
  hold(by: string, content: string, more?: Json): Promise<Json>
}

export interface CensusOptions extends Partial<EngineOptions> {
  readonly seed?: number
  /** Of `federations.create`. */
  readonly rules?: Json
}

/** So much may an answer cost at most: its noise is hardly any. */
export const PLAIN: Json = { query_epsilon: 5, daily_epsilon: 50 }

/** With members m0, m1, … */
export async function openCensus(
  members: number,
  { seed = 1, rules = {}, ...options }: CensusOptions = {},
): Promise<Census> {
  let uniform = seededUniform(seed)
  const random = (length: number) => Uint8Array.from({ length }, () => Math.floor(256 * uniform()))
  const clock = new SettableClock(START)
  const engine = await openBeliefsEngine({ store: openMemoryStore(), clock, random, ...options })
  const call = (operation: string, by: string, input: Json) => callOperation(engine, operation, by, input)
  await call('federations.create', 'owner', { id: 'census', results: 'aggregate', ...rules })
  for (let at = 0; at < members; at++) {
    await call('agents.create', 'owner', { id: `m${at}` })
    await call('federations.set_member', 'owner', { federation: 'census', agent: `m${at}` })
  }
  return {
    ...{ engine, clock, call },
    ask: async (by, asked) =>
      (await call('federations.aggregate', by, { federation: 'census', ...asked })) as unknown as AggregateAnswer,
    reseed: other => {
      uniform = seededUniform(other)
    },
    hold: (by, content, more = {}) => call('beliefs.put', by, { content, ...SHARED, ...more }),
    [Symbol.asyncDispose]: () => engine.close(),
  }
}

export const SHARED: Json = { visibility: 'federated', federation_ids: ['census'] }

/** The error of a call, as the caller receives it; fails where the call succeeds. */
export async function refusal(asked: Promise<unknown>): Promise<Json> {
  const thrown = await asked.then(
    () => new Error('it was not refused'),
    (error: { toJSON(): Json }) => error,
  )
  if (!('toJSON' in thrown)) throw thrown
  const { request_id: _, ...fields } = thrown.toJSON()
  return fields
}

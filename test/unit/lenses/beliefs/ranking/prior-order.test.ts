import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SettableClock } from '../../../../../src/base/clock.ts'
import type { BeliefColumns } from '../../../../../src/lenses/beliefs/columns/columns.ts'
import { Matches } from '../../../../../src/lenses/beliefs/matching/matches.ts'
import { RankedMatches } from '../../../../../src/lenses/beliefs/ranking/ranked-matches.ts'
import { callOperation, makeCatalog } from '../../../../../src/ops/catalog.ts'
import { seededUniform } from '../../../../../src/testing/seeded.ts'
import { openToyEmbedder } from '../../../../../src/testing/toy-embedder.ts'
import { openTestEngine, TEST_NOW } from '../../../../support/engines.ts'

const number = fc.float({ min: -2, max: 2, noNaN: true })

describe('an order by priors', () => {
  it('holds each match with its prior, and reaches all that have so much from the front', () => {
    fc.assert(
      fc.property(fc.array(number, { minLength: 1, maxLength: 200 }), number, (priors, least) => {
        const rows = Int32Array.from(priors, (_, place) => place * 3)
        const columns = { arrays: { entries: Int32Array.from({ length: priors.length * 3 }, (_, row) => row + 7) } }
        const matches = new Matches(columns as BeliefColumns, rows, new Uint8Array(rows.length))
        const order = new RankedMatches(matches, columns as BeliefColumns, Float32Array.from(priors))
        const held = Array.from(order.entries, (entry, at) => [entry, order.priors[at]])
        expect(held.sort(([a], [b]) => (a as number) - (b as number))).toEqual(
          priors.map((prior, at) => [at * 3 + 7, prior]),
        )
        const behind = order.priors.subarray(order.reach(least))
        expect(behind.every(prior => prior < least)).toBe(true)
        expect(order.reach(Number.NEGATIVE_INFINITY)).toBe(priors.length)
      }),
    )
  })
})

describe('BQ-082, BQ-083: the best of very many', () => {
  it('are the beginning of all, whatever was asked before, as time passes and trust changes', async () => {
    const clock = new SettableClock(TEST_NOW)
    const engine = await openTestEngine({ embedder: openToyEmbedder(), clock })
    const call = async <T>(viewer: string, name: string, input: unknown) => {
      const context = { viewer: { id: viewer }, signal: new AbortController().signal }
      return (await callOperation(makeCatalog(engine), engine, name, input, context)) as T
    }
    const uniform = seededUniform(5)
    const pick = <T>(from: readonly T[]): T => from[Math.floor(uniform() * from.length)] as T
    const words = ['rain', 'snow', 'hail', 'wind', 'fog', 'sun', 'frost', 'dew']
    const holders = ['ann', 'bob', 'cat', 'dan', 'eve']
    for (let at = 0; at < 75; at++) {
      const beliefs = Array.from({ length: 20 }, (_, n) => ({
        content: `${pick(words)} ${pick(words)} ${pick(words)} ${at}-${n}`,
        visibility: 'public',
        confidence: { source_reliability: Math.round(uniform() * 100) / 100, corroboration: uniform() },
        domains: [pick(['news', 'weather/local', 'weather'])],
      }))
      await call(pick(holders), 'beliefs.put', { beliefs })
      clock.set(clock.now() + 3_600_000)
    }
    type Answer = { beliefs: { belief: { id: string }; score: unknown }[] }
    const ask = async (limit: number, more: object = {}) => {
      const query = { semantic: 'snow and frost', options: { scope: { network: true }, dry_run: true, limit }, ...more }
      const { beliefs } = await call<Answer>('zoe', 'beliefs.query', query)
      return beliefs.slice(0, 5).map(({ belief, score }) => [belief.id, score])
    }
    const filtered = { filters: { domains_include: ['weather'] } }
    for (const minutes of [0, 1, 30, 90, 3, 60 * 24 * 40]) {
      clock.set(clock.now() + minutes * 60_000)
      expect(await ask(5)).toEqual(await ask(1000))
      expect(await ask(5, filtered)).toEqual(await ask(1000, filtered))
      await call('zoe', 'trust.set', { target: pick(holders), trust_level: Math.round(uniform() * 10) / 10 })
      expect(await ask(5)).toEqual(await ask(1000))
    }
    await engine.close()
  })
})

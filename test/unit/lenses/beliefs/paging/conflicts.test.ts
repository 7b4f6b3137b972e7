/**
 * Pages and pieces of an answer whose results contradict each other, (BQ-143, BQ-150, BQ-174).
 * The detector of these tests goes by a letter, so that there are many conflicts, and chains of them.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Conflict } from '../../../../../src/lenses/beliefs/model.ts'
import { streamInCall } from '../../../../../src/lenses/beliefs/operations/question-ops.ts'
import { installDetector } from '../../../../../src/lenses/beliefs/opposition/heuristic.ts'
import type { QueryChunk } from '../../../../../src/lenses/beliefs/paging/stream-query.ts'
import type { Query } from '../../../../../src/lenses/beliefs/schema/query.ts'
import { openMemoryStore } from '../../../../../src/store/sqlite-store.ts'
import type { Json } from '../../../../support/beliefs-engine.ts'
import { EVERYWHERE } from '../../../../support/beliefs-paging.ts'
import { assertUntil } from '../../../../support/until-met.ts'
import { ids, World } from './world.ts'

const SIDES = ['p', 'q', 'r', 's'] as const
/** Two contradict each other where their sides stand next to each other here. */
const OPPOSED = ['pq', 'qr', 'rs']

const sideOf = ({ content }: { readonly content: string }) => content.at(-1) as string
const DETECTOR = {
  name: 'sides',
  note: 'Of tests.',
  detect: (a: { readonly content: string }, b: { readonly content: string }) => {
    const sides = [sideOf(a), sideOf(b)].sort().join('')
    return OPPOSED.includes(sides) ? { type: 'direct' as const, score: 0.9, text: `They are ${sides}.` } : null
  },
}

async function worldOf(sides: readonly string[]): Promise<World> {
  const world = await World.open(openMemoryStore())
  installDetector(world.engine.host('beliefs'), { contradictionDetector: DETECTOR })
  // Of one topic, whatever else they say.
  const words = ['fox', 'fox honey', 'honey'].map(some => `${some} garden moon bees in the old garden by the sea`)
  for (const [at, by] of ['bob', 'cyd'].entries()) {
    const beliefs = sides
      .map((side, n) => ({ id: `b${n}`, content: `${words[n % 3]} ${n} ${side}`, visibility: 'public' }))
      .filter((_, n) => n % 2 === at)
    if (beliefs.length > 0) await world.call('beliefs.put', by, { beliefs })
  }
  world.wait(1000)
  return world
}

async function piecesOf(world: World, query: Json, options: Json): Promise<readonly QueryChunk[]> {
  const input = { ...query, options: { scope: EVERYWHERE, ...options } }
  const context = { viewer: { id: 'ann' }, signal: new AbortController().signal }
  const pieces: QueryChunk[] = []
  for await (const piece of streamInCall(world.engine.host('beliefs'), input as unknown as Query, context)) {
    pieces.push(piece as unknown as QueryChunk)
  }
  return pieces
}

/** Which contradict each other, in whatever order they are told. */
function pairs(told: readonly { readonly conflicts?: readonly Conflict[] }[]): readonly string[] {
  return told.flatMap(({ conflicts = [] }) => conflicts.map(one => JSON.stringify(one))).sort()
}

const LIST = { semantic: '', filters: { min_confidence: { overall: 0.001 } } }
const QUERIES: readonly Json[] = [{ semantic: 'fox honey' }, LIST]
const SPREADS: readonly Json[] = [{}, { diversity: { enabled: true, lambda: 0.5, max_per_holder: 9 } }]

describe('BQ-143, BQ-150, BQ-174: pages and pieces joined are the one list', () => {
  it('with and without diversity', async () => {
    const stories = fc.record({
      sides: fc.array(fc.constantFrom(...SIDES), { minLength: 1, maxLength: 14, size: 'max' }),
      query: fc.constantFrom(...QUERIES),
      spread: fc.constantFrom(...SPREADS),
      size: fc.integer({ min: 1, max: 15 }),
      offset: fc.constantFrom(0, 0, 2),
    })
    let conflicting = 0
    await assertUntil(
      fc.asyncProperty(stories, async ({ sides, query, spread, size, offset }) => {
        const world = await worldOf(sides)
        const whole = await world.ask({ ...spread, limit: 100 }, query)
        expect(whole).not.toHaveProperty('next_cursor')
        const pages = await world.pages(size, spread, query)
        expect(pages.flatMap(page => page.beliefs)).toEqual(whole.beliefs)
        // A further page is promised exactly if there is one.
        expect(pages).toHaveLength(Math.max(1, Math.ceil(whole.beliefs.length / size)))
        expect(pages.every(page => page.total_count === whole.total_count)).toBe(true)
        const skipped = await world.ask({ ...spread, offset, limit: size }, query)
        expect(skipped.beliefs).toEqual(whole.beliefs.slice(offset, offset + size))
        const pieces = await piecesOf(world, query, { ...spread, limit: 100, chunk_size: size })
        expect(pieces.flatMap(piece => piece.beliefs)).toEqual(whole.beliefs)
        // What stands in different pieces is set beside each other too; of pages each speaks of its own.
        expect(pairs(pieces)).toEqual(pairs([whole]))
        if (whole.conflicts.length > 0) conflicting++
      }),
      { numRuns: 25 },
      () => expect(conflicting).toBeGreaterThan(0),
    )
  })
})

describe('BQ-145, BQ-174: a piece of a stream', () => {
  it('tells of conflicts with what was read before only while that may be seen', async () => {
    const sides = ['p', 'q', 'q', 'p', 'q', 'p']
    for (const isLost of [false, true]) {
      const world = await worldOf(sides)
      const input = { semantic: 'fox honey', options: { scope: EVERYWHERE, chunk_size: 1 } }
      const context = { viewer: { id: 'ann' }, signal: new AbortController().signal }
      const pieces = streamInCall(world.engine.host('beliefs'), input as unknown as Query, context)
      const [read] = ids((await pieces.next()).value as unknown as QueryChunk) as [string]
      const holder = Number(read.slice(1)) % 2 === 0 ? 'bob' : 'cyd'
      if (isLost)
        await world.call('beliefs.supersede', holder, { belief_id: read, content: 'x', visibility: 'private' })
      const told: Conflict[] = []
      for await (const piece of pieces) told.push(...((piece as unknown as QueryChunk).conflicts ?? []))
      expect(told.some(({ belief_ids }) => belief_ids.includes(read))).toBe(!isLost)
      expect(told.length).toBeGreaterThan(0)
    }
  })
})

/**
 * Pages and pieces of an answer whose results contradict each other, with each of the settings (BQ-143, BQ-150, BQ-174).
 * The detector of these tests goes by a letter, so that there are many conflicts, and chains of them.
 */
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { installDetector } from '../../../../../src/lenses/beliefs/contradiction/heuristic.ts'
import type { Conflict } from '../../../../../src/lenses/beliefs/model.ts'
import { streamInCall } from '../../../../../src/lenses/beliefs/operations/question-ops.ts'
import type { QueryChunk } from '../../../../../src/lenses/beliefs/paging/reading.ts'
import type { Query } from '../../../../../src/lenses/beliefs/schema/query.ts'
import { openMemoryStore, openSqliteStore } from '../../../../../src/store/sqlite-store.ts'
import type { Json } from '../../../../support/beliefs-engine.ts'
import { EVERYWHERE } from '../../../../support/beliefs-paging.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { assertUntil } from '../../../../support/until-met.ts'
import { type Asked, ids, World } from './world.ts'

const folder = tempFolder()
afterAll(() => folder[Symbol.dispose]())

const STANCES = ['p', 'q', 'r', 's'] as const
/** Two contradict each other where their stances are next to each other here. */
const OPPOSED = ['pq', 'qr', 'rs']

const sideOf = ({ content }: { readonly content: string }) => content.at(-1) as string
const DETECTOR = {
  name: 'stances',
  note: 'Of tests.',
  detect: (a: { readonly content: string }, b: { readonly content: string }) => {
    const stances = [sideOf(a), sideOf(b)].sort().join('')
    return OPPOSED.includes(stances) ? { type: 'direct' as const, score: 0.9, text: `They are ${stances}.` } : null
  },
}

type Strategy = 'both_shown' | 'one_penalized' | 'one_excluded'

async function worldOf(stances: readonly string[], conflicts: Strategy, store = openMemoryStore()): Promise<World> {
  const world = await World.open(store, { settings: { conflicts } })
  installDetector(world.engine.host('beliefs'), { contradictionDetector: DETECTOR })
  // Of one topic, whatever else they say.
  const words = ['fox', 'fox honey', 'honey'].map(some => `${some} garden moon bees in the old garden by the sea`)
  for (const [at, by] of ['bob', 'cyd'].entries()) {
    const beliefs = stances
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

/** Which contradict each other, in whatever order they are reported. */
function pairs(chunks: readonly { readonly conflicts?: readonly Conflict[] }[]): readonly string[] {
  return chunks.flatMap(({ conflicts = [] }) => conflicts.map(one => JSON.stringify(one))).sort()
}

const LIST = { semantic: '', filters: { min_confidence: { overall: 0.001 } } }
const QUERIES: readonly Json[] = [{ semantic: 'fox honey' }, LIST]
const SPREADS: readonly Json[] = [{}, { diversity: { enabled: true, lambda: 0.5, max_per_holder: 9 } }]

describe('BQ-143, BQ-150, BQ-174: pages and pieces joined are the one list, whatever is set', () => {
  it.each(['one_penalized', 'one_excluded', 'both_shown'] as const)('%s', async strategy => {
    const stories = fc.record({
      stances: fc.array(fc.constantFrom(...STANCES), { minLength: 1, maxLength: 14, size: 'max' }),
      query: fc.constantFrom(...QUERIES),
      spread: fc.constantFrom(...SPREADS),
      size: fc.integer({ min: 1, max: 15 }),
      offset: fc.constantFrom(0, 0, 2),
    })
    let [conflicting, moved] = [0, 0]
    await assertUntil(
      fc.asyncProperty(stories, async ({ stances, query, spread, size, offset }) => {
        const world = await worldOf(stances, strategy)
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
        // Beliefs in different pieces are compared too; each page reports its own.
        expect(pairs(pieces)).toEqual(pairs([whole]))
        if (strategy !== 'both_shown') expect(pairs(pages)).toEqual(pairs([whole]))
        if (whole.conflicts.length > 0) conflicting++
        if (strategy === 'one_excluded' && whole.total_count > whole.beliefs.length) moved++
        if (strategy === 'one_penalized' && whole.beliefs.some(isRisen)) moved++
      }),
      { numRuns: 25 },
      () => {
        expect(conflicting).toBeGreaterThan(0)
        if (strategy !== 'both_shown') expect(moved).toBeGreaterThan(0)
      },
    )
  })

  const isRisen = ({ score }: Asked['beliefs'][number], at: number, all: Asked['beliefs']) =>
    at > 0 && score.final > (all[at - 1] as Asked['beliefs'][number]).score.final

  it.each(['one_penalized', 'one_excluded'] as const)('of long lists, past the first hundred: %s', async strategy => {
    const stances = Array.from({ length: 150 }, (_, n) => (n % 7 === 0 ? 'q' : n % 2 === 0 ? 'p' : 't'))
    const world = await worldOf(stances, strategy)
    const whole = await world.ask({ limit: 1000, include_explanation: true })
    expect(whole.total_count).toBe(150)
    expect(whole.beliefs.length < 150).toBe(strategy === 'one_excluded')
    for (const size of [40, 101]) {
      const pages = await world.pages(size, { include_explanation: true })
      expect(pages.flatMap(page => page.beliefs)).toEqual(whole.beliefs)
    }
    const pieces = await piecesOf(world, { semantic: 'fox honey' }, { limit: 1000, chunk_size: 30 })
    expect(pieces.flatMap(ids)).toEqual(ids(whole))
  })
})

describe('BQ-145, BQ-174: what is settled at first', () => {
  it('stays so: what was left out does not come up where what it contradicts has gone', async () => {
    const world = await worldOf(['t', 't', 'p', 't', 'q', 't', 'p', 'q'], 'one_excluded')
    const whole = ids(await world.ask({ limit: 50 }))
    const leftOut = ['b2', 'b4', 'b6', 'b7'].filter(id => !whole.includes(id))
    expect(leftOut).toHaveLength(2)
    const first = await world.ask({ limit: 1 })
    const gone = ['b2', 'b4', 'b6', 'b7'].filter(id => whole.slice(1).includes(id))
    for (const id of gone) {
      await world.call('beliefs.delete', Number(id.slice(1)) % 2 === 0 ? 'bob' : 'cyd', { belief_id: id })
    }
    const then = await world.ask({ limit: 50, cursor: first.next_cursor as string })
    expect(ids(then)).toEqual(whole.slice(1).filter(id => !gone.includes(id)))
    expect(gone.length).toBeGreaterThan(0)
    // What has gone is not named any more.
    expect(then.conflicts).toEqual([])
  })

  it('tells of conflicts with what was read before only while that may be seen', async () => {
    const stances = ['p', 'q', 'q', 'p', 'q', 'p']
    for (const isLost of [false, true]) {
      const world = await worldOf(stances, 'both_shown')
      const input = { semantic: 'fox honey', options: { scope: EVERYWHERE, chunk_size: 1 } }
      const context = { viewer: { id: 'ann' }, signal: new AbortController().signal }
      const pieces = streamInCall(world.engine.host('beliefs'), input as unknown as Query, context)
      const [read] = ids((await pieces.next()).value as unknown as QueryChunk) as [string]
      const holder = Number(read.slice(1)) % 2 === 0 ? 'bob' : 'cyd'
      if (isLost)
        await world.call('beliefs.supersede', holder, { belief_id: read, content: 'x', visibility: 'private' })
      const reported: Conflict[] = []
      for await (const piece of pieces) reported.push(...((piece as unknown as QueryChunk).conflicts ?? []))
      expect(reported.some(({ belief_ids }) => belief_ids.includes(read))).toBe(!isLost)
      expect(reported.length).toBeGreaterThan(0)
    }
  })

  it('says so, where somebody asks why something is not shown', async () => {
    const world = await worldOf(['p', 'q'], 'one_excluded')
    const [shown] = ids(await world.ask({ limit: 50 })) as [string]
    const belief_id = shown === 'b0' ? 'b1' : 'b0'
    const query = { semantic: 'fox honey', options: { scope: EVERYWHERE } }
    const why = await world.call('beliefs.explain', 'ann', { belief_id, query })
    expect(JSON.stringify(why)).toContain(`It contradicts ${shown}`)
  })

  it.each(['one_penalized', 'one_excluded'] as const)('another engine settles it alike: %s', async strategy => {
    const stances = ['p', 'q', 't', 'p', 'q', 't', 'r', 'p', 's', 'q']
    const file = folder.file(`${strategy}.db`)
    const world = await worldOf(stances, strategy, openSqliteStore({ file }))
    const whole = ids(await world.ask({ limit: 50 }))
    const first = await world.ask({ limit: 2 })
    await world.engine.close()
    const open = async (conflicts: Strategy) => {
      const other = await World.open(openSqliteStore({ file }), {
        ...{ clock: world.clock, isNew: false, settings: { conflicts } },
      })
      installDetector(other.engine.host('beliefs'), { contradictionDetector: DETECTOR })
      return other
    }
    const other = await open(strategy)
    expect(ids(await other.ask({ limit: 50, cursor: first.next_cursor as string }))).toEqual(whole.slice(2))
    await other.engine.close()
    // Set otherwise it is another order.
    const changed = await open('both_shown')
    expect(await changed.refused({ limit: 50, cursor: first.next_cursor })).toMatchObject({ reason: 'cursor_expired' })
    await changed.engine.close()
  })
})

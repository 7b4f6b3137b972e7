/** The candidate step: what a text is about decides which beliefs take part, before trust counts (BQ-043). */
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SettableClock } from '../../../../../src/base/clock.ts'
import type { Engine } from '../../../../../src/engine/engine.ts'
import type { BeliefColumns } from '../../../../../src/lenses/beliefs/columns/columns.ts'
import { candidatesSince } from '../../../../../src/lenses/beliefs/matching/candidates.ts'
import { Matches } from '../../../../../src/lenses/beliefs/matching/in-scope.ts'
import type { QueryResult } from '../../../../../src/lenses/beliefs/model.ts'
import { streamQuery } from '../../../../../src/lenses/beliefs/paging/reading.ts'
import { stateOf } from '../../../../../src/lenses/beliefs/state.ts'
import { callOperation, type Json, openBeliefsEngine } from '../../../../support/beliefs-engine.ts'
import { TOY_KEY } from '../../../../support/toy-embedder.ts'
import { checkStreamedQuery } from '../schema/checks.ts'

const SCOPE = { local: true, federated: true, network: true }
const FLOOR = 0.3

let engine: Engine
const clock = new SettableClock(Date.UTC(2026, 5, 1))
const open = async (
  settings: Json = { thresholds: { [TOY_KEY]: { include: 0.5, floor: FLOOR } } },
  more: Json = {},
) => {
  engine = await openBeliefsEngine({ store: 'memory', clock, ...more }, settings)
  for (const id of ['ann', 'bob', 'cyd']) await call('agents.create', 'owner', { id })
}
beforeEach(() => open())
afterEach(() => engine.close())

function call(name: string, by: string, input: Json): Promise<Json> {
  return callOperation(engine, name, by, input)
}

function put(by: string, id: string, content: string, more: Json = {}): Promise<Json> {
  return call('beliefs.put', by, { id, content, visibility: 'public', ...more })
}

async function ask(semantic: string, options: Json = {}, more: Json = {}): Promise<QueryResult> {
  const answer = await call('beliefs.query', 'ann', { semantic, options: { scope: SCOPE, ...options }, ...more })
  return answer as unknown as QueryResult
}

const ids = ({ beliefs }: Pick<QueryResult, 'beliefs'>) => beliefs.map(({ belief }) => belief.id)

describe('BQ-043: candidates', () => {
  beforeEach(async () => {
    await put('bob', 'fox', 'fox den')
    await put('bob', 'moon', 'moon tide')
    await put('cyd', 'wine', 'wine honey')
    await call('trust.set', 'ann', { target: 'cyd', trust_level: 1 })
  })

  it('are what is near the text, whomever one trusts: nothing else is scored, counted, faceted or diversified', async () => {
    const answer = await ask('fox')
    expect(ids(answer)).toEqual(['fox'])
    // BQ-149, BQ-027
    expect(answer).toMatchObject({ total_count: 1, count_exact: true, warnings: [] })
    expect(answer).toMatchObject({ verdict_by: 'meaning', nearest: [] })
    expect(['answered', 'weak']).toContain(answer.verdict)
    const query = { semantic: 'fox', options: { scope: SCOPE } }
    expect(await call('beliefs.count', 'ann', query)).toMatchObject({ total: 1, exact: true, by_scope: { network: 1 } })
    // BQ-171
    const facets = await call('beliefs.facets', 'ann', { query, fields: ['holder_id'] })
    expect(facets).toMatchObject({ total: 1, facets: { holder_id: { values: [{ value: 'bob', count: 1 }] } } })
    // BQ-085, BQ-084
    for (const lambda of [0, 0.7, 1]) {
      expect(ids(await ask('fox', { diversity: { enabled: true, lambda, max_per_holder: 1 } }))).toEqual(['fox'])
    }
  })

  it('say where there is none that nothing is relevant, and what came closest', async () => {
    const answer = await ask('garden', {}, { filters: { exclude_holders: ['cyd'] } })
    expect(answer).toMatchObject({ beliefs: [], total_count: 0, verdict: 'nothing_relevant', verdict_by: 'meaning' })
    expect(answer.verdict_reason).toMatch(/near the text: the nearest has a cosine of -?0\.\d\d, and 0\.30 is needed/)
    expect(answer.nearest?.map(({ belief }) => belief.id).sort()).toEqual(['fox', 'moon'])
    expect(answer.nearest?.map(({ rank }) => rank)).toEqual([1, 2])
    const cosines = answer.nearest?.map(({ score }) => score.components.semantic_similarity as number) ?? []
    expect(cosines).toEqual([...cosines].sort((a, b) => b - a))
    expect((await ask('', {}, { filters: 'recent' })).verdict).toBeUndefined()
  })

  it('are all with `any`, or by the bound that is asked for', async () => {
    expect(await ask('garden', { any: true })).toMatchObject({ total_count: 3, nearest: [] })
    expect(await ask('garden', { min_similarity: -1 })).toMatchObject({ total_count: 3 })
    expect(await ask('fox', { min_similarity: 0.99 })).toMatchObject({ total_count: 0, verdict: 'nothing_relevant' })
    expect(ids(await ask('fox moon', { min_similarity: 0.2 })).sort()).toEqual(['fox', 'moon'])
    // BQ-088
    for (const min_similarity of [-1.01, 1.01, Number.NaN]) {
      await expect(ask('fox', { min_similarity })).rejects.toMatchObject({ code: 'INVALID_QUERY' })
    }
    await expect(ask('fox', { any: 1 })).rejects.toMatchObject({ details: { path: 'options.any' } })
  })

  it('are those too that hold a phrase or an included term as it is written, however far they are', async () => {
    await put('bob', 'far', 'the tide and the old road to the sea and a garden gate')
    expect(ids(await ask('fox'))).toEqual(['fox'])
    expect(ids(await ask('fox +gate'))).toEqual(['far'])
    expect(ids(await ask('fox "garden gate"'))).toEqual(['far'])
  })

  it('take part by their words while they have no vector, and the answer warns', async () => {
    await put('bob', 'new', 'a fox in the garden', { wait: false })
    await put('bob', 'other', 'the moon', { wait: false })
    const answer = await ask('fox', { include_explanation: true })
    expect(ids(answer).sort()).toEqual(['fox', 'new'])
    expect(answer).toMatchObject({ verdict_by: 'words', warnings: [{ code: 'vectors_pending' }] })
    const late = answer.beliefs.find(({ belief }) => belief.id === 'new')
    // It holds all of the words: 0.2 + 0.45, as a cosine.
    expect(late?.score.components.semantic_similarity).toBeCloseTo((0.65 + 1) / 2, 9)
    expect(late?.explanation?.semantic).toMatchObject({ measured_by: 'words', cosine_distance: null })
  })

  it('are named by what left a belief out (BQ-110)', async () => {
    const query = { semantic: 'fox', options: { scope: SCOPE } }
    const why = await call('beliefs.explain', 'ann', { belief_id: 'wine', query })
    expect(why).toMatchObject({ matched: false, dropped_by: { stage: 'candidates' } })
    expect((why['dropped_by'] as Json)['reason']).toMatch(
      /too far from the text: its cosine is -?0\.\d\d, and 0\.30 is/,
    )
    expect(await call('beliefs.explain', 'ann', { belief_id: 'fox', query })).toMatchObject({ of: 1, percentile: 100 })
  })

  it('come with the verdict in the last chunk of a stream (BQ-027)', async () => {
    const query = checkStreamedQuery({ semantic: 'garden', options: { scope: SCOPE } }, { id: 'ann', trustGraph: null })
    const chunks: object[] = []
    const requester = { requester: 'ann', signal: new AbortController().signal }
    for await (const chunk of streamQuery(stateOf(engine.host('beliefs')), query, requester)) chunks.push(chunk)
    expect(chunks.at(-1)).toMatchObject({ done: true, verdict: 'nothing_relevant', verdict_by: 'meaning' })
    expect((chunks.at(-1) as { nearest: object[] }).nearest).toHaveLength(3)
  })

  it('are the same whatever is hidden, however near that is', async () => {
    const before = JSON.stringify({ ...(await ask('garden')), query_time_ms: 0 })
    await put('bob', 'hidden', 'garden', { visibility: 'private' })
    expect(JSON.stringify({ ...(await ask('garden')), query_time_ms: 0 })).toBe(before)
  })
})

describe('BQ-084: the limit for holders', () => {
  it('counts a federation that shows no holders as one, and the answer says so where that left something out', async () => {
    for (const [id, anonymity] of [
      ['vault', 'strict'],
      ['lab', 'pseudonyms'],
    ] as const) {
      await call('federations.create', 'owner', { id, anonymity })
      for (const agent of ['ann', 'bob', 'cyd'])
        await call('federations.set_member', 'owner', { federation: id, agent })
      for (const by of ['bob', 'cyd']) {
        await put(by, `${id}-${by}`, `fox of ${id} ${by}`, { visibility: 'federated', federation_ids: [id] })
      }
    }
    const diversity = { enabled: true, lambda: 1, max_per_holder: 1 }
    const answer = await ask('fox', { diversity })
    // A pseudonym is a holder of its own.
    expect(ids(answer).filter(id => id.startsWith('lab'))).toHaveLength(2)
    expect(ids(answer).filter(id => id.startsWith('vault'))).toHaveLength(1)
    expect(answer.warnings).toEqual([{ code: 'federation_limited', message: expect.stringContaining('vault') }])
    expect((await ask('fox', { diversity: { ...diversity, max_per_holder: 2 } })).warnings).toEqual([])
  })
})

describe('BQ-043: the thousand nearest', () => {
  const many = (count: number, content: (at: number) => string, prefix: string): Json => ({
    beliefs: Array.from({ length: count }, (_, at) => {
      return { id: `${prefix}${at}`, content: content(at), visibility: 'public', domains: [`n/${at % 2}`] }
    }),
  })

  it('are the candidates of a text that more are near to, and the count says so; what holds a phrase is never cut', async () => {
    await call(
      'beliefs.put',
      'bob',
      many(1_010, at => `fox ${at}`, 'f'),
    )
    await put('bob', 'far', 'a fox of the sea and the moon and the road and the garden and the wine')
    const answer = await ask('fox')
    expect(answer).toMatchObject({ total_count: 1_000, count_exact: false })
    expect(await call('beliefs.count', 'ann', { semantic: 'fox', options: { scope: SCOPE } })).toMatchObject({
      ...{ total: 1_000, exact: false },
    })
    const included = await ask('fox +fox')
    expect(included).toMatchObject({ total_count: 1_011, count_exact: false })
    // BQ-059: a filter finds all that pass it, not what is left of the nearest.
    const filtered = await ask('fox', {}, { filters: { domains_include: ['n/1'] } })
    expect(filtered).toMatchObject({ total_count: 505, count_exact: true })
  })
})

describe('BQ-043: an approximate query', () => {
  beforeEach(() =>
    call('beliefs.put', 'bob', {
      beliefs: Array.from({ length: 60 }, (_, at) => ({
        id: `f${at}`,
        content: `fox ${at} ${['moon', 'tide', 'wine', 'den'].slice(0, at % 5).join(' ')}`,
        visibility: 'public',
      })),
    }),
  )

  const cosines = ({ beliefs }: QueryResult) =>
    new Map(
      beliefs.map(
        ({ belief, score }) => [belief.id, 2 * (score.components.semantic_similarity as number) - 1] as const,
      ),
    )

  it('finds the candidates of an exact one, with cosines that are wrong by at most 0.01', async () => {
    const exact = cosines(await ask('fox moon', { limit: 60 }))
    const approximate = cosines(await ask('fox moon', { limit: 60, approximate: true }))
    expect([...approximate.keys()].sort()).toEqual([...exact.keys()].sort())
    const errors = [...approximate].map(([id, cosine]) => Math.abs(cosine - (exact.get(id) as number)))
    expect(Math.max(...errors)).toBeLessThanOrEqual(0.01)
    // Some cosines are computed from compressed vectors, so the option has an effect.
    expect(errors.some(error => error > 0)).toBe(true)
  })

  it('continues on later pages in the order of its first page, and its cursor belongs to no exact query', async () => {
    const options = { approximate: true }
    const whole = ids(await ask('fox moon', { ...options, limit: 60 }))
    const first = await ask('fox moon', { ...options, limit: 25 })
    const cursor = first.next_cursor as string
    const rest = await ask('fox moon', { ...options, limit: 35, cursor })
    expect([...ids(first), ...ids(rest)]).toEqual(whole)
    await expect(ask('fox moon', { limit: 35, cursor })).rejects.toMatchObject({
      details: { reason: 'cursor_mismatch' },
    })
  })
})

describe('without what a floor needs', () => {
  it('an embedder that is not calibrated has none, and the answer warns', async () => {
    await engine.close()
    await open({ thresholds: {} })
    await put('bob', 'fox', 'fox den')
    const answer = await ask('garden')
    expect(answer).toMatchObject({ total_count: 1, warnings: [{ code: 'not_calibrated' }] })
    expect((await ask('garden', { any: true })).warnings).toEqual([])
  })

  it('words decide where there is no embedder, and say so (QE-005)', async () => {
    await engine.close()
    await open({}, { embedder: 'none' })
    await put('bob', 'fox', 'fox den')
    await put('bob', 'moon', 'moon tide')
    expect(await ask('fox')).toMatchObject({ total_count: 1, verdict_by: 'words' })
    const nothing = await ask('garden')
    expect(nothing).toMatchObject({ total_count: 0, verdict: 'nothing_relevant', verdict_by: 'words' })
    expect(nothing.verdict_reason).toMatch(/words of the text/)
    expect(nothing.nearest).toHaveLength(2)
  })
})

it('are after some writes what a search finds, if an earlier search was the same and no candidate of it was written', () => {
  const written = fc.record({ cosine: fc.integer({ min: -4, max: 8 }), inScope: fc.boolean(), isNew: fc.boolean() })
  const property = fc.property(
    fc.array(written, { maxLength: 40 }),
    fc.integer({ min: 1, max: 12 }),
    fc.constantFrom(null, 0),
    (beliefs, most, floor) => {
      // An entry is its own row.
      const columns = { rowOf: (entry: number) => entry } as BeliefColumns
      const search = (isThere: (at: number) => boolean) => {
        const near = beliefs
          .map(({ cosine }, entry) => ({ entry, cosine }))
          .filter(({ entry, cosine }) => isThere(entry) && (floor === null || cosine >= floor))
          .sort((a, b) => b.cosine - a.cosine || a.entry - b.entry)
        const cosines = new Map(near.slice(0, most).map(({ entry, cosine }) => [entry, cosine]))
        return { cosines, isCut: near.length > most, floor }
      }
      const inScope = beliefs.flatMap(({ inScope: isSeen }, at) => (isSeen ? [at] : []))
      const before = search(at => inScope.includes(at) && beliefs[at]?.isNew === false)
      const now = search(at => inScope.includes(at))
      const changed = beliefs.flatMap(({ isNew }, at) => (isNew ? [at] : []))
      const found = candidatesSince(before, changed, {
        ...{ columns, most, cosineOf: entry => beliefs[entry]?.cosine ?? null },
        inScope: new Matches(columns, Int32Array.from(inScope), new Uint8Array(inScope.length)),
      })
      // Where nothing is near enough, only a search can tell what came closest.
      if (now.cosines.size === 0) {
        expect(found).toBe(null)
        return
      }
      expect([found?.isCut, [...(found?.matches.rows ?? [])]]).toEqual([
        now.isCut,
        [...now.cosines.keys()].sort((a, b) => a - b),
      ])
      expect(found?.cosines).toEqual(now.cosines)
      const [first] = before.cosines.keys()
      if (first !== undefined)
        expect(
          candidatesSince(before, [first], {
            ...{ columns, most, cosineOf: () => 1 },
            inScope: new Matches(columns, Int32Array.from(inScope), new Uint8Array(inScope.length)),
          }),
        ).toBe(null)
    },
  )
  fc.assert(property)
})

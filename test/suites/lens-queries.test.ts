/**
 * What every lens of the pipeline has beside its own operation, in one suite (QE-020): the same rows as `query --lens`, reasons,
 * a comparison, a count, pages, a stream and a watch.
 */
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/base/canonical.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { recompute } from '../../src/model/explanation.ts'
import type { LiveEvent } from '../../src/model/live.ts'
import type { QueryInput } from '../../src/model/query-input.ts'
import { beliefsOf } from '../../src/openings/beliefs.ts'
import { HASHTAGS, nodeOf } from '../support/chroma-nodes.ts'
import { openTestEngine, TEST_NOW } from '../support/engines.ts'
import { openToyEmbedder } from '../support/toy-embedder.ts'

interface Row {
  readonly id: string
  readonly score: number
}

interface LensCase {
  readonly lens: string
  /** Of the pipeline, the question of the lens. */
  readonly query: QueryInput
  fill(engine: Engine, from: number, to: number): Promise<void>
  /** The rows of the lens's own operation for the same question. */
  rows(engine: Engine, limit: number): Promise<readonly Row[]>
  /** Of the lens's family of operations; absent: the engine's own operations are the lens's. */
  readonly family?: 'chroma' | 'conversations' | 'c64' | 'collections' | 'context'
  /** The question in the lens's own form. */
  readonly own?: JsonObject
}

const WORDS = ['fox', 'den', 'rain', 'road', 'garden', 'tulip', 'wine', 'cloud', 'vixen', 'honey']

function textOf(at: number): string {
  const words = Array.from(
    { length: 4 + (at % 5) },
    (_, place) => WORDS[(at * 7 + place * (1 + (at % 4))) % WORDS.length],
  )
  return `${words.join(' ')} ${at % 2 === 0 ? 'fox' : 'den'} ${at}`
}

function entries(collection: string): LensCase['fill'] {
  return async (engine, from, to) => {
    const numbers = Array.from({ length: to - from }, (_, at) => from + at)
    await engine.put({
      entries: numbers.map(at => ({ id: `e${at}`, collection, title: `Entry ${at}`, content: textOf(at) })),
      wait: true,
    })
  }
}

const TEXT = 'the fox in its den'

const CASES: readonly LensCase[] = [
  {
    lens: 'default',
    query: { text: TEXT },
    fill: entries('notes'),
    rows: async (engine, limit) => (await engine.query({ text: TEXT, limit })).items,
  },
  {
    lens: 'conversations',
    query: { text: TEXT, lens: 'conversations' },
    fill: async (engine, from, to) => {
      for (let at = from; at < to; at++) {
        await engine.conversations.remember({
          ...{
            id: `m${at}`,
            conversation: at % 3 === 0 ? 'short' : 'long',
            speaker: at % 2 ? 'Mira' : 'Tom',
            text: textOf(at),
          },
          wait: true,
        })
      }
    },
    rows: async (engine, limit) => (await engine.conversations.query({ text: TEXT, limit })).messages,
    family: 'conversations',
    own: { text: TEXT },
  },
  {
    lens: 'c64',
    query: { text: TEXT, lens: 'c64', filter: { kinds: ['note'] } },
    fill: entries('c64'),
    rows: async (engine, limit) => {
      const { results } = await engine.c64.query({ query: TEXT, limit })
      return results.map(({ id, score }) => ({ id: String(id), score }))
    },
    family: 'c64',
    own: { query: TEXT },
  },
  {
    lens: 'collections',
    query: { text: TEXT, lens: 'collections', options: { collections: ['items', 'analysis'], n_results: 30 } },
    fill: async (engine, from, to) => {
      await entries('items')(engine, from, from + Math.ceil((to - from) / 2))
      await entries('analysis')(engine, from + Math.ceil((to - from) / 2), to)
    },
    rows: async (engine, limit) => {
      const { results } = await engine.collections.query({ query: TEXT, n_results: 30, limit })
      return results.map(({ id, rawScore }) => ({ id, score: rawScore }))
    },
    family: 'collections',
    own: { query: TEXT },
  },
  {
    lens: 'chroma',
    query: { text: '', lens: 'chroma', options: { hashtags: HASHTAGS.python, update_access: false } },
    fill: async (engine, from, to) => {
      if (from === 0) await engine.chroma.assign({ starter: true })
      const sets = [HASHTAGS.python, HASHTAGS.database, HASHTAGS.web]
      const created = TEST_NOW / 1000 - 3_600
      const nodes = Array.from({ length: to - from }, (_, at) =>
        nodeOf(`e${from + at}`, sets[at % sets.length] as readonly string[], { created_at: created - at * 60 }),
      )
      await engine.chroma.import({ version: 1, nodes } as never)
    },
    rows: async (engine, k) => {
      const { results } = await engine.chroma.query({ hashtags: [...HASHTAGS.python], k, update_access: false })
      return results.map(({ entry_id: id, score }) => ({ id, score }))
    },
    family: 'chroma',
    own: { hashtags: HASHTAGS.python, k: 30 },
  },
  {
    lens: 'context',
    query: { text: TEXT, lens: 'context', options: { limit: 30 } },
    fill: async ({ context }, from, to) => {
      if (from === 0) {
        await context.bodyInit()
        await context.mindInit()
      }
      const numbers = Array.from({ length: to - from }, (_, at) => from + at)
      await context.mindConceptsCreateMany({ concepts: numbers.map(at => ({ name: nameOf(at), type: 'Class' })) })
      // Numbers of concepts count from 1: each is linked to the one before.
      const later = numbers.filter(at => at > 0)
      const edges = later.map(at => ({ source: at + 1, target: at, relation: 'CALLS' }))
      await context.mindEdgesCreateMany({ edges })
    },
    rows: async ({ context }, limit) => {
      const asked = { query: TEXT, mode: 'hybrid', rank: 'relevance', limit: 30, explain: true } as const
      const { result } = await context.query(asked)
      const concepts = result?.concepts.slice(0, limit) ?? []
      return concepts.map(({ id, score, parts }) => ({ id: `concept:${id}`, score: parts?.total ?? score ?? 0 }))
    },
    family: 'context',
    own: { query: TEXT, limit: 30 },
  },
  {
    // Its operations beside the query have contracts of their own: test/unit/lenses/beliefs/questions.
    lens: 'beliefs',
    query: { text: TEXT, lens: 'beliefs', options: { context: { trust_weight: 0.2 } } },
    fill: async (engine, from, to) => {
      const numbers = Array.from({ length: to - from }, (_, at) => from + at)
      const beliefs = numbers.map(at => ({ id: `e${at}`, content: textOf(at), visibility: 'public' as const }))
      await beliefsOf(engine, { id: 'owner' }).put({ beliefs })
    },
    rows: async (engine, limit) => {
      const { beliefs } = await beliefsOf(engine, { id: 'owner' }).query({
        semantic: TEXT,
        context: { trust_weight: 0.2 },
        options: { scope: { local: true, network: true }, limit },
      })
      return beliefs.map(({ belief: { id }, score }) => ({ id, score: score.final }))
    },
  },
]

/** `FoxDenRain7` */
function nameOf(at: number): string {
  return textOf(at).replace(/(?:^| )(\w)/g, (_, first: string) => first.toUpperCase())
}

async function opened({ fill }: LensCase): Promise<Engine> {
  const engine = await openTestEngine({ embedder: openToyEmbedder() })
  await fill(engine, 0, 40)
  return engine
}

const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id)

describe.each(CASES)('the lens $lens', one => {
  const { lens, query, family, own } = one

  it('gives by query --lens the rows of its own operation', async () => {
    await using engine = await opened(one)
    const asked: QueryInput = lens === 'c64' ? { text: TEXT, lens } : query
    const page = await engine.query({ ...asked, limit: 12 })
    const rows = await one.rows(engine, 12)
    expect(idsOf(page.items)).toEqual(idsOf(rows))
    for (const [at, { score }] of rows.entries()) expect(page.items[at]?.score).toBeCloseTo(score, 2)
    expect(page.items.length).toBeGreaterThan(5)
  })

  it('returns only candidates that the stages of the pipeline retrieved, scored and ranked', async () => {
    await using engine = await opened(one)
    const page = await engine.query({ ...query, limit: 12, trace: true })
    const stages = (page.trace ?? []).map(({ stage, out }) => [stage, out] as const)
    expect(stages.map(([stage]) => stage)).toEqual(['parse', 'enrich', 'retrieve', 'score', 'diversify', 'present'])
    const out = new Map(stages)
    expect(out.get('present')).toBe(page.items.length)
    expect(out.get('diversify')).toBeLessThanOrEqual(out.get('score') as number)
    expect(out.get('score')).toBeLessThanOrEqual(out.get('retrieve') as number)
    expect(out.get('retrieve')).toBeGreaterThanOrEqual(page.items.length)
  })

  it('explains each row by the score and the rank that the page has', async () => {
    await using engine = await opened(one)
    const page = await engine.query({ ...query, limit: 8, explain: true })
    for (const { id, score, rank, explanation } of page.items) {
      expect(recompute(explanation as NonNullable<typeof explanation>)).toBeCloseTo(score, 10)
      expect(await engine.explain({ query, id })).toMatchObject({ rank, score, dropped: null })
    }
  })

  it('compares two rows: the gap is that of their scores, and no false swap is claimed', async () => {
    await using engine = await opened(one)
    const { items } = await engine.query({ ...query, limit: 6 })
    const [first, last] = [items[0], items.at(-1)] as [Row, Row]
    const { over } = await engine.explain({ query, id: first.id, over: last.id })
    expect(over?.gap).toBeCloseTo(first.score - last.score, 10)
    const sentence = {
      c64: /not follow from scores alone/,
      collections: /not follow from scores alone/,
      context: /not follow from scores alone/,
      conversations: /cannot tell what other weights would change/,
      chroma: /cannot tell what other weights would change/,
      beliefs: /cannot tell what other weights would change/,
    }
    expect(over?.sentence).toMatch(sentence[lens as keyof typeof sentence] ?? /would swap/)
    expect(Object.values(over?.by_component ?? {}).reduce((sum, part) => sum + part, 0)).toBeCloseTo(
      over?.gap as number,
      6,
    )
  })

  it('counts what all pages hold', async () => {
    await using engine = await opened(one)
    const ids: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await engine.query({ ...query, limit: 7, ...(cursor && { cursor }) })
      ids.push(...page.items.map(({ id }) => id))
      cursor = page.cursor
    }
    expect(new Set(ids).size).toBe(ids.length)
    expect(await engine.count(query)).toMatchObject({ count: ids.length, exact: true })
  })

  it('gives by pages, and piece by piece, what one page of the same length holds', async () => {
    await using engine = await opened(one)
    const whole = (await engine.query({ ...query, limit: 10 })).items.map(({ id }) => id)
    const first = await engine.query({ ...query, limit: 5 })
    const second = await engine.query({ ...query, limit: 5, cursor: first.cursor as string })
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(whole)
    expect(second.items.map(({ rank }) => rank)).toEqual([6, 7, 8, 9, 10])
    const streamed: string[] = []
    for await (const { items } of engine.stream({ ...query, limit: 10, chunk_size: 3 }))
      streamed.push(...items.map(({ id }) => id))
    expect(streamed).toEqual(whole)
  })

  it('reports by a watch what comes into the answer', async () => {
    await using engine = await opened(one)
    const events: LiveEvent[] = []
    const seen = Promise.withResolvers<void>()
    await engine.subscribe(
      { ...query, limit: 30, debounce_ms: 0, notify_on_connect: false },
      {
        onEvent: event => {
          events.push(event)
          if (event.type === 'added') seen.resolve()
        },
        onError: seen.reject,
      },
    )
    await one.fill(engine, 40, 42)
    await seen.promise
    expect(events.find(({ type }) => type === 'added')?.id).toMatch(/4[0-2]$/)
  })

  it('answers a query with a wrong option by an error that names it', async () => {
    await using engine = await opened(one)
    await expect(engine.query({ ...query, options: { no_such: 1 } })).rejects.toMatchObject({
      code: 'unknown_field',
      details: { field: 'options.no_such' },
    })
  })

  it('has explain, count and watch in its own family, for its own form of the question', async () => {
    if (family === undefined || own === undefined) return
    await using engine = await opened(one)
    const calls = engine[family] as unknown as Record<string, (input: unknown) => Promise<JsonObject>>
    const [row] = await one.rows(engine, 1)
    const { id } = row as Row
    expect(await calls['explain']?.({ query: own, id })).toMatchObject({ id, rank: 1, dropped: null })
    expect((await calls['count']?.(own))?.['count']).toBeGreaterThan(5)
    await expect(calls['watch']?.(own)).rejects.toMatchObject({ code: 'invalid_argument' })
  })
})

it('ranks single passages in the lens collections, and says by an error where a lens does not', async () => {
  await using engine = await opened(CASES[3] as LensCase)
  const query = { ...(CASES[3] as LensCase).query, group: 'passage', limit: 5 } as const
  const { items } = await engine.query(query)
  expect(items.map(({ passage }) => passage)).toEqual([1, 1, 1, 1, 1])
  expect(items.map(({ score }) => score)).toEqual(items.map(({ score }) => score).toSorted((a, b) => b - a))
  await expect(engine.query({ text: TEXT, lens: 'c64', group: 'passage' })).rejects.toMatchObject({
    code: 'invalid_argument',
    details: { field: 'group' },
  })
})

/** The lens c64 over a Qdrant server instead of the store. */
import { afterEach, describe, expect, it } from 'vitest'
import { c64Markdown } from '../../../src/openings/c64.ts'
import { type FakeQdrant, startFakeQdrant } from '../../support/fake-qdrant.ts'
import { sendJson, startLoopback } from '../../support/loopback.ts'
import { openTestC64 } from '../../support/open-c64-world.ts'

describe('a Qdrant server', () => {
  const closers: (() => Promise<void>)[] = []
  const variables = ['OPENAI_API_KEY', 'QDRANT_API_KEY', 'QDRANT_URL'] as const
  const before = Object.fromEntries(variables.map(name => [name, process.env[name]]))
  afterEach(async () => {
    for (const close of closers.splice(0)) await close()
    for (const name of variables) {
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
    }
  })

  /** A server with two points of `size` dimensions, and an embedding server whose vectors have three. */
  async function servers(size = 3): Promise<{ qdrant: FakeQdrant; embeddingUrl: string }> {
    const qdrant = await startFakeQdrant()
    const embeddings = await startLoopback((request, response) => {
      const { input } = JSON.parse(request.body) as { input: readonly string[] }
      const data = input.map((_, index) => ({ index, embedding: [1, 0, 0] }))
      sendJson(response, 200, { data, model: 'm', usage: {} })
    })
    closers.push(
      () => qdrant.close(),
      () => embeddings.close(),
    )
    const vector = (...values: readonly number[]) => Array.from({ length: size }, (_, at) => values[at] ?? 0)
    const point = (id: number, values: readonly number[], payload: object) =>
      [id, { id, vector: vector(...values), payload: payload as Readonly<Record<string, unknown>> }] as const
    const points = new Map([
      point(1, [0.6, 0.8], {
        title: 'EXTCOL',
        filename: 'extcol.md',
        type: 'documentation',
        document: 'The border.',
        tags: ['$D020'],
        origin: 'book',
      }),
      point(2, [1, 0], {
        title: 'Other',
        document: 'Nearer, without the tag.',
        tags: [],
        references: [{ chunk: 'more' }, 7],
      }),
    ])
    qdrant.collections.set('c64_training', { size, distance: 'Cosine', points })
    return { qdrant, embeddingUrl: `${embeddings.url}/v1` }
  }

  it('is asked by vector and tags, with the key, and its hits are kept whole (EN-061, EN-063, EN-067)', async () => {
    const { qdrant, embeddingUrl } = await servers()
    process.env['QDRANT_API_KEY'] = 'secret'
    await using c64 = await openTestC64({ c64: { backend: 'qdrant', qdrantUrl: qdrant.url, embeddingUrl } })
    const { results, searchMode, backend } = await c64.query('poke 53280, 14 changes the border how')
    expect([backend, searchMode]).toEqual(['qdrant', 'hybrid (filtered on $D020, LIGHT BLUE + semantic)'])
    expect(results.map(({ id }) => id)).toEqual([1, 2])
    expect(results[0]).toEqual({
      id: 1,
      score: expect.closeTo(0.6),
      payload: {
        ...{ title: 'EXTCOL', filename: 'extcol.md', type: 'documentation', document: 'The border.' },
        ...{ tags: ['$D020'], origin: 'book' },
      },
    })
    expect(results[1]?.payload.references).toEqual([{ chunk: 'more', description: '' }])
    const searches = qdrant.requests.filter(({ path }) => path === '/collections/c64_training/points/search')
    expect(searches.map(({ body }) => JSON.parse(body))).toMatchObject([
      {
        ...{ vector: [1, 0, 0], limit: 20, with_payload: true },
        filter: { should: ['$D020', 'LIGHT BLUE'].map(value => ({ key: 'tags', match: { value } })) },
      },
      { vector: [1, 0, 0], limit: 20, with_payload: true },
    ])
    expect(JSON.parse(searches[1]?.body ?? '')).not.toHaveProperty('filter')
    expect(qdrant.requests.every(({ headers }) => headers['api-key'] === 'secret')).toBe(true)
    expect((await c64.engine.status()).entries).toBe(0) // the facts stay out of a store that is not asked
  })

  it('may hold fields of other kinds, or none: what is no text is left out, a tag alone is a list of one (EN-063)', async () => {
    const { qdrant, embeddingUrl } = await servers()
    const payloads: readonly Readonly<Record<string, unknown>>[] = [
      { title: 7, filename: null, type: ['x'], document: 5, tags: '$D020' },
      { tags: { a: 1 }, references: 'none', shelf: 7 },
      {},
    ]
    const points = new Map(payloads.map((payload, id) => [id, { id, vector: [1, 0, 0], payload }]))
    qdrant.collections.set('c64_training', { size: 3, distance: 'Cosine', points })
    await using c64 = await openTestC64({ c64: { backend: 'qdrant', qdrantUrl: qdrant.url, embeddingUrl } })
    const answer = await c64.query('how does the border change at $D020')
    expect(answer.results.map(({ id, payload }) => [id, payload])).toEqual([
      [0, { tags: ['$D020'] }],
      [1, { tags: [], references: [], shelf: 7 }],
      [2, {}],
    ])
    expect(c64Markdown(answer)).toMatch(/^_Search mode: hybrid .*_\n\n### Result 1: untitled\n_score=1\.000_\n/)
  })

  it('is looked for by its address first (EN-062)', async () => {
    const { qdrant, embeddingUrl } = await servers()
    await using c64 = await openTestC64({ c64: { backend: 'qdrant', qdrantUrl: qdrant.url, embeddingUrl } })
    await c64.query('EXTCOL')
    expect(qdrant.requests[0]).toMatchObject({ method: 'GET', path: '/collections' })
  })

  it('that is not there, refuses or never answers is reported by its address (EN-062)', async () => {
    const { embeddingUrl } = await servers()
    const failing = await startLoopback((_, response) => sendJson(response, 503, {}))
    const silent = await startLoopback(() => {})
    closers.push(
      () => failing.close(),
      () => silent.close(),
    )
    const ask = async (qdrantUrl: string) => {
      await using c64 = await openTestC64({ c64: { backend: 'qdrant', qdrantUrl, embeddingUrl } })
      return await c64.query('EXTCOL').then(String, (error: Error) => error.message)
    }
    expect(await ask('http://127.0.0.1:9')).toBe('Qdrant at http://127.0.0.1:9 cannot be reached')
    expect(await ask(failing.url)).toBe(`Qdrant at ${failing.url} answers with status 503`)
    expect(await ask(silent.url)).toBe(`Qdrant at ${silent.url} does not answer within 3 s`)
  })

  it('with vectors of another size is an error that names both (EN-067)', async () => {
    const { qdrant, embeddingUrl } = await servers(5)
    await using c64 = await openTestC64({ c64: { backend: 'qdrant', qdrantUrl: qdrant.url, embeddingUrl } })
    await expect(c64.query('EXTCOL')).rejects.toMatchObject({
      code: 'provider_failed',
      message: expect.stringMatching(/5 dimensions.* 3/),
    })
  })

  it('and a key are needed only when it is chosen (EN-064, EN-065)', async () => {
    delete process.env['OPENAI_API_KEY']
    await using embedded = await openTestC64()
    expect((await embedded.query('EXTCOL')).results.length).toBeGreaterThan(0)
    await using c64 = await openTestC64({ c64: { backend: 'qdrant' } })
    await expect(c64.query('EXTCOL')).rejects.toMatchObject({ message: expect.stringMatching(/^OPENAI_API_KEY: /) })
    expect(c64.enrich('EXTCOL').filterTags).toEqual(['$D020', 'EXTCOL'])
  })

  it('is the owner’s alone unless it is set public', async () => {
    const { qdrant, embeddingUrl } = await servers()
    const ask = async (qdrantPublic: boolean) => {
      await using c64 = await openTestC64({
        c64: { backend: 'qdrant', qdrantUrl: qdrant.url, embeddingUrl, qdrantPublic },
      })
      return await c64.query('EXTCOL', {}, { viewer: { id: 'ann' } }).then(
        ({ results }) => results.length,
        (error: Error) => error.message,
      )
    }
    expect(await ask(false)).toBe('c64_training: there is no such collection')
    expect(await ask(true)).toBe(1)
  })
})

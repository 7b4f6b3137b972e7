/** The lens c64 in an engine: its facts in the store, files of the user's own, plugins, and a Qdrant server instead. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { SettableClock } from '../../../src/base/clock.ts'
import { embedC64, type OpenC64Options, openC64 } from '../../../src/engine/openings/open-c64.ts'
import { c64Corpus } from '../../../src/lenses/c64/corpus.ts'
import { tempFolder } from '../../../src/testing/temp-folder.ts'
import { openToyEmbedder } from '../../../src/testing/toy-embedder.ts'
import { countingBytes, TEST_NOW } from '../../support/engines.ts'
import { type FakeQdrant, startFakeQdrant } from '../../support/fake-qdrant.ts'
import { sendJson, startLoopback } from '../../support/loopback.ts'

function open(options: OpenC64Options = {}) {
  return openC64({
    ...(options.home === undefined ? { store: 'memory' } : {}),
    ...{ embedder: 'none', background: false, clock: new SettableClock(TEST_NOW), random: countingBytes() },
    ...options,
  })
}

const FACTS = { filter: { collections: ['c64'] } }

describe('the facts', () => {
  it('are not in a store before the lens is asked, and there once after (EN-068)', async () => {
    using folder = tempFolder()
    const home = folder.file('home')
    {
      await using c64 = await open({ home })
      expect((await c64.engine.status()).entries).toBe(0)
      c64.enrich('POKE 53280, 14')
      expect((await c64.engine.status()).entries).toBe(0)
      await c64.query('EXTCOL')
      expect((await c64.engine.status()).entries).toBe(c64Corpus().length)
    }
    await using c64 = await open({ home })
    const before = c64.engine.host('c64').store.lastSeq()
    await c64.query('BGCOL0')
    expect(c64.engine.host('c64').store.lastSeq()).toBe(before)
  })

  it('are written again when a fact has changed, and those that are gone go (EN-068)', async () => {
    await using c64 = await open()
    await c64.query('EXTCOL')
    const { store } = c64.engine.host('c64')
    const [key = 0] = store.find(
      'c64:register:EXTCOL',
      store.partitions().map(({ id }) => id),
    )
    const entry = store.entry(key)
    if (entry === undefined) throw new Error('EXTCOL is missing')
    store.write(TEST_NOW, writer => {
      writer.put({ ...entry, content: 'an older text' }, [])
      writer.put({ ...entry, id: 'c64:register:GONE' }, [])
      writer.put({ ...entry, id: 'mine', content: 'a fact of my own' }, [])
      writer.setMeta('c64_corpus', 'another version')
    })
    await c64.query('EXTCOL')
    expect(store.entry(key)?.content).toBe(entry.content)
    const everywhere = store.partitions().map(({ id }) => id)
    expect(store.find('c64:register:GONE', everywhere)).toEqual([])
    expect(store.find('mine', everywhere)).toHaveLength(1)
  })

  it('are public: whoever asks finds them, and the owner holds them (EN-068)', async () => {
    await using c64 = await open()
    const { results } = await c64.query('EXTCOL', {}, { viewer: { id: 'ann' } })
    expect(results[0]?.id).toBe('c64:register:EXTCOL')
    const { items } = await c64.engine.list({ ...FACTS, limit: 1 }, { viewer: { id: 'ann' } })
    expect(items[0]).toMatchObject({ holder: 'owner', kind: 'fact' })
  })
})

describe('a question of the embedded store', () => {
  it('is answered by exact names and addresses without any model (EN-060, EN-065)', async () => {
    await using c64 = await open()
    const first = async (query: string) => (await c64.query(query)).results[0]?.id
    expect(await first('EXTCOL')).toBe('c64:register:EXTCOL')
    expect(await first('JSR $FFD2')).toBe('c64:kernal:CHROUT')
    expect(await first('SYS 64738')).toBe('c64:rom:$FCE2')
    expect(await first('what does LDA do')).toBe('c64:opcode:LDA')
  })

  it('answers the worked example with the border and the colour (EN-027, EN-053)', async () => {
    await using c64 = await open()
    const { enrichment, searchMode, results, backend } = await c64.query('What does POKE 53280, 14 do?')
    expect([enrichment.strategy, searchMode, backend]).toEqual([
      ...['hybrid', 'hybrid (filtered on $D020, LIGHT BLUE + semantic)', 'embedded'],
    ])
    expect(results.slice(0, 3).map(({ id }) => id)).toEqual(
      expect.arrayContaining(['c64:io:$D020-$D020', 'c64:register:EXTCOL', 'c64:color:14']),
    )
  })

  it('gives hits with id, score and payload (EN-063)', async () => {
    await using c64 = await open()
    const [hit] = (await c64.query('EXTCOL')).results
    expect(hit).toEqual({
      id: 'c64:register:EXTCOL',
      score: expect.any(Number),
      payload: {
        title: 'EXTCOL: VIC-II register $D020',
        type: 'register',
        document: expect.stringContaining('Border colour'),
        tags: ['$D020', 'EXTCOL'],
      },
    })
  })

  it('falls back to all records where none has the tag (EN-054)', async () => {
    await using c64 = await open()
    const { searchMode, results } = await c64.query('$C123')
    expect(searchMode).toBe('filtered ($C123), no match, semantic')
    expect(results.length).toBeGreaterThan(0)
  })

  it('raw is searched as it is, by meaning (EN-071)', async () => {
    await using c64 = await open()
    const { enrichment, searchMode } = await c64.query('POKE 53280, 14', { raw: true })
    expect([enrichment.enrichedQuery, enrichment.filterTags, searchMode]).toEqual(['POKE 53280, 14', [], 'semantic'])
  })

  it('uses vectors as far as there are some, and says which are missing (EN-060, EN-067)', async () => {
    await using c64 = await open({ embedder: openToyEmbedder() })
    const codes = async () => (await c64.query('border colour')).warnings.map(({ code }) => code)
    expect(await codes()).toEqual(['vectors_pending'])
    await embedC64(c64.engine)
    expect(await codes()).toEqual([])
  })

  it('sees nothing that is hidden from who asks', async () => {
    await using c64 = await open()
    const content = 'EXTCOL is what I look at all day'
    await c64.engine.put({ entries: [{ id: 'secret', content, collection: 'c64', tags: ['EXTCOL'] }] })
    const ids = async (viewer: string) =>
      (await c64.query('EXTCOL', { minScoreRatio: 0 }, { viewer: { id: viewer } })).results.map(({ id }) => id)
    expect(await ids('owner')).toContain('secret')
    const seen = await c64.query('EXTCOL', {}, { viewer: { id: 'ann' } })
    expect(seen.results.map(({ id }) => id)).not.toContain('secret')
    await c64.engine.delete({ ids: ['secret'] })
    expect((await c64.query('EXTCOL', {}, { viewer: { id: 'ann' } })).results).toEqual(seen.results)
  })
})

describe('files of the user', () => {
  const CHUNK = `# Raster interrupts

**Summary:** How to ask for an interrupt on a line.

## Source Code
.,EA31 20 EA FF JSR $FFEA

## Key Registers
- $D011-$D012 - raster line

## References
- "vic_irq" - acknowledging it

## Labels
- CINV
`

  it('are read as chunks, changed ones again, and gone ones leave (EN-069)', async () => {
    using folder = tempFolder()
    mkdirSync(folder.file('chunks'))
    writeFileSync(folder.file('chunks/raster.md'), CHUNK)
    writeFileSync(folder.file('chunks/example_bars.md'), '# Bars\n\n## Key Registers\n- $D020\n')
    await using c64 = await open()
    const add = () => c64.engine.add({ paths: [folder.file('chunks')], lens: 'c64' })
    expect(await add()).toMatchObject({ added: 2, unchanged: 0 })
    const { results } = await c64.query('acknowledge $EA31 raster interrupts', { minScoreRatio: 0 })
    expect(results.find(({ payload }) => payload.filename === 'raster.md')).toMatchObject({
      payload: {
        title: 'Raster interrupts',
        type: 'documentation',
        tags: expect.arrayContaining(['$D011', '$D012', '$EA31', 'CINV']),
        references: [{ chunk: 'vic_irq', description: 'acknowledging it' }],
      },
    })
    expect(results.find(({ payload }) => payload.filename === 'raster.md')?.payload.document).not.toContain('vic_irq')
    expect(await add()).toMatchObject({ added: 0, updated: 0, unchanged: 2 })
    writeFileSync(folder.file('chunks/raster.md'), CHUNK.replace('CINV', 'CBINV'))
    writeFileSync(folder.file('chunks/example_bars.md'), '')
    expect(await add()).toMatchObject({ updated: 1, deleted: 1 })
  })

  it('are read as other Markdown unless the lens is named (EN-069)', async () => {
    using folder = tempFolder()
    writeFileSync(folder.file('raster.md'), CHUNK)
    await using c64 = await open()
    await c64.engine.add({ paths: [folder.path] })
    const { items } = await c64.engine.list({})
    expect(items[0]).toMatchObject({ collection: 'documents', kind: 'document', tags: [] })
  })
})

describe('plugins of the user', () => {
  it('of a trusted folder stand among the built-in ones (EN-024)', async () => {
    using folder = tempFolder()
    const plugin = `export class Drive { name = 'drive'; priority = 15
      enrich({ query }) { return { additionalContext: /1541/.test(query) ? ['1541 = disk drive'] : [], filterTags: [] } } }`
    writeFileSync(folder.file('drive_enrichment.mjs'), plugin)
    // What is for another lens is none of this one's business, and what is wrong is told.
    writeFileSync(folder.file('profile.mjs'), 'export const profiles = {}')
    writeFileSync(folder.file('wrong.mjs'), 'export class Wrong { name = ""; enrich() {} }')
    const warnings: string[] = []
    const plugins = { trustedFolder: folder.path, warn: (line: string) => void warnings.push(line) }
    await using c64 = await open({ plugins, onlyLenses: ['c64'] })
    expect(c64.enrich('reading the 1541').additionalContext).toEqual(['1541 = disk drive'])
    expect(warnings).toEqual([expect.stringMatching(/wrong\.mjs was skipped: its plugin needs a name/)])
  })

  it('that fail cost their own part, with a warning (EN-023)', async () => {
    const broken = {
      name: 'broken',
      enrich: () => {
        throw new Error('out of paper')
      },
    }
    await using c64 = await open({ c64: { plugins: [broken] } })
    const { warnings, results } = await c64.query('EXTCOL')
    expect(warnings).toEqual([{ code: 'plugin_failed', message: expect.stringContaining('out of paper') }])
    expect(results[0]?.id).toBe('c64:register:EXTCOL')
  })

  it('of one name are an error when the engine opens (EN-023)', async () => {
    const plugin = { name: 'number', enrich: () => ({ additionalContext: [], filterTags: [] }) }
    await expect(open({ c64: { plugins: [plugin] } })).rejects.toMatchObject({ code: 'conflict' })
  })
})

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
    await using c64 = await open({ c64: { backend: 'qdrant', qdrantUrl: qdrant.url, embeddingUrl } })
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

  it('is looked for by its address first (EN-062)', async () => {
    const { qdrant, embeddingUrl } = await servers()
    await using c64 = await open({ c64: { backend: 'qdrant', qdrantUrl: qdrant.url, embeddingUrl } })
    await c64.query('EXTCOL')
    expect(qdrant.requests[0]).toMatchObject({ method: 'GET', path: '/collections' })
  })

  it('that is not there, refuses or never answers is told by its address (EN-062)', async () => {
    const { embeddingUrl } = await servers()
    const failing = await startLoopback((_, response) => sendJson(response, 503, {}))
    const silent = await startLoopback(() => {})
    closers.push(
      () => failing.close(),
      () => silent.close(),
    )
    const ask = async (qdrantUrl: string) => {
      await using c64 = await open({ c64: { backend: 'qdrant', qdrantUrl, embeddingUrl } })
      return c64.query('EXTCOL').then(String, (error: Error) => error.message)
    }
    expect(await ask('http://127.0.0.1:9')).toBe('Qdrant at http://127.0.0.1:9 cannot be reached')
    expect(await ask(failing.url)).toBe(`Qdrant at ${failing.url} answers with status 503`)
    expect(await ask(silent.url)).toBe(`Qdrant at ${silent.url} does not answer within 3 s`)
  })

  it('with vectors of another size is an error that names both (EN-067)', async () => {
    const { qdrant, embeddingUrl } = await servers(5)
    await using c64 = await open({ c64: { backend: 'qdrant', qdrantUrl: qdrant.url, embeddingUrl } })
    await expect(c64.query('EXTCOL')).rejects.toMatchObject({
      code: 'provider_failed',
      message: expect.stringMatching(/5 dimensions.* 3/),
    })
  })

  it('and a key are needed only when it is chosen (EN-064, EN-065)', async () => {
    delete process.env['OPENAI_API_KEY']
    await using embedded = await open()
    expect((await embedded.query('EXTCOL')).results.length).toBeGreaterThan(0)
    await using c64 = await open({ c64: { backend: 'qdrant' } })
    await expect(c64.query('EXTCOL')).rejects.toMatchObject({ message: expect.stringMatching(/^OPENAI_API_KEY: /) })
    expect(c64.enrich('EXTCOL').filterTags).toEqual(['$D020', 'EXTCOL'])
  })

  it('is the owner’s alone unless it is set public', async () => {
    const { qdrant, embeddingUrl } = await servers()
    const ask = async (qdrantPublic: boolean) => {
      await using c64 = await open({ c64: { backend: 'qdrant', qdrantUrl: qdrant.url, embeddingUrl, qdrantPublic } })
      return c64.query('EXTCOL', {}, { viewer: { id: 'ann' } }).then(
        ({ results }) => results.length,
        (error: Error) => error.message,
      )
    }
    expect(await ask(false)).toBe('c64_training: there is no such collection')
    expect(await ask(true)).toBe(1)
  })
})

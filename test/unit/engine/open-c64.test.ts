/** The lens c64 in an engine: its facts in the store, files of the user's own, and plugins. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { c64Corpus } from '../../../src/lenses/c64/corpus.ts'
import { c64Markdown, embedC64 } from '../../../src/openings/c64.ts'
import { TEST_NOW } from '../../support/engines.ts'
import { openTestC64 } from '../../support/open-c64-world.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openToyEmbedder } from '../../support/toy-embedder.ts'

const FACTS = { filter: { collections: ['c64'] } }

describe('the facts', () => {
  it('are put into a store by embedC64 or for entries of the collection, by no other query, and once (EN-068)', async () => {
    using folder = tempFolder()
    const home = folder.file('home')
    {
      await using c64 = await openTestC64({ home })
      const before = c64.engine.host('c64').store.lastSeq()
      c64.enrich('POKE 53280, 14')
      expect((await c64.query('EXTCOL')).results[0]?.id).toBe('c64:register:EXTCOL')
      expect((await c64.engine.query({ text: 'EXTCOL', lens: 'c64' })).items[0]?.id).toBe('c64:register:EXTCOL')
      expect(c64.engine.host('c64').store.lastSeq()).toBe(before)
      await c64.engine.put({ entries: [{ id: 'own', content: 'a border of my own', collection: 'c64' }] })
      await c64.query('EXTCOL')
      expect((await c64.engine.status()).entries).toBe(c64Corpus().length + 1)
    }
    await using c64 = await openTestC64({ home })
    const before = c64.engine.host('c64').store.lastSeq()
    await c64.query('BGCOL0')
    expect(c64.engine.host('c64').store.lastSeq()).toBe(before)
  })

  it('are written again when a fact has changed, and those that are gone go (EN-068)', async () => {
    await using c64 = await openTestC64()
    await embedC64(c64.engine)
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

  it('QE-019: are not written by what another viewer asks, who is answered all the same', async () => {
    await using c64 = await openTestC64()
    const { store } = c64.engine.host('c64')
    const seq = store.lastSeq()
    const ann = { viewer: { id: 'ann' } }
    const { results } = await c64.query('EXTCOL', {}, ann)
    expect(results[0]?.id).toBe('c64:register:EXTCOL')
    expect([store.lastSeq(), store.meta('c64_corpus')]).toEqual([seq, undefined])
    expect((await c64.engine.list(FACTS)).total).toBe(0)
    await embedC64(c64.engine)
    expect((await c64.engine.list(FACTS, ann)).total).toBe(c64Corpus().length)
    expect((await c64.query('EXTCOL', {}, ann)).results[0]?.id).toBe('c64:register:EXTCOL')
  })

  it('are public: the requester finds them, and the owner holds them (EN-068)', async () => {
    await using c64 = await openTestC64()
    await embedC64(c64.engine)
    const { results } = await c64.query('EXTCOL', {}, { viewer: { id: 'ann' } })
    expect(results[0]?.id).toBe('c64:register:EXTCOL')
    const { items } = await c64.engine.list({ ...FACTS, limit: 1 }, { viewer: { id: 'ann' } })
    expect(items[0]).toMatchObject({ holder: 'owner', kind: 'fact' })
  })
})

describe('a question of the embedded store', () => {
  it('is answered by exact names and addresses without any model (EN-060, EN-065)', async () => {
    await using c64 = await openTestC64()
    const first = async (query: string) => (await c64.query(query)).results[0]?.id
    expect(await first('EXTCOL')).toBe('c64:register:EXTCOL')
    expect(await first('JSR $FFD2')).toBe('c64:kernal:CHROUT')
    expect(await first('SYS 64738')).toBe('c64:rom:$FCE2')
    expect(await first('what does LDA do')).toBe('c64:opcode:LDA')
  })

  it('answers the worked example with the border and the colour (EN-027, EN-053)', async () => {
    await using c64 = await openTestC64()
    const { enrichment, searchMode, results, backend } = await c64.query('What does POKE 53280, 14 do?')
    expect([enrichment.strategy, searchMode, backend]).toEqual([
      ...['hybrid', 'hybrid (filtered on $D020, LIGHT BLUE + semantic)', 'embedded'],
    ])
    expect(results.slice(0, 3).map(({ id }) => id)).toEqual(
      expect.arrayContaining(['c64:io:$D020-$D020', 'c64:register:EXTCOL', 'c64:color:14']),
    )
  })

  it('gives hits with id, score and payload (EN-063)', async () => {
    await using c64 = await openTestC64()
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

  it('takes entries of others whose fields are of other kinds (EN-063)', async () => {
    await using c64 = await openTestC64()
    const metadata = { type: 5, filename: ['a.md'], references: { chunk: 'zoo' }, shelf: 7 }
    const entry = { id: 'zebra', content: 'zebra', title: 'Zebra', collection: 'c64', tags: ['$D020'], metadata }
    await c64.engine.put({ entries: [entry] })
    const answer = await c64.query('zebra', { limit: 1 })
    expect(answer.results.map(({ payload }) => payload)).toEqual([
      {
        ...{ title: 'Zebra', document: 'zebra', tags: ['$D020'], shelf: 7 },
        references: [{ chunk: 'zoo', description: '' }],
      },
    ])
    expect(c64Markdown(answer)).toMatch(/\n_score=\d\.\d{3}_\n\nzebra\n\n\*\*Related chunks:\*\*\n- zoo$/)
  })

  it.each([
    [' ', {}, 'query'],
    [5, {}, 'query'],
    ['x', { limit: 0 }, 'limit'],
    ['x', { limit: 1.5 }, 'limit'],
    ['x', { fetchLimit: -1 }, 'fetchLimit'],
    ['x', { minScoreRatio: 2 }, 'minScoreRatio'],
    ['x', { fusion: 'best' }, 'fusion'],
    ['x', { min_score_ratio: 0 }, 'min_score_ratio'],
  ])('refuses %j with %j, naming %s, as other interfaces do (EN-073)', async (query, options, field) => {
    await using c64 = await openTestC64()
    const code = field.includes('_') ? 'unknown_field' : 'invalid_argument'
    await expect(c64.query(query as string, options as object)).rejects.toMatchObject({ code, details: { field } })
    if (field === 'query') expect(() => c64.enrich(query as string)).toThrow(/^query: expected/)
  })

  it('falls back to all records where none has the tag (EN-054)', async () => {
    await using c64 = await openTestC64()
    const { searchMode, results } = await c64.query('$C123')
    expect(searchMode).toBe('filtered ($C123), no match, semantic')
    expect(results.length).toBeGreaterThan(0)
  })

  it('raw is searched as it is, by meaning (EN-071)', async () => {
    await using c64 = await openTestC64()
    const { enrichment, searchMode } = await c64.query('POKE 53280, 14', { raw: true })
    expect([enrichment.enrichedQuery, enrichment.filterTags, searchMode]).toEqual(['POKE 53280, 14', [], 'semantic'])
  })

  it('uses vectors as far as there are some, and says which are missing (EN-060, EN-067)', async () => {
    await using c64 = await openTestC64({ embedder: openToyEmbedder() })
    const codes = async () => (await c64.query('border colour')).warnings.map(({ code }) => code)
    expect(await codes()).toEqual(['words_only'])
    await c64.engine.put({ entries: [{ id: 'own', content: 'border', collection: 'c64' }] })
    expect(await codes()).toEqual(['vectors_pending'])
    await embedC64(c64.engine)
    expect(await codes()).toEqual([])
  })

  it('sees nothing that is hidden from the requester', async () => {
    await using c64 = await openTestC64()
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
    await using c64 = await openTestC64()
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
    await using c64 = await openTestC64()
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
    // What is for another lens is ignored, and what is wrong is reported.
    writeFileSync(folder.file('profile.mjs'), 'export const profiles = {}')
    writeFileSync(folder.file('wrong.mjs'), 'export class Wrong { name = ""; enrich() {} }')
    const warnings: string[] = []
    const plugins = { trustedFolder: folder.path, warn: (line: string) => void warnings.push(line) }
    await using c64 = await openTestC64({ plugins, onlyLenses: ['c64'] })
    expect(c64.enrich('reading the 1541').additionalContext).toEqual(['1541 = disk drive'])
    expect(warnings).toEqual([expect.stringMatching(/wrong\.mjs was skipped: its plugin needs a name/)])
  })

  it('may be written in TypeScript (EN-021, EN-022)', async () => {
    using folder = tempFolder()
    const plugin = `export class Drive { readonly name: string = 'drive'
      enrich({ query }: { query: string }) { return { additionalContext: [query.slice(0, 4)], filterTags: [] } } }`
    writeFileSync(folder.file('drive_enrichment.ts'), plugin)
    writeFileSync(folder.file('drive.ts'), 'throw new Error("no plug-in, and not run")')
    const warn = (line: string) => expect.fail(line)
    await using c64 = await openTestC64({ plugins: { trustedFolder: folder.path, warn } })
    expect(c64.enrich('what is it').additionalContext).toEqual(['what'])
  })

  it('that fail cost their own part, with a warning (EN-023)', async () => {
    const broken = {
      name: 'broken',
      enrich: () => {
        throw new Error('out of paper')
      },
    }
    await using c64 = await openTestC64({ c64: { plugins: [broken] } })
    const { warnings, results } = await c64.query('EXTCOL')
    expect(warnings).toEqual([{ code: 'plugin_failed', message: expect.stringContaining('out of paper') }])
    expect(results[0]?.id).toBe('c64:register:EXTCOL')
  })

  it('of one name are an error when the engine opens (EN-023)', async () => {
    const plugin = { name: 'number', enrich: () => ({ additionalContext: [], filterTags: [] }) }
    await expect(openTestC64({ c64: { plugins: [plugin] } })).rejects.toMatchObject({ code: 'conflict' })
  })
})

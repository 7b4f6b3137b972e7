import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SettableClock } from '../../../src/base/clock.ts'
import { openEmbedder } from '../../../src/embed/open-embedder.ts'
import { openEngine } from '../../../src/engine/open.ts'
import { ChromaQueryError } from '../../../src/lenses/collections/request.ts'
import type { Warning } from '../../../src/lenses/collections/stages.ts'
import { collectionsMarkdown, queryChromadb, queryCollections } from '../../../src/openings/collections.ts'
import { modelFolder } from '../../support/model.ts'
import { type TempFolder, tempFolder } from '../../support/temp-folder.ts'
import { openToyEmbedder } from '../../support/toy-embedder.ts'

const clock = new SettableClock(Date.parse('2026-03-01T12:00:00Z'))
const surroundings = { embedder: openToyEmbedder(), clock }

let folder: TempFolder
let home: string
beforeAll(async () => {
  folder = tempFolder()
  home = join(folder.path, 'store')
  await using engine = await openEngine({ home, background: false, ...surroundings })
  await engine.put({
    entries: [
      entry('test-1', 'items', 'An assistant for coding', { title: 'Test Doc', source_type: 'docs' }),
      entry('old-1', 'items', 'Old content about servers', { title: 'Old', date: '2026-02-10' }),
      entry('recent-1', 'items', 'Recent content about servers', { title: 'Recent', date: '2026-02-27' }),
      entry('analysis-1', 'analysis', 'Analysis of servers', { title: 'Analysis', analyzed_at: '2026-02-26' }),
      entry('note-1', 'notes', 'A note about servers', { title: 'Note' }),
    ],
    wait: true,
  })
  writeFileSync(join(home, 'config.json'), JSON.stringify({ lenses: { collections: { collections: ['notes'] } } }))
})
afterAll(() => folder[Symbol.dispose]())

describe('the library', () => {
  it('resolves to plain results of a home, and tells warnings to who listens (CO-004, CO-005, CO-053)', async () => {
    const warnings: Warning[] = []
    const options = { ...surroundings, persistDirectory: home, collections: ['items', 'nowhere'] }
    const results = await queryChromadb('coding assistant', { ...options, onWarning: one => void warnings.push(one) })
    expect(results[0]).toMatchObject({ title: 'Test Doc', content: 'An assistant for coding', source: 'items' })
    expect(Object.keys(results[0] ?? {})).toEqual(['title', 'content', 'source', 'score', 'metadata'])
    expect(warnings.map(({ collection, code }) => [collection, code])).toEqual([['nowhere', 'collection_not_found']])
  })

  it('drops what is older than the days allow (CO-015, CO-017)', async () => {
    const options = { ...surroundings, persistDirectory: home, days: 7, undated: 'exclude' } as const
    const { results } = await queryCollections('content about servers', options)
    expect(results.map(({ id }) => id).sort()).toEqual(['analysis-1', 'recent-1'])
  })

  it('answers from an empty folder, and makes nothing in it (CO-026, CO-027)', async () => {
    const empty = join(folder.path, 'empty')
    mkdirSync(empty)
    const { results, warnings } = await queryCollections('x', { ...surroundings, persistDirectory: empty })
    expect([results, warnings.map(({ code }) => code)]).toEqual([[], ['collection_not_found', 'collection_not_found']])
    expect((await import('node:fs')).readdirSync(empty)).toEqual([])
  })

  it('refuses a folder that is not there, and one of ChromaDB (CO-023)', async () => {
    const missing = queryChromadb('x', { ...surroundings, persistDirectory: join(folder.path, 'missing') })
    await expect(missing).rejects.toThrow(/^Failed to initialize VectorStore: no such directory$/)
    const foreign = join(folder.path, 'foreign')
    mkdirSync(foreign)
    writeFileSync(join(foreign, 'chroma.sqlite3'), '')
    const refused = queryChromadb('x', { ...surroundings, persistDirectory: foreign })
    await expect(refused).rejects.toThrow(ChromaQueryError)
    await expect(refused).rejects.toThrow(/^Failed to initialize VectorStore: .*chroma run --path .* --url$/)
  })

  it('refuses a blank query before anything is opened (CO-021)', async () => {
    await expect(queryChromadb(' ', { persistDirectory: join(folder.path, 'missing') })).rejects.toThrow(
      /^query is required$/,
    )
  })
})

it('answers in English where the question is recognised as English, and else in Spanish (CO-032, CO-048)', () => {
  const heading = (query: string, lang: 'auto' | 'es' = 'auto') =>
    collectionsMarkdown([], query, { lang, urls: false }).split('\n')[0]
  expect(heading('what is new about servers')).toBe('## Summary')
  expect(heading('what is new about servers', 'es')).toBe('## Resumen')
  expect(heading('qué hay de nuevo sobre servidores')).toBe('## Resumen')
  expect(heading('MCP servers')).toBe('## Resumen')
})

it('gives reasons, a verdict and what comes nearest (CO-048, CO-050)', async () => {
  const options = { ...surroundings, persistDirectory: home, days: 7 }
  const { results, warnings, meta } = await queryCollections('servers', options)
  expect(results[0]).toMatchObject({ source: expect.any(String), rawScore: expect.any(Number), why: ['vector'] })
  expect(warnings).toMatchObject([{ code: 'undated_kept', collection: 'items', count: 1 }])
  expect(meta).toMatchObject({
    store: 'local',
    cutoff: '2026-02-22T12:00:00.000Z',
    collections: ['items', 'analysis'],
    ...{ verdict: expect.stringMatching(/^(answered|weak)$/), nearest: [] },
  })
  const foreign = await queryCollections('zzyzx quokka', options)
  expect(foreign.meta).toMatchObject({ verdict: 'nothing_relevant', verdict_reason: expect.any(String) })
  expect(foreign.meta.nearest).toEqual(foreign.results.slice(0, 3).map(({ id }) => id))
})

it('embeds by default with 384 dimensions at length 1, as collections of all-MiniLM-L6-v2 want (CO-055)', async () => {
  const embedder = await openEmbedder({ provider: 'local', folder: modelFolder() }, { baseFolder: home, env: {} })
  const [vector] = (await embedder?.embed(['MCP servers'], 'query')) ?? []
  await embedder?.close()
  expect(embedder?.model.id).toMatch(/^all-MiniLM-L6-v2/)
  expect([vector?.length, Math.hypot(...(vector ?? [])).toFixed(4)]).toEqual([384, '1.0000'])
})

describe('the operations', () => {
  it('ask and lay out (CO-050)', async () => {
    await using engine = await openEngine({ home, background: false, ...surroundings })
    const call = async (name: string, input: unknown): Promise<unknown> => {
      const found = engine.lensOperations.find(({ operation }) => operation.name === name)?.operation
      const parsed = found?.input.parse(input)
      const context = { viewer: { id: 'owner' }, signal: new AbortController().signal }
      return found?.output.parse(await found.run(engine.host('collections') as never, parsed as never, context))
    }
    const answer = (await call('collections.query', { query: 'servers', n_results: 1 })) as { results: object[] }
    expect(answer.results.length).toBe(2)
    const { markdown } = (await call('collections.format', { results: answer.results, query: 'servers' })) as {
      markdown: string
    }
    expect(markdown).toContain('Encontrados 2 resultados para "servers"')
    await expect(call('collections.query', { query: 'x', store: 'elsewhere' })).rejects.toThrow(/one of local/)
  })
})

function entry(id: string, collection: string, content: string, metadata: Record<string, string>) {
  return { id, collection, content, metadata }
}

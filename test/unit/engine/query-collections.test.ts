import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SettableClock } from '../../../src/base/clock.ts'
import { runCollections } from '../../../src/doors/cli/commands/collections.ts'
import { openEmbedder } from '../../../src/embed/open-embedder.ts'
import { openEngine } from '../../../src/engine/open.ts'
import type { Warning } from '../../../src/lenses/collections/ask.ts'
import { ChromaQueryError } from '../../../src/lenses/collections/errors.ts'
import { queryChromadb, queryCollections } from '../../../src/openings/collections.ts'
import { installSkills } from '../../../src/openings/skills.ts'
import { type TempFolder, tempFolder } from '../../../src/testing/temp-folder.ts'
import { openToyEmbedder } from '../../../src/testing/toy-embedder.ts'
import { modelFolder } from '../../support/model.ts'

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

describe('the command', () => {
  const run = (query: string | undefined, flags: Parameters<typeof runCollections>[1] = {}) =>
    runCollections(query, { persistDirectory: home, ...flags }, surroundings)

  it('prints Markdown with its headings, in both languages (CO-044, CO-071)', async () => {
    const { stdout, stderr, exitCode } = await run('servers')
    for (const heading of [
      '## Resumen\n',
      '## Fuentes (4 resultados)\n',
      '## Detalles\n',
      '### Analysis (1 resultados)',
    ]) {
      expect(stdout).toContain(heading)
    }
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
    expect((await run('servers', { lang: 'en', collection: 'analysis', nResults: 1 })).stdout).toContain('## Summary\n')
  })

  it('answers in English where the question is recognised as English, and else in Spanish (CO-032, CO-048)', async () => {
    const heading = async (query: string, flags = {}) => (await run(query, flags)).stdout.split('\n')[0]
    expect(await heading('what is new about servers')).toBe('## Summary')
    expect(await heading('what is new about servers', { lang: 'auto' })).toBe('## Summary')
    expect(await heading('what is new about servers', { lang: 'es' })).toBe('## Resumen')
    expect(await heading('qué hay de nuevo sobre servidores')).toBe('## Resumen')
    expect(await heading('MCP servers')).toBe('## Resumen')
  })

  it('says so when there is nothing; warnings go to standard error (CO-045, CO-047, CO-071)', async () => {
    const empty = join(folder.path, 'nothing')
    mkdirSync(empty)
    const { stdout, stderr, exitCode } = await run('x', { persistDirectory: empty })
    expect(stdout).toContain('No se encontraron resultados para: "x"')
    expect(stderr).toMatch(/^Warning: items: .*\nWarning: analysis: .*\n$/)
    expect(exitCode).toBe(0)
  })

  it('prints the full outcome as JSON (CO-048, CO-050)', async () => {
    const { stdout } = await run('servers', { json: true, days: 7 })
    const { results, warnings, meta } = JSON.parse(stdout)
    expect(results[0]).toMatchObject({ source: expect.any(String), rawScore: expect.any(Number), why: ['vector'] })
    expect(warnings).toMatchObject([{ code: 'undated_kept', collection: 'items', count: 1 }])
    expect(meta).toMatchObject({
      store: 'local',
      cutoff: '2026-02-22T12:00:00.000Z',
      collections: ['items', 'analysis'],
      ...{ verdict: expect.stringMatching(/^(answered|weak)$/), nearest: [] },
    })
    const foreign = JSON.parse((await run('zzyzx quokka', { json: true })).stdout)
    expect(foreign.meta).toMatchObject({ verdict: 'nothing_relevant', verdict_reason: expect.any(String) })
    expect(foreign.meta.nearest).toEqual(foreign.results.slice(0, 3).map(({ id }: { id: string }) => id))
  })

  it('fails with one line and no answer when the store does (CO-045, CO-046)', async () => {
    expect(await run('x', { persistDirectory: join(folder.path, 'missing') })).toEqual({
      stdout: '',
      stderr: 'Error: Failed to initialize VectorStore: no such directory\n',
      exitCode: 1,
    })
  })

  it.each([
    ['no query', undefined, {}],
    ['a blank query', ' ', {}],
    ['an unknown collection', 'x', { collection: 'nowhere' }],
    ['days below zero', 'x', { days: -1 }],
    ['no results', 'x', { nResults: 0 }],
    ['an unknown language', 'x', { lang: 'fr' }],
    ['an unknown policy', 'x', { undated: 'maybe' }],
    ['a score above one', 'x', { minScore: 2 }],
    ['a wrong date', 'x', { since: 'soon' }],
    ['two stores', 'x', { url: 'http://localhost:1' }],
  ])('calls %s a wrong call (CO-045, CO-048)', async (_, query, flags) => {
    const { stdout, stderr, exitCode } = await run(query, flags as object)
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 })
    expect(stderr).toMatch(/^Error: [^\n]+\n$/)
  })

  it('takes collections that the configuration declares; both stays the two (CO-051)', async () => {
    expect((await run('servers', { collection: 'notes' })).stdout).toContain('### Notes (1 resultados)')
    expect((await run('servers', { collection: 'both' })).stdout).not.toContain('Note')
  })
})

describe.each(['es', 'en'] as const)('the shipped files in %s', lang => {
  const run = (query: string, flags: object) =>
    runCollections(query, { persistDirectory: home, ...flags }, surroundings)

  it('hold command lines that run (CO-059)', async () => {
    using project = tempFolder()
    const { written } = installSkills({ folder: project.path, lang })
    const text = written.map(path => readFileSync(join(project.path, path), 'utf8')).join('\n')
    const lines = [...text.matchAll(/querent collections "([^"]+)"((?: --[a-z-]+ \w+)*)/g)]
    expect(lines.length).toBeGreaterThanOrEqual(3)
    for (const [, query = '', rest = ''] of lines) {
      const { stderr, exitCode } = await run(query, flagsIn(rest))
      expect([rest, exitCode, stderr.includes('Error')]).toEqual([rest, 0, false])
    }
  })

  it('name the defaults that the command has (CO-059)', async () => {
    using project = tempFolder()
    installSkills({ folder: project.path, lang })
    const skill = readFileSync(join(project.path, '.claude/skills/chroma-query/SKILL.md'), 'utf8')
    const rows = [...skill.matchAll(/^\| --([a-z][a-z-]+) \| (\S+) \|/gm)].map(([, flag = '', value = '']) => [
      flag,
      value,
    ])
    expect(rows.length).toBe(9)
    const plain = await run('servers', {})
    for (const [flag, value] of rows.filter(([, value]) => !/^(ninguno|none|no)$/.test(value ?? ''))) {
      expect(await run('servers', flagsIn(` --${flag} ${value}`))).toEqual(plain)
      expect((await run('servers', flagsIn(` --${flag} nonsense`))).exitCode).toBe(2)
    }
  })
})

/** `--n-results 5` as the command line reads it. */
function flagsIn(text: string): object {
  const pairs = [...text.matchAll(/--([a-z-]+) (\w+)/g)].map(([, flag = '', value = '']) => [
    flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
    Number.isNaN(Number(value)) ? value : Number(value),
  ])
  return Object.fromEntries(pairs)
}

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

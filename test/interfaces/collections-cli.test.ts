/** `querent collections`, `skills` and `mirror` as users and assistants run them: processes of their own. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openEngine } from '../../src/engine/open.ts'
import { type ChromaServer, startChroma, whyNoChroma } from '../support/chroma-server.ts'
import { ended, type Run, start } from '../support/command.ts'
import { startFakeQdrant } from '../support/fake-qdrant.ts'
import { startGateway } from '../support/gateway.ts'
import { querentHere, runInProcess } from '../support/in-process.ts'
import { sendJson, startLoopback } from '../support/loopback.ts'
import { modelFolder } from '../support/model.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'

const NOW = '2026-03-01T12:00:00Z'
/** Asks with the model, unlike other tests of commands. */
const ENV = { QUERENT_EMBEDDER: 'local', QUERENT_NOW: NOW }

let folder: TempFolder
beforeAll(async () => {
  folder = tempFolder()
  await using engine = await openEngine({
    home: join(folder.path, '.querent'),
    embedder: { provider: 'local', folder: modelFolder() },
    background: false,
  })
  await engine.put({
    entries: [
      entry('i1', 'items', 'MCP servers now stream their answers', { title: 'Streaming in MCP', date: '2026-02-27' }),
      entry('i2', 'items', 'A server for files over MCP', { title: 'File server', date: '2026-01-10' }),
      entry('i3', 'items', 'Notes on MCP servers without a day', { title: 'Undated' }),
      entry('n1', 'notes', 'A note about MCP servers', { title: 'Note' }),
      entry('a1', 'analysis', 'What streaming means for MCP servers', { item_id: 'i1', analyzed_at: '2026-02-28' }),
    ],
    wait: true,
  })
  const settings = { lenses: { collections: { collections: ['notes'] } } }
  writeFileSync(join(folder.path, '.querent', 'config.json'), JSON.stringify(settings))
})
afterAll(() => folder?.[Symbol.dispose]())

function run(args: readonly string[], { cwd = folder.path, env = {} } = {}): Promise<Run> {
  return querentHere(args, { cwd, env: { ...ENV, ...env } })
}

function ask(...args: readonly string[]): Promise<Run> {
  return run(['collections', ...args])
}

describe('querent collections', () => {
  it('answers from the store of its folder, in Markdown (CO-044, CO-045, CO-071)', async () => {
    const { status, stdout, stderr } = await ask('MCP servers')
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout.match(/^##+ .*$/gm)).toEqual([
      '## Resumen',
      '## Fuentes (4 resultados)',
      '## Detalles',
      expect.stringMatching(/^### (Items \(3|Analysis \(1) resultados\)$/),
      expect.stringMatching(/^### (Items \(3|Analysis \(1) resultados\)$/),
    ])
    expect(stdout).toMatch(/^Encontrados 4 resultados para "MCP servers" en: /m)
    expect(stdout).toMatch(/^1\. \*\*.+\*\* - .+ - score: 0\.\d\d$/m)
    expect(stdout).toMatch(/[^\n]\n$/)
  })

  it('takes the documented flags (CO-044, CO-048)', async () => {
    const documented = ['--days', '7', '--collection', 'items', '--n-results', '1']
    const first = await ask('MCP servers', ...documented, '--undated', 'exclude', '--lang', 'en')
    expect(first).toMatchObject({ status: 0, stderr: '' })
    expect(first.stdout).toContain('Found 1 result for "MCP servers" in: items\n')
    expect(first.stdout).toContain('**Streaming in MCP** - 2026-02-27 - score: ')
    const json = await run(
      ['collections', 'MCP', 'servers', '--json', '--fold', '--min-score', '0.1', '--urls', '--days', '7'].concat([
        ...['--persist-directory', folder.path, '--since', '2026-01-01', '--until', '2026-03-01', '--limit', '9'],
      ]),
      { cwd: '/' },
    )
    const { results, warnings, meta } = JSON.parse(json.stdout)
    expect(results.map(({ id }: { id: string }) => id)).toHaveLength(2) // i1 and a1 are one, i2 is too old
    expect(results[0].relatedIds).toHaveLength(1)
    expect(warnings).toMatchObject([{ collection: 'items', code: 'undated_kept', count: 1 }])
    expect(json.stderr).toBe(`Warning: ${warnings[0].message}\n`)
    expect(meta).toMatchObject({ store: 'local', cutoff: '2026-02-22T12:00:00.000Z', total: 2 })
  })

  it('takes a collection that the configuration declares; both stays the two (CO-051)', async () => {
    expect((await ask('MCP servers', '--collection', 'notes')).stdout).toContain('### Notes (1 resultados)')
    expect((await ask('MCP servers', '--collection', 'both')).stdout).not.toContain('### Note')
  })

  it('finds nothing in an empty folder, warns, and leaves it empty (CO-045, CO-047, CO-071)', async () => {
    const empty = join(folder.path, 'empty')
    mkdirSync(empty)
    const { status, stdout, stderr } = await ask('x', '--persist-directory', 'empty')
    expect(status).toBe(0)
    expect(stdout).toContain('No se encontraron resultados para: "x"\n')
    expect(stderr).toMatch(/^Warning: items: [^\n]+\nWarning: analysis: [^\n]+\n$/)
    expect(readdirSync(empty)).toEqual([])
  })

  it('fails in one line, with nothing on standard output (CO-045, CO-046)', async () => {
    expect(await ask('x', '--persist-directory', 'missing')).toEqual({
      status: 1,
      stdout: '',
      stderr: 'Error: Failed to initialize VectorStore: no such directory\n',
    })
    const foreign = join(folder.path, 'foreign')
    mkdirSync(foreign)
    writeFileSync(join(foreign, 'chroma.sqlite3'), '')
    const refused = await ask('x', '--json', '--persist-directory', 'foreign')
    expect(refused).toMatchObject({ status: 1, stdout: '' })
    expect(refused.stderr).toMatch(/^Error: Failed to initialize VectorStore: .*chroma run --path foreign.*--url\n$/)
    const nobody = await ask('x', '--url', 'http://127.0.0.1:9')
    expect(nobody).toMatchObject({ status: 1, stdout: '' })
    expect(nobody.stderr).toMatch(/^Error: Failed to initialize VectorStore: [^\n]+\n$/)
  })

  it.each([
    [[]],
    [[' ']],
    [['x', '--days', 'seven']],
    [['x', '--days=-1']],
    [['x', '--days', '1.5']],
    [['x', '--collection', 'nowhere']],
    [['x', '--n-results', '0']],
    [['x', '--lang', 'fr']],
    [['x', '--undated', 'maybe']],
    [['x', '--min-score', '2']],
    [['x', '--min-score', '']],
    [['x', '--now', 'soon']],
    [['x', '--since', 'soon']],
    [['x', '--url', 'http://127.0.0.1:9', '--persist-directory', '.']],
    [['x', '--sample', '--url', 'http://127.0.0.1:9']],
    [['x', '--days']],
    [['x', '--nonsense']],
  ])('ends with 2 for a wrong call: %j (CO-045, CO-048)', async args => {
    const given = [...args, ...(args.includes('--url') ? [] : ['--persist-directory', folder.path])]
    const { status, stdout, stderr } = await runInProcess(['collections', ...given], { workingFolder: folder.path })
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/^querent: |^Error: [^\n]+\n$/)
  })

  it('shows an agent only what it may see', async () => {
    const { status, stdout, stderr } = await run(['collections', 'MCP servers'], { env: { QUERENT_VIEWER: 'ana' } })
    expect(status).toBe(0)
    expect(stdout).toContain('No se encontraron resultados')
    expect(stderr).not.toContain('i1')
    const other = await run(['collections', 'x', '--viewer', 'bob'], { env: { QUERENT_VIEWER: 'ana' } })
    expect(other).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(/^Error: --viewer: .*\n$/) })
  })
})

describe('without a store', () => {
  it('the sample answers, and says that it is one; named, it answers without a word', async () => {
    using nowhere = tempFolder()
    const asked = ['collections', '¿qué hay de nuevo sobre servidores MCP?', '--days', '7', '--n-results', '2']
    const unnamed = await run(asked, { cwd: nowhere.path })
    const named = await run([...asked, '--sample'], { cwd: nowhere.path })
    expect(unnamed.stderr).toMatch(/^Warning: there is no store here, so this is the sample [^\n]+\n$/)
    expect(named).toEqual({ status: 0, stdout: unnamed.stdout, stderr: '' })
    expect(named.stdout).toMatch(/^1\. \*\*Cómo elegir un servidor MCP\*\* - 2026-02-26 - score: 0\.\d\d$/m)
    expect(readdirSync(nowhere.path)).toEqual([])
  })

  it('a store that is named must be there (CO-023)', async () => {
    using nowhere = tempFolder()
    const { status, stderr } = await run(['collections', 'x'], { cwd: nowhere.path, env: { QUERENT_HOME: 'gone' } })
    expect(status).toBe(1)
    expect(stderr).toMatch(/^Error: Failed to initialize VectorStore: [^\n]*gone[^\n]*\n$/)
  })
})

describe.each(['es', 'en'] as const)('querent skills install, in %s', lang => {
  const SKILL = '.claude/skills/chroma-query/SKILL.md'
  const AGENT = '.claude/agents/chroma-agent.md'
  let project: TempFolder
  beforeAll(async () => {
    project = tempFolder()
    await run(['skills', 'install', '--lang', lang], { cwd: project.path })
  })
  afterAll(() => project[Symbol.dispose]())
  const read = (path: string): string => readFileSync(join(project.path, path), 'utf8')

  it('places both files, and overwrites a changed one only with --force (CO-057, CO-060, CO-070)', async () => {
    const original = read(SKILL)
    expect(read(AGENT)).toContain('name: chroma-agent')
    writeFileSync(join(project.path, SKILL), 'mine')
    const install = ['skills', 'install', '--dir', project.path, '--lang', lang, '--json']
    const kept = await run(install)
    expect(JSON.parse(kept.stdout)).toEqual({ written: [], unchanged: [AGENT], kept: [SKILL] })
    expect(read(SKILL)).toBe('mine')
    expect(JSON.parse((await run([...install, '--force'])).stdout).written).toEqual([SKILL])
    expect(read(SKILL)).toBe(original)
  })

  it('places command lines that run as they stand (CO-059, CO-070)', async () => {
    const lines = commandLines(`${read(SKILL)}\n${read(AGENT)}`)
    expect(lines.filter(([name]) => name === 'collections').length).toBeGreaterThanOrEqual(6)
    expect(lines).toContainEqual(['status'])
    for (const line of lines) {
      const { status, stderr } = await run(line)
      expect([line, status, stderr.replace(/^Warning: .*\n/gm, '')]).toEqual([line, 0, ''])
    }
  })

  it('names flags and defaults that the command has (CO-058, CO-059)', async () => {
    const { stdout: help } = await runInProcess(['collections', '--help'], { workingFolder: project.path })
    const text = `${read(SKILL)}\n${read(AGENT)}`
    const flags = [...new Set([...text.matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(([flag]) => flag))]
    expect(flags.length).toBeGreaterThanOrEqual(9)
    expect(flags.filter(flag => !new RegExp(`^  ${flag}\\b`, 'm').test(help))).toEqual([])
    const rows = [...read(SKILL).matchAll(/^\| (--[a-z][a-z-]+) \| (\S+) \|/gm)]
    const described = help.replace(/\n {10,}/g, ' ')
    for (const [, flag = '', value = ''] of rows) {
      const said = new RegExp(`^  ${flag}\\b.*[Dd]efault: ([^().\\n]+?)\\)?(?: \\(choices.*)?$`, 'm').exec(
        described,
      )?.[1]
      const isNone = said === undefined || /^(any time|all|no limit|false)$/.test(said)
      expect([flag, isNone ? undefined : said]).toEqual([flag, /^(ninguno|none|no)$/.test(value) ? undefined : value])
    }
  })
})

describe('a ChromaDB server', () => {
  it('is where flags or else the environment say, and is sent the token (CO-048, CO-052)', async () => {
    const server = await startLoopback((_, response) => sendJson(response, 404, {}))
    try {
      const variables = {
        QUERENT_CHROMA_URL: server.url,
        QUERENT_CHROMA_TENANT: 'acme',
        QUERENT_CHROMA_DATABASE: 'facts',
        QUERENT_CHROMA_TOKEN: 'secret',
      }
      const ofVariables = await run(['collections', 'x', '--collection', 'items'], { env: variables })
      expect(server.requests[0]).toMatchObject({
        path: '/api/v2/tenants/acme/databases/facts/collections/items',
        headers: { 'x-chroma-token': 'secret' },
      })
      expect(ofVariables.stderr).not.toContain('secret')
      server.requests.length = 0
      const flags = ['--url', server.url, '--tenant', 'own', '--database', 'mine']
      await run(['collections', 'x', '--collection', 'items', ...flags], {
        env: { ...variables, QUERENT_CHROMA_URL: 'http://127.0.0.1:9' },
      })
      expect(server.requests[0]?.path).toBe('/api/v2/tenants/own/databases/mine/collections/items')
      server.requests.length = 0
      await run(['collections', 'x', '--persist-directory', folder.path], { env: variables })
      expect(server.requests).toEqual([])
    } finally {
      await server.close()
    }
  })

  it('that does not answer is left when somebody interrupts', async () => {
    let asked = (): void => {}
    const isAsked = new Promise<void>(resolve => {
      asked = resolve
    })
    const server = await startLoopback(() => asked())
    try {
      const child = start(['collections', 'x', '--url', server.url], { cwd: folder.path, env: ENV })
      let printed = ''
      child.stdout?.on('data', part => {
        printed += part
      })
      await isAsked
      child.kill('SIGINT')
      expect({ status: await ended(child), printed }).toEqual({ status: 130, printed: '' })
    } finally {
      await server.close()
    }
  })
})

const reason = whyNoChroma()

describe.skipIf(reason !== null)(`querent mirror${reason === null ? '' : ` (skipped: ${reason})`}`, () => {
  let server: ChromaServer
  beforeAll(async () => {
    server = await startChroma()
  })
  afterAll(() => server?.stop())

  it('pushes a collection, once, and the server answers as the store does (CO-052, CO-053)', async () => {
    for (const collection of ['items', 'analysis']) {
      const pushed = await run(['mirror', collection, '--to', 'chromadb', '--url', server.url, '--json'])
      expect(JSON.parse(pushed.stdout)).toMatchObject({ removed: 0, unchanged: 0, waiting: 0 })
    }
    const again = await run(['mirror', 'items', '--to', 'chromadb'], { env: { QUERENT_CHROMA_URL: server.url } })
    expect(again.stdout).toMatch(/^0 put, 0 removed, 3 unchanged, 0 waiting for a vector\nin \S+\n$/)
    const shown = await runInProcess(
      ['mirror', 'items', '--to', 'chromadb', '--url', server.url, '--home', join(folder.path, '.querent')],
      { workingFolder: folder.path, terminal: true },
    )
    expect(shown.stderr).toMatch(/mirror .* 3\/3 .*items/)
    const [here, there] = await Promise.all([
      ask('streaming answers', '--json', '--days', '30'),
      ask('streaming answers', '--json', '--days', '30', '--url', server.url),
    ])
    const reported = ({ stdout }: Run) =>
      JSON.parse(stdout).results.map((one: { id: string; score: number }) => [one.id, one.score.toFixed(2)])
    expect(reported(there)).toEqual(reported(here))
    expect(JSON.parse(there.stdout).meta.store).toBe('chromadb')
  })

  it('is the local owner’s alone', async () => {
    const args = ['mirror', 'items', '--to', 'chromadb', '--url', server.url]
    const { status, stderr } = await run(args, { env: { QUERENT_VIEWER: 'ana' } })
    expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining('for the local owner only') })
  })
})

describe('a server that has nothing anywhere', () => {
  it.each([
    ['in HTML', '<html>not found</html>'],
    ['in JSON', { detail: 'Not Found' }],
  ])('is an error and not an empty answer, %s (CO-025)', async (_, body) => {
    const server = await startLoopback((_request, response) => sendJson(response, 404, body))
    try {
      const { status, stdout, stderr } = await ask('x', '--url', server.url)
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
      expect(stderr).toMatch(/^Error: .*the server at http:\S+ does not answer like ChromaDB/)
      const args = ['mirror', 'items', '--to', 'qdrant', '--url', server.url]
      expect(await run(args)).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('does not answer like Qdrant'),
      })
    } finally {
      await server.close()
    }
  })
})

describe('querent mirror, of what not all is accepted', () => {
  it('prints the ids that were refused, and fails where the names are another store’s (CO-073)', async () => {
    const fake = await startFakeQdrant()
    const gateway = await startGateway(fake.url)
    const refusal = { status: 400, body: { status: { error: 'Wrong input: \u001b[31mno such date' } } }
    gateway.answer = ({ method, body }) => (method === 'PUT' && body.includes('Undated') ? refusal : null)
    try {
      const args = ['mirror', 'items', '--to', 'qdrant', '--url', gateway.url]
      const partly = await run(args)
      expect(partly).toMatchObject({ status: 0, stdout: expect.stringMatching(/^2 put, 0 removed, 0 unchanged/) })
      expect(partly.stderr).toBe('querent: i3: the server refuses it: Wrong input: \ufffd[31mno such date\n')
      using elsewhere = tempFolder()
      writeFileSync(join(elsewhere.path, 'other.md'), 'of another store')
      await run(['add', 'other.md', '--collection', 'items'], { cwd: elsewhere.path })
      const other = await run(args, { cwd: elsewhere.path })
      expect(other).toMatchObject({ status: 1, stdout: '' })
      expect(other.stderr).toMatch(
        /^querent: mirror: "items" needs querent_items_\w+, which holds something else: another store's mirror/,
      )
    } finally {
      await gateway.close()
      await fake.close()
    }
  })
})

describe('querent mirror that cannot', () => {
  it('says why in a line', async () => {
    expect(await run(['mirror', 'items', '--to', 'qdrant'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('QUERENT_QDRANT_URL'),
    })
    const nobody = await run(['mirror', 'items', '--to', 'chromadb', '--url', 'http://127.0.0.1:9'])
    expect(nobody).toMatchObject({ status: 1, stdout: '' })
    const unknown = await run(['mirror', 'nothing', '--to', 'chromadb', '--url', 'http://127.0.0.1:9'])
    expect(unknown).toMatchObject({ status: 1, stderr: expect.stringContaining('there is nothing in "nothing"') })
  })
})

/** The words after `querent` or `/chroma-query` in the files, as arguments of the command. */
function commandLines(text: string): readonly (readonly string[])[] {
  const found = [...text.matchAll(/(querent|\/chroma-query) ((?:[a-z]+ ?)?(?:"[^"]+")?(?: --[a-z-]+ [\w.]+)*)/g)]
  return found.flatMap(([, program, line = '']) => {
    const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '')
    const isSentence = !line.includes('"') && line !== 'status' // the bare name of a command
    return isSentence ? [] : [program === 'querent' ? words : ['collections', ...words]]
  })
}

function entry(id: string, collection: string, content: string, metadata: Record<string, string>) {
  return { id, collection, content, metadata }
}

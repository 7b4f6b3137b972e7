/** `querent c64` as processes: its output to the letter, its exit codes, its two streams. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Run } from '../support/command.ts'
import { querentHere } from '../support/in-process.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'

let folder: TempFolder
beforeAll(async () => {
  folder = tempFolder()
  expect((await run(['init'])).status).toBe(0)
})
afterAll(() => folder[Symbol.dispose]())

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}, cwd = folder.path): Promise<Run> {
  return querentHere(args, { cwd, env: { QUERENT_NOW: '2026-03-01T12:00:00Z', ...env } })
}

describe('querent c64 --enrich-only', () => {
  it('prints the question enriched, its tags and the mode (EN-026, EN-072)', async () => {
    expect(await run(['c64', '--enrich-only', '$D418'])).toEqual({
      status: 0,
      stdout:
        '$D418\n[$D418 = 54296; $D418 → SID Filter and Volume (cutoff, resonance, routing, mode, volume)]\n\n' +
        'Tags: $D418\nMode: filtered\n',
      stderr: '',
    })
    expect((await run(['c64', '--raw', '--enrich-only', '$D418'])).stdout).toBe('$D418\n\nTags: none\nMode: semantic\n')
  })

  it('needs neither server, key, model nor store (EN-071)', async () => {
    using empty = tempFolder()
    const env = { C64_BACKEND: 'qdrant', QDRANT_URL: 'http://127.0.0.1:9', QUERENT_EMBEDDER: 'local' }
    const folderOfNoModel = { ...env, QUERENT_EMBEDDER_FOLDER: '/nowhere' }
    const { status, stdout } = await run(['c64', '--enrich-only', 'EXTCOL'], folderOfNoModel, empty.path)
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining('Tags: $D020, EXTCOL\n') })
    expect(readdirSync(empty.path)).toEqual([])
  })
})

describe('querent c64', () => {
  it('answers in a folder without a store, with nothing running, and leaves nothing there (EN-065)', async () => {
    using empty = tempFolder()
    const { status, stdout, stderr } = await run(['c64', 'What does POKE 53280, 14 do?'], {}, empty.path)
    expect(status).toBe(0)
    expect(stdout).toContain('### Result 1: VIC-II Border Color: $D020\n')
    expect(stderr).toContain('Warning: there is no store here: answered by words, from facts in memory')
    expect(readdirSync(empty.path)).toEqual([])
  })

  it('prints results as Markdown, and what it did on standard error (EN-070, EN-074)', async () => {
    const { status, stdout, stderr } = await run([
      'c64',
      '--limit',
      '2',
      '--min-score-ratio',
      '0.2',
      'EXTCOL',
      'please,',
      'what',
      'is',
      'it',
    ])
    expect(status).toBe(0)
    expect(stdout.replace(/score=\d\.\d{3}/g, 'score=N')).toBe(
      [
        ...['_Search mode: hybrid (filtered on $D020, EXTCOL + semantic)_', ''],
        ...['### Result 1: EXTCOL: VIC-II register $D020', '_score=N | type=register_', ''],
        'Border colour. $D020 (decimal 53280), VIC-II, video interface controller 6567 (NTSC) / 6569 (PAL) / 8562 / 8565. ' +
          'Bits 7-4: not connected, read as 1. Bits 3-0 COLOUR: palette index 0-15. Holds a colour (color) from 0 to 15. ' +
          'Can be read and written. Set to $0E at power on. Also called EC, VIC_BORDERCOLOR, BORDER_COL.',
        ...['', '---', '', '### Result 2: VIC-II Border Color: $D020', '_score=N | type=io_', ''],
        ...['Border color, bits 0-3. Decimal 53280, input and output.', ''],
      ].join('\n'),
    )
    expect(stderr).toBe(
      'Enriched query: EXTCOL please, what is it [EXTCOL = $D020 (VIC-II)]\n' +
        'Tags: $D020, EXTCOL\nMode: hybrid (filtered on $D020, EXTCOL + semantic)\n',
    )
  })

  it('--raw searches the question as it is (EN-071)', async () => {
    const { stdout, stderr } = await run(['c64', '--raw', '--limit', '1', 'Border colour'])
    expect(stdout).toMatch(/^_Search mode: semantic_\n\n### Result 1: /)
    expect(stderr).toBe('Enriched query: Border colour\nTags: none\nMode: semantic\n')
  })

  it('says when nothing was found (EN-070)', async () => {
    expect(await run(['c64', '--raw', 'xylophone'])).toMatchObject({ status: 0, stdout: 'No results found.\n' })
  })

  it('--json prints the whole result (EN-074)', async () => {
    const { stdout } = await run(['c64', '--json', '--limit', '1', '$C123'])
    expect(JSON.parse(stdout)).toEqual({
      query: '$C123',
      enriched_query: expect.stringMatching(/^\$C123\n\[\$C123 = 49443; /),
      additional_context: expect.arrayContaining(['$C123 = 49443']),
      filter_tags: ['$C123'],
      strategy: 'filtered',
      search_mode: 'filtered ($C123), no match, semantic',
      backend: 'embedded',
      results: [{ id: expect.any(String), score: expect.any(Number), payload: expect.any(Object) }],
      ...{ verdict: 'answered', reason: null, nearest: [], cursor: null },
      warnings: [],
    })
  })

  it('takes settings from the home, the environment before it, flags before both (EN-066)', async () => {
    const file = folder.file('.querent/config.json')
    writeFileSync(file, JSON.stringify({ lenses: { c64: { limit: 3 } } }))
    const count = async (args: readonly string[], env = {}) =>
      [...(await run(['c64', ...args, 'sprite'], env)).stdout.matchAll(/^### Result/gm)].length
    expect(await count([])).toBe(3)
    expect(await count([], { C64_LIMIT: '2' })).toBe(2)
    expect(await count(['--limit', '1'], { C64_LIMIT: '2' })).toBe(1)
    writeFileSync(file, '{}')
  })

  it('ends with 1 and the usage without a question (EN-073)', async () => {
    const { status, stdout, stderr } = await run(['c64'])
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(/^Usage: querent c64 \[options\] \[words\.\.\.\]/)
  })

  it.each([
    [['--limit', '0', 'x'], /limit: expected .*got 0/],
    [['--limit', '2.5', 'x'], /limit: expected .*got 2\.5/],
    [['--limit', 'many', 'x'], /'--limit <number>' argument 'many' is invalid/],
    [['x', '--limit'], /--limit <number>' argument missing/],
    [['--no-such', 'x'], /unknown option '--no-such'/],
    [['--min-score-ratio', '2', 'x'], /min_score_ratio/],
    [['--backend', 'postgres', 'x'], /'postgres' is invalid. Allowed choices are embedded, qdrant/],
    [['--backend', 'qdrant', 'x'], /OPENAI_API_KEY: it is not set/],
  ])('ends with 1 for every failure: %j (EN-073)', async (args, message) => {
    const { status, stdout, stderr } = await run(['c64', ...args])
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(message)
  })

  it('ends with 1 and the address when Qdrant is not there (EN-062, EN-073)', async () => {
    const env = { OPENAI_API_KEY: 'x', QDRANT_URL: 'http://127.0.0.1:9' }
    const { status, stdout, stderr } = await run(['c64', '--backend', 'qdrant', 'x'], env)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(/^querent: Qdrant at http:\/\/127\.0\.0\.1:9 cannot be reached\n/)
  })
})

describe('the command for assistants', () => {
  const file = new URL('../../src/lenses/c64/files/.claude/commands/query-c64.md', import.meta.url)

  it('speaks of its three modes, related chunks and a floor, in commands that run (EN-075)', async () => {
    const text = readFileSync(file, 'utf8')
    for (const word of ['## Shallow', '## Deep', '## Auto', 'related chunks', 'below 0.35'])
      expect(text).toContain(word)
    const commands = [...text.matchAll(/`querent (c64 [^`]*"[^`]+")`/g)].map(match => match[1] ?? '')
    expect(commands.length).toBeGreaterThan(3)
    for (const command of new Set(commands)) {
      const args = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(
        ([, quoted, plain]) => (quoted && 'EXTCOL') || plain || '',
      )
      expect(await run(args)).toMatchObject({ status: 0, stdout: expect.stringContaining('EXTCOL') })
    }
  })

  it('has front matter that is YAML: what begins like a list or has a colon in it is quoted (EN-075)', () => {
    const [, front = ''] = /^---\n([\s\S]*?)\n---\n/.exec(readFileSync(file, 'utf8')) ?? []
    const fields = new Map(front.split('\n').map(line => line.split(/: (.*)/s, 2) as [string, string]))
    expect([...fields.keys()]).toEqual(['description', 'argument-hint', 'allowed-tools'])
    for (const value of fields.values()) expect(value).toMatch(/^"[^"\\]*"$|^[A-Za-z](?:(?!: | #).)*$/)
    expect(fields.get('argument-hint')).toBe('"[shallow|deep|auto] <question>"')
  })

  it('comes with the package: the build copies Markdown of the sources (EN-075)', () => {
    expect(readFileSync(new URL('../../scripts/build.ts', import.meta.url), 'utf8')).toMatch(/assets = \[.*'\.md'/)
    expect(existsSync(file)).toBe(true)
  })
})

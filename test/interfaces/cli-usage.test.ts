/** What the command line says and ends with, whatever it is given. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Run } from '../support/command.ts'
import { runInProcess } from '../support/in-process.ts'

const NOW = '2026-03-01T12:00:00Z'

let folder = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'querent-usage-'))
  vi.stubEnv('QUERENT_EMBEDDER', 'none')
  vi.stubEnv('QUERENT_HOME', join(folder, '.querent'))
  writeFileSync(join(folder, 'decay.md'), '# Decay\n\nMemory fades with a half life of seven days.\n')
  writeFileSync(join(folder, 'kernel.md'), '# Kernel\n\nThe kernel scans the signs of vectors.\n')
  const { status, stderr } = await run(['add', 'decay.md', 'kernel.md'])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

function run(
  args: readonly string[],
  more: { env?: Record<string, string>; stdin?: string; terminal?: boolean } = {},
): Promise<Run> {
  const { env = {}, stdin, terminal } = more
  return runInProcess(args, { workingFolder: folder, stdin, terminal, env: { QUERENT_NOW: NOW, ...env } })
}

describe('bad usage ends with 2, says what is wrong on standard error, and prints nothing', () => {
  it.each<[readonly string[], RegExp]>([
    [[], /^Usage: querent/],
    [['qurey', 'x'], /unknown command 'qurey'\n\(Did you mean query\?\)/],
    [['query'], /missing required argument 'words'/],
    [['query', 'x', '--limt', '3'], /unknown option '--limt'\n\(Did you mean --limit\?\)/],
    [['explain', 'a', 'x', '--ovr=b'], /unknown option '--ovr=b'\n\(Did you mean --over\?\)/],
    [['list', '--limt', '3'], /unknown option '--limt'\n\(Did you mean --limit\?\)/],
    [
      ['query', 'ferry', '-l', '3'],
      /^querent: unknown option '-l'; use the long form, such as --limit, or put the query in quotes/,
    ],
    [
      ['query', '-l', '3', 'ferry'],
      /^querent: unknown option '-l'; use the long form, such as --limit, or write it after/,
    ],
    [['mcp', 'isntall'], /unknown command 'isntall'\n\(Did you mean install\?\)/],
    [['query', 'x', '--limit', 'many'], /Expected a number/],
    [['query', 'x', '--limit', 'NaN'], /Expected a number/],
    [['query', 'x', '--limit', '0'], /^querent: limit: expected at least 1, got 0\n$/],
    [['query', 'x', '--limit', '-3'], /limit: expected at least 1, got -3/],
    [['query', 'x', '--limit', '1000000000'], /limit: expected at most 1000, got 1000000000/],
    [['query', 'x', '--limit', '2.5'], /limit: expected/],
    [['query', 'x', '--passages', '11'], /^querent: passages: expected at most 10, got 11/],
    [['query', 'x', '--mode', 'telepathy'], /Allowed choices are hybrid, words, meaning/],
    [['query', 'x', '--words', '--mode', 'hybrid'], /cannot be used with/],
    [['query', 'x', '--format', 'xml'], /Allowed choices are table, md, json/],
    [['query', 'x', '--stream', '--format', 'md'], /--format: expected json, or none, got md; with --stream/],
    [['beliefs', 'query', 'x', '--stream', '--format', 'md'], /--format: expected json, or none, got md/],
    [['query', '--syntax', 'strict', '"half'], /^querent: .*quot/i],
    [['query', '--syntax', 'loose', 'half'], /Allowed choices are plain, lenient, strict/],
    [['query', 'x', '--lens', 'nonsense'], /lens/],
    [['query', 'x', '--cursor', 'forged'], /cursor/],
    [['query', 'x', '--now', 'yesterday'], /^querent: --now: expected a date/],
    [['query', 'x', '--as-of', 'yesterday'], /^querent: as_of: expected/],
    [['query', 'x', '--viewer', 'two words'], /^querent: --viewer: expected a name/],
    [
      ['add', 'decay.md', '--map', 'nothing'],
      /option '--map <name=value>' argument 'nothing' is invalid\. Expected name=value/,
    ],
    [['list', '--order', 'size'], /Allowed choices/],
    [['call'], /missing operation[\s\S]*Operations:\n {2}query /],
    [['import', 'decay.md'], /^querent: line 1: not JSON/],
    [['serve', '--host', '0.0.0.0'], /--tokens is needed/],
    [['serve', '--port', '99999'], /--port: expected 0 to 65535/],
    [['mcp', '--lens', 'nonsense'], /there is no lens "nonsense"/],
  ])('querent %j', async (args, message) => {
    const { status, stdout, stderr } = await run(args)
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/^\s+at /m)
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  })

  it.each<[readonly string[], string]>([
    [['--list', 'status'], "querent: unknown option '--list'"],
    [['--format', 'md', 'serve'], "querent: unknown option '--format' of serve"],
    [['mcp', '--list-tools', 'install'], "querent: unknown option '--list-tools' of install"],
    [['--format', 'yaml', 'status'], 'Allowed choices'],
  ])('querent %j, which names an option before a command that does not have it', async (args, message) => {
    const { status, stdout, stderr } = await run(args)
    expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: '', stderr: expect.stringContaining(message) })
  })

  it('not for words behind `--`, which are words of the query', async () => {
    const { status, stdout } = await run(['query', '--words', '--', '--limt', 'kernel'])
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^1\. Kernel/) })
  })

  it('not for a word to exclude, also of one letter, behind a text', async () => {
    const { status, stdout } = await run(['query', '--words', 'kernel', '-half', '-x'])
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('1. Kernel') })
  })

  it('QUERENT_NOW that is no time', async () => {
    const { status, stderr } = await run(['status'], { env: { QUERENT_NOW: 'soon' } })
    expect({ status, stderr }).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/^querent: QUERENT_NOW: expected/),
    })
  })

  it('call of what only streams names the command that does', async () => {
    const { stdout } = await run(['call', 'watch', '{"text":"x"}'])
    expect(stdout).toContain('use `querent watch`, or over HTTP')
  })
})

describe('an option that many commands have', () => {
  it('may stand before the command, and after it counts more', async () => {
    const home = join(folder, 'named')
    expect(await run(['--home', home, 'init'])).toMatchObject({ status: 0 })
    expect(await run([`--home=${home}`, '--now', '2026-01-01', 'remember', 'Foxes sleep.'])).toMatchObject({
      status: 0,
    })
    const before = await run(['--home', home, '--json', 'status'])
    expect(JSON.parse(before.stdout)).toMatchObject({ home, entries: 1 })
    const after = await run([
      '--home',
      join(folder, 'nowhere'),
      '--format',
      'table',
      'status',
      '--home',
      home,
      '--json',
    ])
    expect(JSON.parse(after.stdout)).toMatchObject({ home, entries: 1 })
    const ana = await run(['--home', home, '--viewer', 'ana', '--json', 'list'])
    expect(JSON.parse(ana.stdout)).toMatchObject({ total: 0 })
    const failed = await run(['--home', home, '--json', 'get', 'nothing'])
    expect(JSON.parse(failed.stdout)).toMatchObject({ error: { code: 'not_found' } })
  })

  it('may stand before a group of commands', async () => {
    const home = join(folder, 'grouped')
    expect(await run(['init', '--home', home])).toMatchObject({ status: 0 })
    const { stdout } = await run(['--home', home, '--json', 'agents', 'create', 'bob'])
    expect(JSON.parse(stdout)).toMatchObject({ agent: { id: 'bob' } })
  })
})

describe('what fails ends with 1', () => {
  it.each<[readonly string[], RegExp]>([
    [['get', 'nothing'], /^querent: .*nothing/],
    [['export', 'no/such/folder/file'], /^querent: .*file/],
    [['import', 'no-such-file'], /^querent: no-such-file: /],
    [['serve', '--tokens', 'no-such-file'], /^querent: --tokens no-such-file: /],
  ])('querent %j', async (args, message) => {
    const { status, stdout, stderr } = await run(args)
    expect(stderr).toMatch(message)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  })

  it('where there is no store, and makes none', async () => {
    const home = join(folder, 'typo')
    const { status, stdout, stderr } = await run(['query', 'decay', '--home', home])
    expect(stderr).toMatch(/^querent: .*querent init/)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(existsSync(home)).toBe(false)
  })

  it('an import of a file that is not there, which makes no store either', async () => {
    const home = join(folder, 'imported')
    const { status, stderr } = await run(['import', 'no-such-file', '--home', home])
    expect(stderr).toMatch(/^querent: no-such-file: /)
    expect(status).toBe(1)
    expect(existsSync(home)).toBe(false)
  })

  it('as one document with --json', async () => {
    const { status, stdout, stderr } = await run(['get', 'nothing', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'not_found', details: { id: 'nothing' } } })
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' })
  })

  it('as whom one may not be: an agent is no other agent, and reads no disk', async () => {
    const env = { QUERENT_VIEWER: 'ana' }
    expect(await run(['query', 'x', '--viewer', 'ben'], { env })).toMatchObject({ status: 1, stdout: '' })
    expect(await run(['query', 'x', '--viewer', 'ana'], { env })).toMatchObject({ status: 0 })
    expect(await run(['export'], { env })).toMatchObject({ status: 1, stdout: '' })
    expect(await run(['add', '.'], { env })).toMatchObject({ status: 1, stdout: '' })
  })
})

describe('call', () => {
  const failed = async (args: readonly string[], stdin = '') => {
    const { status, stdout, stderr } = await run(['call', ...args], { stdin })
    expect({ status, stderr, lines: stdout.split('\n').length }).toEqual({ status: 1, stderr: '', lines: 2 })
    return JSON.parse(stdout).error
  }

  it('prints exactly the JSON result, from an argument, a file, a pipe, or nothing', async () => {
    writeFileSync(join(folder, 'input.json'), '{"text": "half life"}')
    const direct = await run(['call', 'query', '{"text": "half life"}'])
    expect(direct).toMatchObject({ status: 0, stderr: '', stdout: expect.stringMatching(/^\{.*\}\n$/) })
    const { items, verdict } = JSON.parse(direct.stdout)
    expect({ titles: items.map((item: { title: string }) => item.title), verdict }).toEqual({
      titles: ['Decay'],
      verdict: 'answered',
    })
    for (const [args, stdin] of [
      [['@input.json'], ''],
      [['-'], '{"text":"half life"}'],
      [[], '{"text":"half life"}'],
    ] as const) {
      const again = await run(['call', 'query', ...args], { stdin })
      expect(JSON.parse(again.stdout).items).toHaveLength(1)
    }
    expect((await run(['call', 'lenses'])).stdout).toMatch(/^\{"lenses":\[\{"name":"default"/)
  })

  it('tells failures on standard output, as JSON, with exit code 1 whatever their kind', async () => {
    expect(await failed(['qurey'], '{}')).toMatchObject({ code: 'unknown_operation', details: { near: ['query'] } })
    expect(await failed(['query', '{'])).toMatchObject({ code: 'invalid_json' })
    expect(await failed(['query', '@no-such-file'])).toMatchObject({ code: 'io_failed' })
    expect(await failed(['query'])).toMatchObject({ code: 'invalid_argument', details: { field: 'text' } })
    expect(await failed(['query', '{"txt":"a"}'])).toMatchObject({ code: 'unknown_field', details: { near: ['text'] } })
    expect(await failed(['get', '{"id":"nothing"}'])).toMatchObject({ code: 'not_found' })
  })

  it('lists every operation in its help', async () => {
    const { status, stdout } = await run(['call', '--help'])
    expect(status).toBe(0)
    expect(stdout).toMatch(/Operations:\n {2}query +Search; results are ranked/)
    expect(stdout).toContain('Examples:')
  })
})

describe('a command that writes a file', () => {
  it('exports to a new file, and with --overwrite replaces an earlier export, but nothing else', async () => {
    const [exported, other] = [join(folder, 'notes.jsonl'), join(folder, 'other.txt')]
    writeFileSync(other, 'keep me\n')
    expect(await run(['export', exported])).toMatchObject({ status: 0, stdout: '' })
    const first = readFileSync(exported, 'utf8')
    expect(first).toMatch(/^\{"type":"querent"/)
    expect(await run(['export', exported])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('notes.jsonl: exists already; name another file, or overwrite it (--overwrite)'),
    })
    expect(await run(['export', exported, '--overwrite'])).toMatchObject({ status: 0 })
    expect(readFileSync(exported, 'utf8')).toBe(first)
    const store = join(folder, '.querent', 'store.db')
    const before = readFileSync(store)
    for (const file of [other, store]) {
      expect(await run(['export', file])).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('exists already'),
      })
      expect(await run(['export', file, '--overwrite'])).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('it is not an export of Querent'),
      })
    }
    expect(readFileSync(other, 'utf8')).toBe('keep me\n')
    expect(readFileSync(store).equals(before)).toBe(true)
    expect((await run(['list'])).stdout).toContain('decay.md')
    expect(readdirSync(folder).filter(name => name.endsWith('.unfinished'))).toEqual([])
  })

  it('says that a folder is none, or is missing, and that the disk is full', async () => {
    expect(await run(['export', folder])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('this is a folder'),
    })
    for (const command of ['export', 'backup']) {
      const { status, stderr } = await run([command, join(folder, 'missing', 'copy')])
      expect({ command, status }).toEqual({ command, status: 1 })
      expect(stderr).toContain('missing')
      expect(stderr).toContain(': there is no such file or folder\n')
    }
    if (!existsSync('/dev/full')) return
    expect(await run(['export', '/dev/full'])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('/dev/full: the disk is full'),
    })
  })
})

describe('help', () => {
  it('of a command is the same by either name, and a command that is not there is named', async () => {
    for (const command of [['query'], ['config'], ['config', 'get'], ['beliefs', 'query']]) {
      expect((await run(['help', ...command])).stdout).toBe((await run([...command, '--help'])).stdout)
    }
    for (const words of [
      ['help', 'nope'],
      ['nope', '--help'],
      ['help', 'beliefs', 'nope'],
      ['beliefs', 'nope', '-h'],
    ]) {
      const { status, stdout, stderr } = await run(words)
      expect({ words, status, stdout }).toEqual({ words, status: 2, stdout: '' })
      expect(stderr).toContain("unknown command 'nope'")
    }
  })

  it('names the defaults of the command where they are not those of the operation', async () => {
    const { stdout } = await run(['context', 'query', '--help'])
    const text = stdout.replace(/\s+/g, ' ')
    for (const words of ['both. Default: hybrid', 'evidence. Default: relevance', 'concept. Default: passage']) {
      expect(text).toContain(words)
    }
  })
})

it('reads and removes only settings that exist', async () => {
  for (const command of ['get', 'unset']) {
    expect(await run(['config', command, 'limits.burts'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('limits.burts: there is no such field; did you mean burst?'),
    })
  }
  expect(await run(['config', 'unset', 'limits.burst'])).toMatchObject({ status: 0 })
})

it('says of an address that it is none of a file, as it was written', async () => {
  const { status, stderr } = await run(['add', 'https://example.org/notes.md'])
  expect(status).toBe(2)
  expect(stderr).toContain('paths.0: expected a file or folder of this machine: download')
  expect(stderr).toContain('got "https://example.org/notes.md"')
})

describe('help', () => {
  it('has examples for every command, and goes to standard output', async () => {
    const { stdout } = await run(['--help'])
    const commands = [...stdout.matchAll(/^ {2}([a-z0-9]+) \[options\]/gm)].map(match => match[1] ?? '')
    expect(commands.join(' ')).toBe(
      'query recall watch explain count similar remember get list put touch delete status init add sync doctor backup model brief mirror export import collections c64 serve mcp call completion suggest lenses',
    )
    for (const command of commands) {
      const { status, stdout: help, stderr } = await run([command, '--help'])
      expect({ command, status, stderr }).toEqual({ command, status: 0, stderr: '' })
      expect(help).toMatch(/\nExamples:\n {2}\S/)
    }
  })

  it('lists the options of query and add by purpose', async () => {
    const headings = async (command: string) =>
      [...(await run([command, '--help'])).stdout.matchAll(/^([A-Z][\w -]+):$/gm)].map(match => match[1])
    expect(await headings('query')).toEqual([
      'Arguments',
      'Common options',
      'Filters',
      'Time',
      'Scoring',
      'Advanced',
      'Options',
      'Examples',
    ])
    expect(await headings('add')).toEqual([
      'Arguments',
      'Common options',
      'Who may see them',
      'With --chat',
      'Advanced',
      'Options',
      'Examples',
    ])
  })

  it('has examples of put, touch and call that work as they are printed', async () => {
    const inOwnStore = (args: readonly string[]) => run([...args, '--home', join(folder, 'examples')])
    const examples = async (command: string) =>
      [...(await inOwnStore([command, '--help'])).stdout.matchAll(/^ {2}querent (.*?)(?: {2}.*)?$/gm)]
        .map(([, line = '']) =>
          [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? ''),
        )
        .filter(([, , file]) => file?.startsWith('@') !== true)
    const ran = async (lines: readonly string[][]) => {
      for (const line of lines)
        expect({ line, ...(await inOwnStore(line)) }).toMatchObject({ line, status: 0, stderr: '' })
    }
    const put = await examples('put')
    expect(put).toHaveLength(1)
    await ran(put)
    expect((await inOwnStore(['query', '--words', 'restored', 'Sundays'])).stdout).toMatch(/^1\. Restore/)
    await inOwnStore(['put', '--entry', '[{"id": "notes/login-flow.md", "content": "Sign in."}]'])
    await ran(await examples('touch'))
    const calls = await examples('call')
    expect(calls.length).toBeGreaterThan(2)
    await ran(calls)
  })

  it('tells the version', async () => {
    expect(await run(['--version'])).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
  })
})

describe('an answer', () => {
  it('is for people by default, without colour where nobody looks', async () => {
    const { status, stdout, stderr } = await run(['query', 'half', 'life'])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toMatch(
      /^1\. Decay {2}decay\.md:\d(-\d)? {2}Decay {2}\d\.\d{3} {2}\S+\n( {3}.*\n)+ {3}why: .+\n\nanswered/,
    )
    expect(stdout).toContain('half life')
    expect(stdout).not.toContain('\u001b')
  })

  it('has colour when forced', async () => {
    expect((await run(['query', 'half life'], { env: { FORCE_COLOR: '1' } })).stdout).toContain('\u001b[1m')
  })

  it('ends with 3 when nothing is relevant and --fail-empty is given, else with 0', async () => {
    expect(await run(['query', 'xylophone', '--fail-empty'])).toMatchObject({ status: 3, stderr: '' })
    expect(await run(['query', 'xylophone'])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^nothing relevant/),
    })
    expect(await run(['query', 'half life', '--fail-empty'])).toMatchObject({ status: 0 })
  })

  it('is one JSON document with --json and --format json', async () => {
    const [json, format] = await Promise.all([
      run(['query', 'half life', '--json', '--explain']),
      run(['list', '--format', 'json']),
    ])
    expect(JSON.parse(json.stdout).items[0].explanation).toMatchObject({ value: expect.any(Number) })
    expect(JSON.parse(format.stdout)).toMatchObject({ total: 2 })
  })

  it('is Markdown with --format md', async () => {
    expect((await run(['query', 'half life', '--format', 'md'])).stdout).toMatch(/^## 1\. Decay\n/)
    expect((await run(['list', '--format', 'md'])).stdout).toMatch(/^\| ID \| COLLECTION \|/)
  })

  it('may be to a question with -words, without quotes around it', async () => {
    const { stdout } = await run(['query', '--words', 'memory', 'kernel', '-kernel', '--json', '--limit', '5'])
    expect(JSON.parse(stdout).items.map((item: { title: string }) => item.title)).toEqual(['Decay'])
  })

  it('takes its question from a pipe when asked with -', async () => {
    expect((await run(['query', '-', '--json'], { stdin: 'half life\n' })).stdout).toContain('"Decay"')
  })
})

describe('at a terminal', () => {
  it('progress is a bar on standard error, and nothing of it on standard output', async () => {
    const { status, stdout, stderr } = await run(['add', 'decay.md', 'kernel.md'], { terminal: true })
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringMatching(/^0 added, .*2 unchanged/) })
    expect(stderr).toMatch(/read █+ \d\/\d/)
    expect((await run(['add', 'decay.md', '--json'], { terminal: true })).stdout).toMatch(/^\{\n {2}"added": 0,/)
  })

  it('answers have colour, unless NO_COLOR says no', async () => {
    expect((await run(['query', 'half life'], { terminal: true })).stdout).toContain('\u001b[1m')
    const plain = await run(['query', 'half life'], { terminal: true, env: { NO_COLOR: '1' } })
    expect(plain.stdout).not.toContain('\u001b')
  })
})

it('QE-008: query --passages shows the passages of each result, with lines, section and score', async () => {
  const { status, stdout } = await run(['query', '--passages', '2', '--limit', '1', 'half life'])
  expect(status).toBe(0)
  expect(stdout).toMatch(/^1\. Decay {2}.*\n {3}lines \d(-\d)? {2}Decay {2}\d\.\d{3}\n {5}\S/)
  const json = await run(['query', '--passages', '2', '--limit', '1', '--json', 'half life'])
  const [item] = JSON.parse(json.stdout).items
  expect(item.excerpt.section).toEqual(['Decay'])
  expect(item.passages).toEqual([{ ...item.excerpt, score: item.score }])
})

it('QE-008: query --group passage prints each passage as a result, and explain says why it is there', async () => {
  const { status, stdout } = await run(['query', '--group', 'passage', '--limit', '1', 'half life'])
  expect(status).toBe(0)
  expect(stdout).toMatch(/^1\. Decay {2}\S+:\d+(-\d+)? {2}Decay {2}\d\.\d{3} {2}\S+ {2}passage 1\n {3}\S/)
  const json = await run(['query', '--group', 'passage', '--limit', '1', '--json', 'half life'])
  const [item] = JSON.parse(json.stdout).items
  const why = await run(['explain', item.id, '--group', 'passage', '--passage', '1', 'half life'])
  expect(why.stdout).toContain(`Passage 1 of "${item.id}" has rank 1: `)
  const similar = await run(['similar', item.id, '--group', 'passage', '--json'])
  for (const { passage } of JSON.parse(similar.stdout).items) expect(passage).toBeGreaterThanOrEqual(1)
})

/** What the command is given beyond what one types: much, broken, hostile. It ends, with its code and no stack. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { runInProcess } from '../support/in-process.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folder = tempFolder()
const home = folder.file('home')
const run = (args: readonly string[], stdin = '') =>
  runInProcess(args, { workingFolder: folder.path, stdin, env: { QUERENT_NOW: '2026-03-01T12:00:00Z' } })

beforeAll(async () => {
  vi.stubEnv('QUERENT_EMBEDDER', 'none')
  vi.stubEnv('QUERENT_HOME', home)
  writeFileSync(folder.file('fox.md'), '# Fox\n\nThe quick fox jumps.\n')
  expect(await run(['add', 'fox.md'])).toMatchObject({ status: 0 })
})
afterAll(() => {
  vi.unstubAllEnvs()
  folder[Symbol.dispose]()
})

it.each<[string, readonly string[], string, number, RegExp]>([
  ['a question of 10 MB', ['query', '-'], 'fox '.repeat(2_500_000), 1, /^querent: input: more than \d+ bytes/],
  ['an empty pipe', ['query', '-'], '', 2, /^querent: text: it is empty; expected a question/],
  ['a file that is no export', ['import', 'fox.md'], '', 2, /^querent: line 1: not JSON/],
  [
    'a file with one bad line',
    ['import', '-'],
    '{"type":"querent","version":1}\n{"type":"entry"}\n',
    2,
    /^querent: line 2: entry/,
  ],
  [
    'a newer export',
    ['import', '-'],
    '{"type":"querent","version":2}\n',
    2,
    /^querent: line 1: version: expected one of 1/,
  ],
])('%s is refused in one line', async (_, args, stdin, status, message) => {
  const ended = await run(args, stdin)
  expect(ended).toMatchObject({ status, stdout: '', stderr: expect.stringMatching(message) })
  expect(ended.stderr).not.toMatch(/^\s+at /m)
  expect(ended.stderr.length).toBeLessThan(500)
  expect(JSON.parse((await run(['list', '--json'])).stdout).total).toBe(1)
})

it.each<[string, string, string]>([
  ['10 MB of strict question', JSON.stringify({ text: 'x'.repeat(1e7), syntax: 'strict' }), 'too_large'],
  ['10 MB of something else', JSON.stringify({ text: 'x', lens: 'x'.repeat(1e7) }), 'invalid_argument'],
  ['lists in lists', `{"text":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, 'invalid_argument'],
  ['a condition of no meaning', '{"text":"fox","filter":{"metadata":{"__proto__":1}}}', 'invalid_argument'],
  ['JSON that ends early', '{"text":"fox"', 'invalid_json'],
])('call: %s is refused as JSON', async (_, input, code) => {
  const { status, stdout, stderr } = await run(['call', 'query', '-'], input)
  expect({ status, stderr }).toEqual({ status: 1, stderr: '' })
  expect(JSON.parse(stdout)).toMatchObject({ error: { code } })
  expect(stdout.length).toBeLessThan(1_000)
})

it.each([
  'quick\u0001fox',
  'quick fox\ufffd',
  '\u001b[2Jquick fox',
  "quick fox'; drop table entries; --",
  'quick fox \ud800',
])('a question %j is answered, and nothing in it reaches the terminal as a command', async text => {
  const { status, stdout, stderr } = await run(['query', text, '--any'])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toContain('Fox')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what must not be there
  expect(stdout).not.toMatch(/[\u0000-\u0008\u001b]/)
})

it('settings that are broken end every command with what is wrong with them', async () => {
  const other = folder.file('other')
  mkdirSync(other)
  for (const [text, message] of [
    ['{', /^querent: config\.json: /],
    ['{"embeder":{}}', /^querent: .*embeder: there is no such field/],
  ] as const) {
    writeFileSync(`${other}/config.json`, text)
    const ended = await run(['init', '--home', other])
    expect(ended).toMatchObject({ status: 2, stdout: '', stderr: expect.stringMatching(message) })
  }
})

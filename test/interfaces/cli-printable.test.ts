/** Whatever is stored, no command lets it command the terminal. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { runInProcess } from '../support/in-process.ts'
import { sendJson, startLoopback } from '../support/loopback.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'

/** Escapes of both lengths, a title, a bell, a character that reorders, and the mark of our own styles. */
const EVIL = 'needle \u001b[31mred\u001b]0;owned\u0007 \u009b2J \u202edesrever\u2066 \u007f \ufdd0[31m \ufdd0[2J end'
/** All that a terminal would obey. Codes of our own styles are taken out before. */
const COMMANDS = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufdd0]/u
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const STYLES = /\u001b\[(?:[12]|22|3[1-3]|39)m/g

let folder: TempFolder
beforeAll(async () => {
  folder = tempFolder()
  // Commands in the process of the test take the home from its environment.
  vi.stubEnv('QUERENT_HOME', join(folder.path, '.querent'))
  const entry = { title: EVIL, tags: ['note'], key: EVIL, date: EVIL }
  for (const collection of ['documents', 'items', 'analysis', 'c64']) {
    const lines = ['one', 'two'].map(id =>
      JSON.stringify({ id: `${collection}-${id}`, ...entry, content: `${id} $D020 ${EVIL}` }),
    )
    writeFileSync(join(folder.path, `${collection}.jsonl`), lines.join('\n'))
    expect(await run(['add', `${collection}.jsonl`, '--collection', collection])).toMatchObject({ status: 0 })
  }
  writeFileSync(
    join(folder.path, 'code.ts'),
    `/** ${EVIL} */\nexport function needle(): string {\n  return '${EVIL}'\n}\n`,
  )
  for (const args of PREPARATION) {
    const { status, stderr } = await run(args)
    expect([args, status, stderr]).toEqual([args, 0, expect.anything()])
  }
})
afterAll(() => {
  vi.unstubAllEnvs()
  folder?.[Symbol.dispose]()
})

const TAGS = ['#python', '#async', '#asyncio', '#coroutines', '#events', '#concurrency', '#functions', '#stable']

const PREPARATION: readonly (readonly string[])[] = [
  ['remember', EVIL, '--speaker', 'Mira', '--conversation', 'talk', '--id', 'm'],
  ['beliefs', 'put', EVIL, '--id', 'held', '--domain', 'science/biology', '--confidence', '{"corroboration": 0.9}'],
  ['chroma', 'assign', '--starter'],
  ['chroma', 'store', EVIL, '--label', EVIL, '--tags', TAGS.join(' ')],
  ['context', 'index'],
]

/** Each prints what is stored, and the word `needle` of it. */
const PRINTING: readonly (readonly string[])[] = [
  ['query', 'needle', '--any'],
  ['query', 'needle', '--any', '--explain'],
  ['query', 'needle', '--any', '--format', 'md'],
  ['query', 'needle', '--any', '--json'],
  ['query', 'needle', '--any', '--stream'],
  ['list', '--collection', 'documents'],
  ['list', '--collection', 'documents', '--format', 'md'],
  ['list', '--collection', 'documents', '--json'],
  ['get', 'documents-one'],
  ['get', 'documents-one', '--format', 'md'],
  ['get', 'documents-one', '--json'],
  ['similar', 'documents-one'],
  ['export'],
  ['call', 'get', '{"id": "documents-one"}'],
  ['call', 'export', '--stream'],
  ['collections', 'needle'],
  ['collections', 'needle', '--json'],
  ['collections', 'needle', '--lang', 'en', '--urls', '--fold', '--hybrid'],
  ['c64', 'sprite needle'],
  ['c64', 'sprite needle', '--json'],
  ['c64', 'sprite needle', '--raw'],
  ['recall', 'needle'],
  ['recall', 'needle', '--json'],
  ['beliefs', 'query', 'needle'],
  ['beliefs', 'get', 'held'],
  ['beliefs', 'context', 'needle'],
  ['chroma', 'query', ...TAGS],
  ['chroma', 'export'],
  ['context', 'query', 'needle'],
  ['context', 'definition', 'needle'],
]

const PIPED: readonly (readonly string[])[] = [
  ['query', 'needle', '--any'],
  ['collections', 'needle'],
  ['c64', 'sprite needle'],
]

/** What users and other servers say comes back in messages. */
const ECHOING: readonly (readonly string[])[] = [
  ['collections', EVIL],
  ['collections', 'x', '--lang', EVIL],
  ['collections', 'x', '--collection', EVIL],
  ['c64', EVIL],
  ['c64', `--${EVIL}`],
  ['query', EVIL],
  ['query', 'x', '--lens', EVIL],
  ['query', 'x', '--lens', EVIL, '--json'],
  ['query', 'x', `--${EVIL}`],
  [EVIL],
  ['get', EVIL],
  ['get', EVIL, '--json'],
  ['call', EVIL],
  ['mirror', EVIL, '--to', 'qdrant', '--url', 'http://127.0.0.1:9'],
]

async function run(args: readonly string[], terminal = false) {
  return runInProcess(args, { workingFolder: folder.path, terminal, env: terminal ? { FORCE_COLOR: '1' } : {} })
}

function expectClean({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): void {
  for (const text of [stdout, stderr]) expect(text).not.toMatch(COMMANDS)
}

describe('text that would command a terminal', () => {
  it.each(PRINTING.map(args => [args.join(' '), args] as const))('is shown as data by %s', async (_line, args) => {
    const { stdout, stderr } = await run(args, true)
    expect(stdout).toContain('needle')
    expectClean({ stdout: stdout.replace(STYLES, ''), stderr: stderr.replace(STYLES, '') })
  })

  it.each(PIPED.map(args => [args.join(' '), args] as const))(
    'is not styled by %s into a pipe',
    async (_line, args) => {
      const done = await run(args)
      expect(done.stdout).toContain('needle')
      expectClean(done)
    },
  )

  it.each(ECHOING.map(args => [JSON.stringify(args), args] as const))(
    'is data where it was asked: %s',
    async (_, args) => {
      expectClean(await run(args))
    },
  )

  it('is data where another server says it', async () => {
    const evil = await startLoopback((_request, response) =>
      sendJson(response, 500, { message: EVIL, status: { error: EVIL } }),
    )
    try {
      expectClean(await run(['collections', 'x', '--url', evil.url]))
      expectClean(await run(['mirror', 'items', '--to', 'qdrant', '--url', evil.url]))
      expectClean(await run(['mirror', 'items', '--to', 'chromadb', '--url', evil.url]))
    } finally {
      await evil.close()
    }
  })
})

it('loses nothing of it in JSON', async () => {
  const { stdout } = await run(['get', 'documents-one', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ title: EVIL, metadata: { key: EVIL } })
  const lines = (await run(['export'])).stdout.trimEnd().split('\n')
  expect(lines.map(line => JSON.parse(line)).some(line => JSON.stringify(line).includes(JSON.stringify(EVIL)))).toBe(
    true,
  )
})

it('is printed by one module: no other of the command line writes to a stream', () => {
  const root = fileURLToPath(new URL('../../src/interfaces/cli', import.meta.url))
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.ts'))
  const writing = files.filter(file =>
    /\b(?:stdout|stderr|process)\b[^\n]*\.write\(|console\./.test(readFileSync(join(root, file), 'utf8')),
  )
  expect(writing).toEqual([])
})

/**
 * Folders made to harm (CX-068, issue "hostile input"): each file is indexed or left out with a reason; nothing crashes,
 * nothing hangs, and the store is sound afterwards. QUERENT_LONG=1: 5,000 files that are the same, and a million lines of code.
 */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openContext } from '../../src/openings/context.ts'
import type { Run } from '../support/command.ts'
import { querentHere } from '../support/in-process.ts'
import { tempFolder } from '../support/temp-folder.ts'

const isLong = process.env['QUERENT_LONG'] === '1'
const SAME = isLong ? 5_000 : 200
const DEEP = 100_000
const MILLION = 1_000_000
/** Of each the file holds one function, named after its place in the list. */
const NAMES = [
  ...['عربي', '汉字', 'ไทย', 'देवनागरी', '🦊👩‍👩‍👧', 'e\u0301', 'a\u202egnp', '\u200bzero', 'a'.repeat(150)],
  ...['new\nline', 'cr\rlf', 'tab\tname', `quo"te's`, '100%25', '%', '%zz', '#hash', 'what?', 'space ', ' lead'],
  ...['back\\slash', '-dash', '..dots', 'x:y', '`tick`', '$(id)', '__proto__', 'constructor', '\u001b[31mred'],
]

interface Reported {
  readonly url: string
  readonly reason: string
}

interface Report {
  readonly indexed: number
  readonly skipped: number
  readonly left_out: { readonly total: number; readonly reasons: object; readonly files: readonly Reported[] }
  readonly errors: { readonly total: number; readonly files: readonly Reported[] }
}

describe('the command, over a folder made to harm', () => {
  const folder = tempFolder()
  const at = (name: string) => join(folder.path, name)
  const socket = createServer()
  let written = 0
  let run: Run
  let report: Report

  const write = (files: Readonly<Record<string, string | Uint8Array>>): void => {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(at(name)), { recursive: true })
      writeFileSync(at(name), content)
      written++
    }
  }

  beforeAll(async () => {
    write({ ...deepFiles(), ...brokenFiles(), ...largeFiles() })
    truncateSync(at('fifty.ts'), 50 * 2 ** 20)
    for (const [order, name] of NAMES.entries()) {
      write({ [`names/${name}.ts`]: `export function named${order}() {}\n` })
    }
    const same = 'export const same = 1\nexport function again() { return same }\n'
    for (let order = 0; order < SAME; order++) write({ [`same/f${order}.ts`]: same })
    writeFileSync(Buffer.concat([Buffer.from(`${at('bad-')}`), Buffer.from([0xff]), Buffer.from('.ts')]), 'const x = 1')
    mkdirSync(at('a'))
    symlinkSync('..', at('a/loop'))
    symlinkSync('self', at('self'))
    symlinkSync('/etc', at('out'))
    symlinkSync('/etc/passwd', at('passwd.ts'))
    execFileSync('mkfifo', [at('pipe.ts')])
    socket.listen(at('socket.ts'))
    await once(socket, 'listening')
    run = await querentHere(['context', 'index', '-j'], { cwd: folder.path })
    report = JSON.parse(run.stdout).result
  })

  afterAll(() => {
    socket.close()
    folder[Symbol.dispose]()
  })

  it('tells of each file that is left out why', () => {
    // A slow run reports now and then how far it is, how fast, and at which file.
    const progress = /^(?:\w+ \d+(?: of \d+)?(?:, [\d.]+\/s(?:, [^()]+ left)?)?(?: \(.*\))?\n)*$/
    expect(run).toMatchObject({ status: 0, stderr: expect.stringMatching(progress) })
    expect('read 50 of 240, 2.1/s, 1 min left (same/f1.ts)\nread 60 of 240 (a.ts)\n').toMatch(progress)
    const root = /^file:\/\/.*\/querent-[^/]*\//
    const reported = report.left_out.files.map(({ url, reason }) => `${reason} ${decodeURI(url.replace(root, ''))}`)
    expect(reported.sort()).toEqual(
      [
        'bad_name bad-\ufffd.ts',
        ...['binary latin.ts', 'binary zero.ts', 'generated long.js'],
        ...['special pipe.ts', 'special socket.ts'],
        ...['symlink a/loop', 'symlink out', 'symlink passwd.ts', 'symlink self'],
        ...['too_large fifty.ts', 'too_large lines-over.ts'],
        ...(isLong ? ['too_slow lines.ts'] : []),
      ].sort(),
    )
    expect(report.left_out.reasons).toEqual({
      ...{ bad_name: 1, binary: 2, generated: 1, special: 2, symlink: 4, too_large: 2 },
      ...(isLong && { too_slow: 1 }),
    })
    expect(report.errors.total).toBe(0)
  })

  it('indexes the rest, and nothing again', async () => {
    // Of those written here two are binary, two too large and one generated.
    expect(report.indexed).toBe(written - 5)
    const again = JSON.parse((await querentHere(['context', 'index', '-j'], { cwd: folder.path })).stdout).result
    expect(again).toMatchObject({ indexed: 0, skipped: report.indexed, deleted: 0 })
  })

  it('leaves a sound store that answers', async () => {
    const doctor = await querentHere(['doctor'], { cwd: folder.path })
    expect(doctor).toMatchObject({ status: 0, stderr: '' })
    expect(doctor.stdout).not.toMatch(/^(?:bad|warn)/m)
    const found = await querentHere(['context', 'query', 'keptFunction', '-m', 'exact', '-d', '0'], {
      cwd: folder.path,
    })
    expect(found.stdout).toContain('\tkeptFunction\tFunction\texact\t\n')
    const sixteen = await querentHere(['context', 'definition', 'inSixteenBits'], { cwd: folder.path })
    expect(sixteen.stdout).toContain('utf16.ts:1-1\nexport function inSixteenBits() {}\n')
  })

  it('knows every name, and breaks no line of a table with one', async () => {
    await using sys = await openContext({ home: at('.querent'), embedder: 'none', background: false })
    for (const [order, name] of NAMES.entries()) {
      const { result } = await sys.call('/context/query', {
        query: `named${order}`,
        mode: 'exact',
        depth: 1,
        limit: 50,
      })
      const { concepts } = result as { concepts: { name: string }[] }
      expect(concepts.map(({ name: found }) => found)).toContain(`names/${name}.ts`)
    }
    const { stdout } = await querentHere(['context', 'query', 'names/', '-m', 'exact', '-d', '0', '-l', '50'], {
      cwd: folder.path,
    })
    const [table = '', files = ''] = stdout.split('\n\n')
    expect(table.split('\n').slice(1)).toHaveLength(NAMES.length)
    for (const row of table.split('\n')) expect(row.split('\t')).toHaveLength(5)
    for (const line of files.split('\n').slice(1)) expect(line).toMatch(/^file:\/\/\S+:1-2$/)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none must be there
    expect(stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202e]/)
  })
})

it('leaves out no file because the machine is busy, so that the clock runs ahead of the work', async () => {
  using folder = tempFolder()
  const lines = Array.from({ length: 3_000 }, (_, at) => `export const value${at} = [${at}, ${at}]\n`)
  writeFileSync(join(folder.path, 'many.ts'), lines.join(''))
  const now = performance.now.bind(performance)
  let ahead = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
    ahead += 10
    return now() + ahead
  })
  const { stdout } = await querentHere(['context', 'index', '-j'], { cwd: folder.path })
  clock.mockRestore()
  // Reading the file alone takes longer by this clock than is allowed.
  expect(ahead).toBeGreaterThan(5_000)
  expect(JSON.parse(stdout).result).toMatchObject({ indexed: 1, left_out: { total: 0 } })
})

describe('a folder that changes while it is read', () => {
  it('may lose folders and files, which the next run has forgotten', async () => {
    using folder = tempFolder()
    await using sys = await openContext({ home: join(folder.path, '.querent'), embedder: 'none', background: false })
    const make = (name: string) => {
      mkdirSync(join(folder.path, name), { recursive: true })
      for (let order = 0; order < 40; order++) {
        writeFileSync(join(folder.path, name, `f${order}.ts`), `export function ${name}${order}() {}\n`)
      }
    }
    for (const name of ['first', 'second', 'third']) make(name)
    let reads = 0
    const run = await sys.call('/context/index', {}, ({ phase }) => {
      if (phase !== 'read') return
      reads++
      if (reads === 10) rmSync(join(folder.path, 'second'), { recursive: true })
      if (reads === 20) renameSync(join(folder.path, 'third'), join(folder.path, 'last'))
    })
    const { indexed, errors } = run.result as unknown as Report
    expect(indexed + errors.total).toBe(120)
    expect(new Set(errors.files.map(({ reason }) => reason))).toEqual(new Set(['not_found']))
    const next = await sys.call('/context/index')
    expect(next.result).toMatchObject({ indexed: 40, skipped: 40, errors: { total: 0 } })
    expect((await sys.call('/graph/summary')).result).toEqual(await freshSummary(folder.path))
  })

  it('may change a file at any time: what is kept is one state of it, in the end the last', async () => {
    using folder = tempFolder()
    await using sys = await openContext({ home: join(folder.path, '.querent'), embedder: 'none', background: false })
    const file = join(folder.path, 'a.ts')
    writeFileSync(file, 'export function begin() {}\n')
    writeFileSync(join(folder.path, 'b.ts'), "import { begin } from './a.ts'\nbegin()\n")
    let more = 0
    for (let run = 0; run < 3; run++) {
      await sys.call('/context/index', {}, () => appendFileSync(file, `export function more${more++}() {}\n`))
    }
    expect((await sys.call('/context/index')).result).toMatchObject({ indexed: 1, errors: { total: 0 } })
    expect((await sys.call('/graph/summary')).result).toEqual(await freshSummary(folder.path))
  })

  it.skipIf(process.getuid?.() === 0)('keeps what it may no longer read (not as root, who may read all)', async () => {
    using folder = tempFolder()
    await using sys = await openContext({ home: join(folder.path, '.querent'), embedder: 'none', background: false })
    writeFileSync(join(folder.path, 'a.ts'), 'export function a() {}\n')
    await sys.call('/context/index')
    chmodSync(join(folder.path, 'a.ts'), 0)
    expect((await sys.call('/context/index')).result).toMatchObject({
      ...{ indexed: 0, deleted: 0 },
      errors: { total: 1, files: [{ reason: 'unreadable' }] },
    })
  })
})

/** What a first run over the same files gives. */
async function freshSummary(folder: string): Promise<unknown> {
  using copy = tempFolder()
  cpSync(folder, copy.path, { recursive: true, filter: from => !from.includes('.querent') })
  await using sys = await openContext({ home: join(copy.path, '.querent'), embedder: 'none', background: false })
  await sys.call('/context/index')
  return (await sys.call('/graph/summary')).result
}

function deepFiles(): Readonly<Record<string, string>> {
  const indented = Array.from({ length: 2_000 }, (_, depth) => `${' '.repeat(depth)}if x:\n`).join('')
  return {
    'deep.ts': `x = ${'('.repeat(DEEP)}y${')'.repeat(DEEP)}\nexport function keptFunction() {}\n`,
    'deep.json': `${'['.repeat(DEEP)}${']'.repeat(DEEP)}`,
    'deep/package.json': `{"exports": ${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}}`,
    'deep.py': `${indented}${' '.repeat(2_000)}pass\n`,
    'deep.md': `${'>'.repeat(DEEP)} x\n${'- '.repeat(10_000)}y\n`,
  }
}

function brokenFiles(): Readonly<Record<string, string | Uint8Array>> {
  const itself = Array.from({ length: 50 }, () => './tsconfig.json')
  return {
    'errors.ts': 'const a = = 1;\n'.repeat(10_000),
    'zero.ts': new Uint8Array([97, 0, 98]),
    'latin.ts': new Uint8Array([0x63, 0xe9, 0x0a]),
    'utf16.ts': Buffer.from('\ufeffexport function inSixteenBits() {}\n', 'utf16le'),
    ...{ 'empty.ts': '', 'empty.py': '', 'empty.md': '', 'empty.json': '', empty: '' },
    'tsconfig.json': '{"extends": ["./tsconfig.json"], "compilerOptions": {',
    'loop/tsconfig.json': JSON.stringify({ extends: itself, compilerOptions: { baseUrl: '.', paths: { '*': ['*'] } } }),
    'loop/a.ts': "import { b } from '@x/b'\nimport c from 'left-pad'\nb(c)\n",
    'broken/package.json': '{"name": "x", "exports": {',
    'odd/package.json': JSON.stringify({ name: ['x'], exports: { '.': { import: 7 } }, main: {} }),
    'odd/a.ts': "import 'x'\nimport '#x'\n",
    'me/package.json': JSON.stringify({ name: 'me', main: './', exports: './package.json' }),
    'me/a.ts': "import 'me'\nimport x from 'me/'\nx()\n",
    'long.js': `var a = "${'x'.repeat(2_000_000)}"\n`,
  }
}

function largeFiles(): Readonly<Record<string, string>> {
  return {
    'fifty.ts': '',
    'lines.txt': 'a word\n'.repeat(MILLION),
    'lines-over.ts': 'let a = 12;\n'.repeat(MILLION),
    'long.ts': `var a = "${'x'.repeat(2_000_000)}"\n`,
    ...(isLong && { 'lines.ts': 'a = 1;\n'.repeat(MILLION) }),
  }
}

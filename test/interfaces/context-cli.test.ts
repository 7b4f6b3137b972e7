import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openContext } from '../../src/openings/context.ts'
import { ended, start } from '../support/command.ts'
import { querentHere } from '../support/in-process.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { sampleFiles } from '../unit/lenses/context/indexing/sample.ts'

const folders: TempFolder[] = []
let sample = ''

/** A folder with the sample project, not indexed. */
function makeSample(): string {
  const folder = tempFolder()
  folders.push(folder)
  for (const [name, text] of Object.entries(sampleFiles)) {
    mkdirSync(dirname(join(folder.path, name)), { recursive: true })
    writeFileSync(join(folder.path, name), text)
  }
  return folder.path
}

beforeAll(async () => {
  sample = makeSample()
  expect(await querentHere(['context', 'index'], { cwd: sample })).toMatchObject({ status: 0 })
})

afterAll(() => {
  for (const folder of folders) folder[Symbol.dispose]()
})

describe('querent context query (CX-044, CX-045)', () => {
  it('prints a table separated by tabs, then files, then edges', async () => {
    const run = await querentHere(['context', 'query', 'LoginService.login', '-d', '1', '-l', '3', '-m', 'exact'], {
      cwd: sample,
    })
    const root = pathToFileURL(sample).href
    const [concepts, files, edges] = run.stdout.split('\n\n')
    const [head, first, ...rest] = (concepts ?? '').split('\n')
    expect(head).toBe('ID\tNAME\tTYPE\tRELEVANCE\tSCORE')
    expect(first).toMatch(/^\d+\tLoginService\.login\tMethod\texact\t$/)
    expect(rest).toHaveLength(2)
    expect(rest.every(row => /^\d+\t[^\t]+\t[A-Z]\w+\tneighbor\t$/.test(row))).toBe(true)
    expect(files?.split('\n')[0]).toBe('FILES')
    expect(files).toContain(`${root}/src/login.ts`)
    expect(edges?.split('\n')[0]).toBe('EDGES')
    expect(edges).toMatch(/^\d+ --\[CALLS\]--> \d+$/m)
    expect(run).toMatchObject({ status: 0, stderr: '' })
  })

  it('says so where nothing is found, which is no failure', async () => {
    const run = await querentHere(['context', 'query', 'zebra'], { cwd: sample })
    expect(run).toMatchObject({ status: 0, stdout: '(no concepts found)\n' })
    expect(run.stderr).toMatch(/^querent: nothing relevant: /m)
  })

  it('asks in mode hybrid unless told otherwise; -j prints the envelope', async () => {
    const found = JSON.parse((await querentHere(['context', 'query', '-j', 'login service'], { cwd: sample })).stdout)
    expect(found).toMatchObject({ status: 'success', meta: { path: '/context/query' } })
    expect(found.result.concepts[0]).toMatchObject({ name: 'LoginService', relevance: 'exact' })
    const exact = await querentHere(['context', 'query', '-m', 'exact', 'login service', '-j'], { cwd: sample })
    expect(JSON.parse(exact.stdout).result.concepts).toEqual([])
  })

  it.each([
    [['context', 'query', 'x', '-m', 'vague'], 'mode: mode must be one of: semantic, exact, hybrid'],
    [['context', 'query', ' '], 'query: query is required'],
    [['context', 'query', 'x', '-d', 'deep'], "'deep' is invalid"],
    [['context', 'query'], 'missing required argument'],
  ])('%j ends with 1 and tells why on standard error', async (args, message) => {
    const run = await querentHere(args, { cwd: sample })
    expect(run).toMatchObject({ status: 1, stdout: '' })
    expect(run.stderr).toContain(message)
  })

  it('tells of a part that is not there, also without any store', async () => {
    using folder = tempFolder()
    const run = await querentHere(['context', 'query', 'x', '-j'], { cwd: folder.path })
    expect(run.status).toBe(1)
    expect(JSON.parse(run.stdout)).toMatchObject({ errors: { body: [{ code: 'not_initialized' }] } })
    expect(run.stderr).toBe('querent: body: body not initialized (call /body/init)\n')
  })

  it('says what to do where nothing has been read, and where not all is shown', async () => {
    using folder = tempFolder()
    const first = await querentHere(['context', 'callers', 'x'], { cwd: folder.path })
    expect(first.stderr).toBe('querent: no code is indexed in this store yet; run: querent context index\n')
    const cut = await querentHere(['context', 'references', '--limit', '1', 'MemoryStore'], { cwd: sample })
    expect(cut.stdout.trim().split('\n').length).toBe(1)
    expect(cut.stderr).toMatch(/^querent: 1 of (\d+) shown; --limit \1 shows all\n$/)
  })

  it('takes an id where a name is asked for, and says when a name is of several', async () => {
    using folder = tempFolder()
    writeFileSync(join(folder.path, 'a.ts'), 'function same() {}\nfunction one() { same() }\n')
    writeFileSync(join(folder.path, 'b.ts'), 'function same() {}\nfunction two() { same() }\n')
    await querentHere(['context', 'index', '--no-wait'], { cwd: folder.path })
    const both = await querentHere(['context', 'callers', 'same'], { cwd: folder.path })
    expect(both.stdout.split('\n').filter(Boolean)).toHaveLength(2)
    const [, id] = /^querent: 2 concepts have this name; give an id for one: \d+, (\d+)\n$/.exec(both.stderr) ?? []
    const single = await querentHere(['context', 'callers', String(id)], { cwd: folder.path })
    expect(single).toMatchObject({ stderr: '', stdout: expect.stringMatching(/^\d+\ttwo\tFunction\t1\t\S+\n$/) })
  })

  it('adds a bundle that fits', async () => {
    const run = await querentHere(['context', 'query', 'LoginService', '--max-tokens', '300'], { cwd: sample })
    expect(run.stdout).toContain('export class LoginService {\n  login(user: string)')
  })
})

describe('calls by path (CX-046)', () => {
  const params = '{"query":"LoginService","depth":0,"mode":"exact"}'

  it.each([
    ['inline', ['call', '/context/query', params], undefined],
    ['from a file', ['call', '/context/query', '@params.json'], undefined],
    ['from standard input', ['call', '/context/query'], params],
    ['from standard input by name', ['call', '/context/query', '-'], params],
    ['without the word call', ['/context/query', params], undefined],
  ])('takes parameters %s', async (_, args, stdin) => {
    writeFileSync(join(sample, 'params.json'), params)
    const run = await querentHere(args, { cwd: sample, stdin })
    expect(run).toMatchObject({ status: 0, stderr: '' })
    expect(JSON.parse(run.stdout).result.concepts[0]).toMatchObject({ name: 'LoginService', relevance: 'exact' })
  })

  it.each([
    ['{"query":', 'params', 'invalid_json'],
    ['@gone.json', 'params', 'file_not_found'],
    ['@latin1.json', 'params', 'invalid_json'],
    ['@latin1.json/below', 'params', 'file_not_found'],
    ['@src', 'params', 'unreadable'],
    ['[]', 'params', 'invalid'],
    ['', 'query', 'required'],
    ['null', 'query', 'required'],
  ])('%s: %s %s, and exit code 1 (CX-046)', async (argument, field, code) => {
    writeFileSync(join(sample, 'latin1.json'), Buffer.from('{"query":"caf\xe9"}', 'latin1'))
    const run = await querentHere(['/context/query', argument], { cwd: sample })
    expect(run.status).toBe(1)
    expect(JSON.parse(run.stdout)).toMatchObject({ status: 'error', result: null, errors: { [field]: [{ code }] } })
  })

  it('answers an unknown path with an envelope', async () => {
    const run = await querentHere(['/context/nothing'], { cwd: sample })
    expect(run.status).toBe(1)
    expect(JSON.parse(run.stdout)).toMatchObject({ errors: { path: [{ code: 'not_found' }] } })
  })

  it('is sys.call(path, params) in the library', async () => {
    await using sys = await openContext({ home: join(sample, '.querent'), embedder: 'none' })
    const own = await sys.call('/context/query', JSON.parse(params))
    const run = await querentHere(['/context/query', params], { cwd: sample })
    expect(JSON.parse(run.stdout).result).toEqual(own.result)
    expect(await sys.as({ id: 'somebody' }).call('/mind/concepts/list')).toMatchObject({ result: { total: 0 } })
  })
})

describe('querent context index, and add --code', () => {
  it('reads a folder, then nothing; tells how fast', async () => {
    const folder = makeSample()
    const first = await querentHere(['add', '--code', '.'], { cwd: folder })
    expect(first.stdout).toMatch(/^4 files read \(\d+ concepts\), 0 unchanged, 0 deleted\n/)
    expect(first.stdout).toMatch(/\d+ files per second\n$/)
    const again = await querentHere(['context', 'index', 'src', '-j'], { cwd: folder })
    expect(JSON.parse(again.stdout)).toMatchObject({ result: { indexed: 0, skipped: 3 } })
  })

  it('refuses folders beyond the store, and options of other entries', async () => {
    using other = tempFolder()
    const outside = await querentHere(['context', 'index', other.path], { cwd: sample })
    expect(outside.status).toBe(1)
    expect(outside.stdout).toContain('outside of the folder that contains the store')
    const mixed = await querentHere(['add', '--code', '.', '--kind', 'note'], { cwd: sample })
    expect(mixed.status).toBe(2)
    expect(mixed.stderr).toContain('--kind')
  })

  it('ends on Ctrl-C with a store that is whole, and the next run does the rest (CX-075)', async () => {
    const folder = tempFolder()
    folders.push(folder)
    const FILES = 400
    for (let at = 0; at < FILES; at++) writeFileSync(folder.file(`f${at}.ts`), `export function made${at}() {}\n`)
    for (const command of [
      ['context', 'index'],
      ['call', '/context/index', '{}'],
    ]) {
      const child = start(command, { cwd: folder.path })
      while (!existsSync(folder.file('.querent/store.db-wal'))) await new Promise(resolve => setTimeout(resolve, 5))
      child.kill('SIGINT')
      expect(await ended(child)).toBe(130)
    }
    const { stdout, status } = await querentHere(['context', 'index', '-j'], { cwd: folder.path })
    expect(status).toBe(0)
    const { result } = JSON.parse(stdout) as { result: Readonly<Record<string, number>> }
    expect((result['indexed'] ?? 0) + (result['skipped'] ?? 0)).toBe(FILES)
    await using sys = await openContext({ home: folder.file('.querent'), embedder: 'none', background: false })
    expect(await sys.call('/mind/concepts/list')).toMatchObject({ result: { total: 2 * FILES } })
  })

  it('goes on watching after a run that failed, and does by itself what that left (CX-075)', async () => {
    const folder = makeSample()
    const child = start(['context', 'index', '--watch'], { cwd: folder })
    const seen = new Output(child.stdout, child.stderr)
    await seen.until('watching')
    {
      // Nobody else can write for longer than a writer waits.
      const locked = new DatabaseSync(join(folder, '.querent', 'store.db'))
      locked.exec('begin immediate')
      writeFileSync(join(folder, 'src/new.ts'), 'export function brandNew() {}\n')
      await seen.until('querent: handler')
      locked.exec('rollback')
      locked.close()
    }
    await seen.until('1 files read')
    child.kill('SIGINT')
    expect(await ended(child)).toBe(0)
  })

  it('watches until it is interrupted, which ends well', async () => {
    const folder = makeSample()
    const child = start(['context', 'index', '--watch'], { cwd: folder })
    const seen = new Output(child.stdout, child.stderr)
    await seen.until('watching')
    writeFileSync(join(folder, 'src/new.ts'), 'export function brandNew() {}\n')
    await seen.until('1 files read')
    const run = await querentHere(['context', 'query', '-m', 'exact', '-d', '0', 'brandNew'], { cwd: folder })
    expect(run.stdout).toContain('\tbrandNew\tFunction\t')
    renameSync(join(folder, 'src/new.ts'), join(folder, 'src/newer.ts'))
    await seen.until('1 deleted')
    // Only what the watcher names is looked at; but what is left out can be any file.
    writeFileSync(join(folder, '.gitignore'), 'src/store.ts\n')
    await seen.until('1 files read')
    rmSync(join(folder, 'src'), { recursive: true })
    await seen.until('3 deleted')
    child.kill('SIGINT')
    expect(await ended(child)).toBe(0)
  })
})

/** What a process has written so far. */
class Output {
  #text = ''
  #wake: () => void = () => undefined

  constructor(...streams: readonly (NodeJS.ReadableStream | null)[]) {
    for (const stream of streams) {
      stream?.on('data', part => {
        this.#text += String(part)
        this.#wake()
      })
    }
  }

  async until(text: string): Promise<void> {
    while (!this.#text.includes(text)) await new Promise<void>(resolve => (this.#wake = resolve))
    this.#text = ''
  }
}

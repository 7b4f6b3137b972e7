/** QE-012: files that were added are kept up to date: `sync`, what answers say of changed files, and interfaces that look by themselves. */
import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { querentHere } from '../support/in-process.ts'
import { startServer } from '../support/serving.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { eachThrough } from './interfaces.ts'

let folder: TempFolder
beforeEach(() => {
  folder = tempFolder()
  mkdirSync(join(folder.path, 'home'))
  mkdirSync(join(folder.path, 'notes/deep'), { recursive: true })
  note('a.md', '# First\n\nThe kettle boils.\n')
  note('deep/b.md', '# Second\n\nThe lamp is lit.\n')
})
afterEach(() => folder[Symbol.dispose]())

const at = (path = '') => join(folder.path, 'notes', path)

/** Of another size than any text before it, so that no clock decides whether it has changed. */
function note(path: string, text: string): void {
  writeFileSync(at(path), text)
}

function source(path: string, text: string): void {
  writeFileSync(join(folder.path, 'src', path), text)
}

const NOTHING = { added: 0, updated: 0, deleted: 0, errors: [] }
const AS_READ = { missing: false, changed: 0, added: 0, deleted: 0 }

describe.each(['library', 'cli', 'http', 'mcp'])('sync, through %s,', name => {
  const { call, attempt } = eachThrough(name, () => join(folder.path, 'home'))
  const idsIn = async () => {
    const { items } = await call('list', { order: 'id' })
    return (items as readonly { readonly id: string }[]).map(({ id }) => id)
  }

  it('reads what changed, what is new and what is gone, with the options of the first time (QE-012)', async () => {
    await call('add', { paths: [at()], collection: 'team', tags: ['shared'], visibility: 'public' })
    expect(await call('sync', {})).toMatchObject({ ...NOTHING, paths: [{ path: at(), files: 2, ...AS_READ }] })
    note('a.md', '# First\n\nThe kettle is as cold as the sea.\n')
    note('new.md', '# Third\n\nThe gate is shut.\n')
    rmSync(at('deep/b.md'))
    const found = { paths: [{ path: at(), files: 2, missing: false }] }
    // A server may have looked by itself by now.
    if (name === 'library') {
      const waiting = { paths: [{ path: at(), files: 2, missing: false, changed: 1, added: 1, deleted: 1 }] }
      expect(await call('sync', { dry_run: true })).toMatchObject({ ...NOTHING, ...waiting })
      expect(await call('status', {})).toMatchObject(waiting)
    }
    expect(await call('sync', {})).toMatchObject(found)
    expect(await idsIn()).toEqual(['notes/a.md', 'notes/new.md'])
    const { items } = await call('list', {})
    for (const item of items as readonly object[]) {
      expect(item).toMatchObject({ collection: 'team', tags: ['shared'], audience: { kind: 'public' } })
    }
    expect(await call('sync', {})).toMatchObject({ ...NOTHING, paths: [{ files: 2, ...AS_READ }] })
  })

  it('forgets a path with what was made of it alone, and refuses one that was not added (QE-012)', async () => {
    await call('add', { paths: [at()] })
    await call('add', { paths: [at('deep')] })
    expect(await call('sync', { forget: [at()] })).toMatchObject({ deleted: 1, paths: [{ path: at('deep') }] })
    expect(await idsIn()).toEqual(['notes/deep/b.md'])
    const outcome = await attempt('sync', { forget: [at()] })
    expect(outcome).toMatchObject({ error: { code: 'invalid_argument', details: { field: 'forget.0' } } })
  })
})

describe('code that was read as concepts', () => {
  const run = (...args: readonly string[]) =>
    querentHere([...args], { cwd: folder.path, env: { QUERENT_EMBEDDER: 'none' } })

  beforeEach(async () => {
    mkdirSync(join(folder.path, 'src/parts'), { recursive: true })
    source('one.ts', 'export function boilKettle(): void {}\n')
    source('parts/two.ts', 'export function lightLamp(): void {}\n')
    await run('add', '--code', 'src')
  })

  it('is named in answers when it has changed, and read again by sync (QE-012)', async () => {
    expect((await run('status')).stdout).toContain('code src: as it was read\n')
    expect((await run('sync')).stdout).toBe('code src: as it was read\nnothing has changed\n')
    source('three.ts', 'export function shutGate(): void {}\n')
    const path = join(folder.path, 'src')
    expect((await run('query', 'kettle')).stdout).toContain(`code in ${path} has changed since it was read; run`)
    expect((await run('sync', '--dry-run')).stdout).toContain('code src: changed\n')
    expect((await run('context', 'symbol', 'shutGate')).stdout).not.toContain('three.ts')
    expect((await run('sync')).status).toBe(0)
    expect((await run('query', 'shutGate')).stdout).toContain('three.ts')
    expect((await run('sync')).stdout).toContain('nothing has changed')
  })

  it('is known once, also where a part of it is read again by itself (QE-012)', async () => {
    source('parts/two.ts', 'export function lightTheLamp(): void {}\n')
    await run('add', '--code', 'src/parts')
    const { paths } = JSON.parse((await run('status', '--json')).stdout)
    expect(paths).toMatchObject([{ path: join(folder.path, 'src'), lens: 'context', files: null }])
    await run('sync')
    expect((await run('sync')).stdout).toContain('nothing has changed')
  })

  it('is forgotten with its concepts, also where its folder is gone (QE-012)', async () => {
    const path = join(folder.path, 'src')
    rmSync(path, { recursive: true })
    expect((await run('sync', '--forget', 'src')).stdout).toContain('2 deleted')
    expect(JSON.parse((await run('status', '--json')).stdout).paths).toEqual([])
    expect((await run('context', 'symbol', 'boilKettle')).stdout).not.toContain('one.ts')
  })

  it('that cannot be read is named with the reason until it is read (QE-012)', async () => {
    await run('add', 'notes')
    writeFileSync(join(folder.path, '.querent/config.json'), JSON.stringify({ lenses: { context: { max_files: 2 } } }))
    const options = { home: join(folder.path, '.querent'), embedder: 'none' as const, background: false }
    const engine = await openEngine(options)
    onTestFinished(() => engine.close())
    source('three.ts', 'export function shutGate(): void {}\n')
    const error = expect.stringContaining('more than 2 files')
    expect(await engine.sync()).toMatchObject({ errors: [{ message: error }] })
    expect((await engine.status()).paths).toMatchObject([{ error: null }, { lens: 'context', error }])
    rmSync(join(folder.path, 'src/three.ts'))
    source('one.ts', 'export function boilTheKettle(): void {}\n')
    await engine.sync()
    expect((await engine.status()).paths).toMatchObject([{ error: null }, { error: null }])
  })

  it('stays where its folder is not there (QE-012)', async () => {
    renameSync(join(folder.path, 'src'), join(folder.path, 'away'))
    expect((await run('sync')).stdout).toContain('added src: not there; its entries are kept')
    renameSync(join(folder.path, 'away'), join(folder.path, 'src'))
    expect((await run('sync')).stdout).toContain('nothing has changed')
  })
})

describe('an engine', () => {
  let engine: Engine
  beforeEach(async () => {
    engine = await openEngine({ home: join(folder.path, 'home'), embedder: 'none', background: false })
    await engine.add({ paths: [at()] })
  })
  afterEach(() => engine.close())

  const paths = async () => (await engine.sync({ dry_run: true })).paths

  it('takes no file for changed that holds no entry, or that was touched only (QE-012)', async () => {
    note('empty.md', '')
    writeFileSync(at('binary.md'), Buffer.from([0, 1, 2, 0]))
    utimesSync(at('a.md'), 1_700_000_000, 1_700_000_000)
    expect(await paths()).toMatchObject([{ files: 4, changed: 1, added: 2 }])
    expect(await engine.sync()).toMatchObject({ ...NOTHING, unchanged: 1 })
    expect(await paths()).toMatchObject([{ files: 4, ...AS_READ }])
    note('empty.md', '# No more\n')
    rmSync(at('binary.md'))
    expect(await engine.sync()).toMatchObject({ added: 1, deleted: 0 })
    expect(await paths()).toMatchObject([{ files: 3, ...AS_READ }])
  })

  it('does not bring back an entry that was deleted by itself before its file changes (QE-012)', async () => {
    await engine.delete({ ids: ['notes/a.md'] })
    expect(await engine.sync()).toMatchObject(NOTHING)
    note('a.md', '# First\n\nThe kettle boils over.\n')
    expect(await engine.sync()).toMatchObject({ added: 1 })
  })

  it('keeps what was made of a folder that is not there, as where a disk is not mounted (QE-012)', async () => {
    renameSync(at(), join(folder.path, 'away'))
    expect(await engine.sync()).toMatchObject({ ...NOTHING, paths: [{ missing: true, files: 0, deleted: 0 }] })
    mkdirSync(at())
    expect(await engine.sync()).toMatchObject({ ...NOTHING, paths: [{ missing: true }] })
    rmSync(at(), { recursive: true })
    renameSync(join(folder.path, 'away'), at())
    expect(await paths()).toMatchObject([{ files: 2, ...AS_READ }])
  })

  it('knows a file that was moved while nobody looked, with its links and uses (QE-012)', async () => {
    note('c.md', '# Linking\n\nSee [[moved]] and [[b]].\n')
    await engine.sync()
    for (let use = 0; use < 3; use++) await engine.get({ id: 'notes/deep/b.md' })
    await engine.close()
    renameSync(at('deep/b.md'), at('moved.md'))
    engine = await openEngine({ home: join(folder.path, 'home'), embedder: 'none', background: false })
    expect(await engine.sync()).toMatchObject({ added: 0, updated: 1, deleted: 0, errors: [] })
    expect(await engine.get({ id: 'notes/deep/b.md', touch: false })).toMatchObject({
      access: { count: 3 },
      backlinks: [{ id: 'notes/c.md' }],
      origin: expect.stringMatching(/notes\/moved\.md$/),
    })
    expect(await engine.sync()).toMatchObject(NOTHING)
  })

  it('deletes what was made of a file that was added by itself and is gone (QE-012)', async () => {
    writeFileSync(join(folder.path, 'alone.md'), '# Alone\n')
    await engine.add({ paths: [join(folder.path, 'alone.md')] })
    rmSync(join(folder.path, 'alone.md'))
    expect(await engine.sync()).toMatchObject({ deleted: 1, errors: [] })
    expect(await engine.sync()).toMatchObject(NOTHING)
  })

  it('reports changed files to the owner alone, in answers and in status (QE-012)', async () => {
    const text = 'kettle'
    for (let count = 0; count < 11; count++) note(`more-${count}.md`, `# More\n\nNumber ${count}.\n`)
    const notesFor = async (viewer: string) => (await engine.query({ text }, { viewer: { id: viewer } })).notes ?? []
    const before = await notesFor('ana')
    await engine.readChanges()
    expect(await notesFor('owner')).toContainEqual({
      code: 'files_changed',
      message: '11 files have changed since they were read; run `querent sync`.',
    })
    expect(await notesFor('ana')).toEqual(before)
    expect((await engine.status({ viewer: { id: 'ana' } })).paths).toBeNull()
    await engine.sync()
    expect((await notesFor('owner')).map(({ code }) => code)).not.toContain('files_changed')
  })

  it('names a missing folder to the owner alone, and keeps its entries (QE-012)', async () => {
    const notesFor = async (viewer: string) =>
      (await engine.query({ text: 'kettle' }, { viewer: { id: viewer } })).notes.map(({ code }) => code)
    const added = join(folder.path, 'notes')
    renameSync(added, join(folder.path, 'elsewhere'))
    await engine.readChanges()
    expect((await engine.query({ text: 'kettle' })).notes).toContainEqual({
      code: 'path_missing',
      message: `${added} was added and is now missing; its entries are kept.`,
    })
    expect(await notesFor('ana')).not.toContain('path_missing')
    renameSync(join(folder.path, 'elsewhere'), added)
    await engine.readChanges()
    expect(await notesFor('owner')).not.toContain('path_missing')
  })
})

describe('the command line', () => {
  const run = (...args: readonly string[]) =>
    querentHere([...args], {
      cwd: folder.path,
      env: { QUERENT_HOME: join(folder.path, 'home'), QUERENT_EMBEDDER: 'none' },
    })

  it('reads a few changed files before it answers, and names many (QE-012)', async () => {
    await run('add', 'notes')
    note('a.md', '# First\n\nThe kettle whistles a tune.\n')
    expect((await run('query', 'whistles')).stdout).toContain('whistles a tune')
    for (let count = 0; count < 11; count++) note(`more-${count}.md`, `# More\n\nNumber ${count} gargoyle.\n`)
    const { stdout } = await run('query', 'gargoyle')
    expect(stdout).toContain('note: 11 files have changed since they were read; run `querent sync`.')
    expect((await run('sync', '--dry-run')).stdout).toContain('added notes: 13 files, 11 new\n')
    expect((await run('sync')).stdout).toContain('11 added, 0 updated')
    expect((await run('sync')).stdout).toBe('added notes: 13 files\nnothing has changed\n')
    expect((await run('query', 'gargoyle')).stdout).not.toContain('note: 11 files')
  })
})

it('serve reads what changes while it runs, also when two serve one store (QE-012)', async () => {
  const env = { QUERENT_HOME: join(folder.path, 'home'), QUERENT_EMBEDDER: 'none' }
  const one = await startServer(['serve', 'notes'], folder.path, env)
  onTestFinished(() => void one.end())
  const other = await startServer(['serve'], folder.path, env)
  onTestFinished(() => void other.end())
  const found = async ({ url }: { readonly url: string }, text: string) => {
    const response = await fetch(`${url}/v1/ops/query`, { method: 'POST', body: JSON.stringify({ text }) })
    const { items } = (await response.json()) as { readonly items: readonly { readonly id: string }[] }
    return items.map(({ id }) => id)
  }
  note('c.md', '# Third\n\nA heron stands by the pond.\n')
  for (const server of [one, other]) await expect.poll(() => found(server, 'heron')).toEqual(['notes/c.md'])
  note('c.md', '# Third\n\nAn egret stands by the pond instead.\n')
  for (const server of [one, other]) await expect.poll(() => found(server, 'egret')).toEqual(['notes/c.md'])
  rmSync(at('c.md'))
  for (const server of [one, other]) await expect.poll(() => found(server, 'egret')).toEqual([])
})

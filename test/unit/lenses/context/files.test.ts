import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect } from 'vitest'
import { sha256 } from '../../../../src/base/canonical.ts'
import { putConcept, putProvenance } from '../../../../src/lenses/context/mind/rows.ts'
import { headOf, linesFrom } from '../../../../src/lenses/context/query/pack.ts'
import { audience } from '../../../../src/model/partition.ts'
import { type TempFolder, tempFolder } from '../../../support/temp-folder.ts'
import { openToyEmbedder } from '../../../support/toy-embedder.ts'
import { type ContextWorld, idsOf, it, openWorld, type WorldOptions } from './world.ts'

const folders: TempFolder[] = []
afterAll(() => {
  for (const folder of folders) folder[Symbol.dispose]()
})

/** A folder with files, and a store in it. */
async function openFolder(
  files: Readonly<Record<string, string | Uint8Array>>,
  options: WorldOptions = {},
): Promise<{ readonly world: ContextWorld; readonly folder: string; url(name: string): string }> {
  const made = tempFolder()
  folders.push(made)
  const folder = made.path
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  const world = await openWorld({ home: join(folder, '.querent'), ...options })
  return { world, folder, url: name => pathToFileURL(join(folder, name)).href }
}

async function link(world: ContextWorld, concept: number, ...urls: readonly string[]): Promise<void> {
  for (const url of urls) await world.do('/mind/provenance/create', { concept_id: concept, file_url: url })
}

describe('registering files (CX-048)', () => {
  it('tells URL, hash, size and time; folders count with all that is below', async () => {
    const { world, url } = await openFolder({
      'a.ts': 'const a = 1\n',
      'sub/b.ts': 'b',
      '.gitignore': 'no.ts\n',
      'no.ts': '',
    })
    await using _ = world
    const { files, summary } = await world.do('/body/files/add', { path: 'a.ts' })
    expect(files).toEqual([{ url: url('a.ts'), hash: sha256('const a = 1\n'), size: 12, mtime: expect.any(Number) }])
    expect(summary).toEqual({ added: 1, updated: 0, errors: 0 })
    expect(await world.do('/body/files/add', { paths: ['.'] })).toMatchObject({ summary: { added: 2, updated: 0 } })
  })

  it('reports what it could not read, beside what it could', async () => {
    const { world } = await openFolder({ 'a.ts': '' })
    await using _ = world
    expect(await world.call('/body/files/add', { paths: ['a.ts', 'gone.ts', '/etc/passwd'] })).toMatchObject({
      status: 'success',
      result: { summary: { added: 1, errors: 2 } },
      errors: { paths: [{ code: 'not_found' }, { code: 'outside' }] },
    })
    expect(await world.call('/body/files/add', {})).toMatchObject({ errors: { path: [{ code: 'required' }] } })
  })

  it('registers a file once, however often it is named', async () => {
    const { world, url } = await openFolder({ 'a.ts': '', 'sub/b.ts': '' })
    await using _ = world
    const { files, summary } = await world.do('/body/files/add', { path: 'sub', paths: ['a.ts', './a.ts', 'sub/b.ts'] })
    expect(files).toMatchObject([{ url: url('a.ts') }, { url: url('sub/b.ts') }])
    expect(summary).toEqual({ added: 2, updated: 0, errors: 0 })
  })

  it('scans nothing outside of the folder', async () => {
    const { world } = await openFolder({ 'a.ts': '' })
    await using _ = world
    expect(await world.call('/body/scan', { path: '..' })).toMatchObject({ errors: { path: [{ code: 'outside' }] } })
    expect(await world.do('/body/scan', { path: 'not-there' })).toMatchObject({ added: [], deleted: [], unchanged: 0 })
  })

  it('scans for what is new, changed and gone; a dry run writes nothing', async () => {
    const { world, folder, url } = await openFolder({ 'a.ts': 'a', 'b.ts': 'b', 'c.ts': 'c' })
    await using _ = world
    expect(await world.do('/body/scan')).toMatchObject({ summary: { added: 3, updated: 0, deleted: 0, unchanged: 0 } })
    writeFileSync(join(folder, 'b.ts'), 'other')
    writeFileSync(join(folder, 'd.ts'), 'd')
    rmSync(join(folder, 'c.ts'))
    const expected = { added: [url('d.ts')], updated: [url('b.ts')], deleted: [url('c.ts')], unchanged: 1 }
    expect(await world.do('/body/scan', { dry_run: true })).toMatchObject(expected)
    expect(await world.do('/body/scan')).toMatchObject(expected)
    expect(await world.do('/body/scan')).toMatchObject({ added: [], updated: [], deleted: [], unchanged: 3 })
  })
})

describe('a folder given as a URL', () => {
  it.each(['', '/'])('is scanned for what is gone, with "%s" at its end', async end => {
    const { world, folder, url } = await openFolder({ 'a.ts': 'a', 'sub/b.ts': 'b', 'sub/c.ts': 'c' })
    await using _ = world
    await world.do('/body/scan')
    rmSync(join(folder, 'sub/b.ts'))
    rmSync(join(folder, 'a.ts'))
    expect(await world.do('/body/scan', { path: url('sub') + end })).toMatchObject({
      deleted: [url('sub/b.ts')],
      unchanged: 1,
    })
  })
})

describe('full text (CX-049)', () => {
  it('is kept once, searched by words, and empty before', async () => {
    const { world, folder, url } = await openFolder({
      'a.ts': 'export function authenticate() {}\n',
      'b.ts': 'export const other = 1\n',
      'c.bin': new Uint8Array([0, 1, 2]),
    })
    await using _ = world
    expect(await world.do('/body/fts/search', { query: 'authenticate' })).toEqual({ matches: [], total: 0 })
    await world.do('/body/scan')
    expect(await world.do('/body/fts/index')).toEqual({ indexed: 2, skipped: 0, deleted: 0, errors: 0 })
    expect(await world.do('/body/fts/index')).toEqual({ indexed: 0, skipped: 2, deleted: 0, errors: 0 })
    expect(await world.do('/body/fts/search', { query: 'authenticate' })).toEqual({
      matches: [
        { url: url('a.ts'), snippet: expect.stringContaining('>>>authenticate<<<'), score: expect.any(Number) },
      ],
      total: 1,
    })
    expect(await world.do('/body/fts/search', { query: 'other', path: 'a.ts' })).toMatchObject({ total: 0 })
    expect(await world.do('/body/fts/search', { query: '"open' })).toMatchObject({ total: expect.any(Number) })
    writeFileSync(join(folder, 'b.ts'), 'export const authenticate2 = authenticate\n')
    await world.do('/body/scan')
    expect(await world.do('/body/fts/index')).toMatchObject({ indexed: 1, skipped: 1 })
    expect(await world.do('/body/fts/search', { query: 'authenticate', limit: 1 })).toMatchObject({ total: 2 })
  })
})

describe('files of an answer', () => {
  it('come once each, in the order of concepts, then of URLs (CX-032)', async ({ world }) => {
    await world.concepts('AuthA', 'AuthB')
    await link(world, 1, 'file:///z.ts', 'file:///b.ts')
    await link(world, 2, 'file:///a.ts', 'file:///b.ts')
    const { files } = await world.query({ query: 'auth' })
    expect(files.map(({ url, concepts }) => [url, concepts])).toEqual([
      ['file:///b.ts', [1, 2]],
      ['file:///z.ts', [1]],
      ['file:///a.ts', [2]],
    ])
  })

  it('show the text that is stored, before the disk is looked at (CX-032, CX-035)', async () => {
    const { world, folder, url } = await openFolder({
      'auth.ts': 'export class AuthService { }',
      'new.ts': 'not stored',
    })
    await using _ = world
    await world.do('/body/files/add', { path: 'auth.ts' })
    await world.do('/body/fts/index')
    writeFileSync(join(folder, 'auth.ts'), 'changed since')
    await world.concepts('AuthService')
    await link(world, 1, url('auth.ts'), url('new.ts'))
    expect((await world.query({ query: 'auth' })).files).toStrictEqual([
      { url: url('auth.ts'), concepts: [1], preview: 'export class AuthService { }' },
      { url: url('new.ts'), concepts: [1], preview: 'not stored' },
    ])
  })

  it('that cannot be read say why, and their concept stays (CX-034, CX-035)', async () => {
    const { world, folder, url } = await openFolder({ 'image.ts': new Uint8Array([0, 1]), 'dir/x': '' })
    await using _ = world
    symlinkSync('/etc/hostname', join(folder, 'link.ts'))
    await world.concepts('Auth')
    await link(
      world,
      1,
      url('gone.ts'),
      url('image.ts'),
      url('dir'),
      url('link.ts'),
      'file:///etc/passwd',
      'file://host/x',
    )
    const { files, concepts } = await world.query({ query: 'auth' })
    expect(concepts).toHaveLength(1)
    const reported = Object.fromEntries(
      files.map(({ url: of, error, preview }) => [of, [(error as { code: string }).code, preview]]),
    )
    expect(reported).toEqual({
      [url('gone.ts')]: ['not_found', null],
      [url('image.ts')]: ['binary', null],
      [url('dir')]: ['unreadable', null],
      [url('link.ts')]: ['not_indexed', null],
      'file:///etc/passwd': ['not_indexed', null],
      'file://host/x': ['not_indexed', null],
    })
    expect(files.find(file => file['url'] === url('gone.ts'))).toStrictEqual({
      url: url('gone.ts'),
      concepts: [1],
      preview: null,
      error: { code: 'not_found', message: 'file is gone' },
    })
  })

  it('are not read from the disk for others than the owner (CX-035)', async () => {
    const { world, url } = await openFolder({ 'secret.ts': 'secret' })
    await using _ = world
    const ann = { id: 'ann' }
    const { id } = await world.do('/mind/concepts/create', { name: 'Auth', type: 'T' }, ann)
    await world.do('/mind/provenance/create', { concept_id: id, file_url: url('secret.ts') }, ann)
    expect(await world.do('/context/query', { query: 'auth' }, ann)).toMatchObject({
      files: [{ preview: null, error: { code: 'not_indexed' } }],
    })
    expect(await world.call('/body/scan', {}, ann)).toMatchObject({ errors: { body: [{ code: 'denied' }] } })
  })

  it('show 500 characters of the head, or the passage of the concept with its lines (CX-033, CX-036)', async () => {
    const lines = Array.from({ length: 100 }, (_, i) => `line ${i + 1} of the file`)
    const { world, url } = await openFolder({ 'a.ts': lines.join('\n') })
    await using _ = world
    concept(world, { name: 'Deep', type: 'Function', url: url('a.ts'), startLine: 50, endLine: 52 })
    const [head] = (await world.query({ query: 'deep' })).files
    expect(head).toStrictEqual({ url: url('a.ts'), concepts: [1], preview: `${lines.join('\n').slice(0, 500)}...` })
    const [passage] = (await world.query({ query: 'deep', snippet: 'passage' })).files
    expect(passage).toMatchObject({ start_line: 49, preview: expect.stringMatching(/^line 49 .*\nline 50 /) })
    expect(passage?.['preview']).toBe(lines.slice(48, passage?.['end_line'] as number).join('\n'))
  })
})

describe('the text leg of hybrid (CX-025)', () => {
  it('leads from words in a file to the concept at that place', async () => {
    const text = 'function one() {}\n\nfunction two() {\n  return flibbertigibbet\n}\n'
    const { world, url } = await openFolder({ 'a.ts': text }, { embedder: openToyEmbedder() })
    await using _ = world
    concept(world, { name: 'one', type: 'Function', url: url('a.ts'), startLine: 1, endLine: 1 })
    concept(world, { name: 'two', type: 'Function', url: url('a.ts'), startLine: 3, endLine: 5 })
    await world.engine.embedded()
    const ask = { query: 'flibbertigibbet', mode: 'hybrid', depth: 0, explain: true }
    expect(idsOf(await world.query(ask))).toEqual([])
    await world.do('/body/files/add', { path: '.' })
    await world.do('/body/fts/index')
    await world.engine.embedded()
    const { concepts } = await world.query(ask)
    expect(concepts.map(({ relevance }) => relevance)).toEqual(concepts.map(() => 'semantic'))
    expect(concepts).toContainEqual(expect.objectContaining({ id: 2, match: 'text', score: expect.any(Number) }))
  })
})

describe('a bundle of so many tokens', () => {
  it('packs the concepts of the answer', async () => {
    const { world, url } = await openFolder({ 'a.ts': 'function one() {\n  return 1\n}\nfunction two() {}\n' })
    await using _ = world
    const signature = 'function one(): number'
    concept(world, { name: 'one', type: 'Function', url: url('a.ts'), startLine: 1, endLine: 3, signature })
    const { bundle } = await world.do('/context/query', { query: 'one', max_tokens: 200 })
    expect(bundle).toMatchObject({ whole: [1], omitted: [] })
    expect(bundle).toHaveProperty('text', `## 1 one (Function) a.ts:1-3\nfunction one() {\n  return 1\n}`)
    expect(await world.do('/context/query', { query: 'one' })).not.toHaveProperty('bundle')
  })
})

describe('previews', () => {
  it('cut at 500 characters, not inside one (CX-033)', () => {
    expect(headOf('')).toBe('')
    expect(headOf('😀'.repeat(500))).toBe('😀'.repeat(500))
    expect(headOf('😀'.repeat(501))).toBe(`${'😀'.repeat(500)}...`)
  })

  it('hold whole lines where they can (CX-036)', () => {
    expect(linesFrom('a\nb\nc', 2)).toEqual({ text: 'a\nb\nc', startLine: 1, endLine: 3 })
    expect(linesFrom('a\nb\nc', 99)).toEqual({ text: 'b\nc', startLine: 2, endLine: 3 })
    expect(linesFrom('', 1)).toEqual({ text: '', startLine: 1, endLine: 1 })
    expect(linesFrom('a\rb\r\nc\nd', 3)).toEqual({ text: 'b\r\nc\nd', startLine: 2, endLine: 4 })
    const half = 'y'.repeat(249)
    expect(linesFrom(`${half}\n${half}\nz\nz`, 2)).toMatchObject({ startLine: 1, endLine: 2 })
    expect(linesFrom(`${half}\n${half}y\nz\nz`, 1)).toMatchObject({ startLine: 1, endLine: 1 })
    const { text, startLine, endLine } = linesFrom(`x\n${'y'.repeat(5000)}\nz`, 2)
    expect([text.length, startLine, endLine]).toEqual([503, 1, 2])
  })
})

function concept({ host }: ContextWorld, draft: Parameters<typeof putConcept>[1]): void {
  host.store.write(host.clock.now(), writer => {
    const made = putConcept(writer, draft, { audience: audience('private'), now: host.clock.now() })
    putProvenance(writer, made, draft.url ?? '')
  })
}

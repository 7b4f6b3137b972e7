import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ProgressEvent } from '../../../../../src/lenses/context/call.ts'
import { Context } from '../../../../../src/lenses/context/operations.ts'
import { openCodeFolder } from '../../../../support/code-folder.ts'
import { openTestEngine } from '../../../../support/engines.ts'
import { openToyEmbedder } from '../../../../support/toy-embedder.ts'
import { sampleFiles } from './sample.ts'

const A = "import { b } from './b.ts'\nexport class A extends B { go() { b(); } }\nclass B {}\n"
const B = '/** Says b. */\nexport function b(): number { return 1 }\n'

describe('an index run over a workspace', () => {
  it('fills texts, concepts, links and provenance without a model or a network (CX-057, CX-069)', async () => {
    await using code = await openCodeFolder({ 'a.ts': A, 'b.ts': B })
    expect(await code.do('/context/index')).toMatchObject({ indexed: 2, skipped: 0, deleted: 0 })
    expect(code.concepts()).toEqual([
      'Class A a.ts',
      'Class B a.ts',
      'Function b b.ts',
      'Method A.go a.ts',
      'Module a.ts a.ts',
      'Module b.ts b.ts',
    ])
    expect(code.relations()).toContain('Method A.go a.ts CALLS Function b b.ts 0.5')
    expect(code.relations()).toContain('Module a.ts a.ts DEPENDS_ON Module b.ts b.ts 1')
    expect(code.relations()).toContain('Function b b.ts IN b.ts')
    const answer = await code.do('/context/query', { query: 'A.go', depth: 1 })
    expect(answer['files']).toMatchObject([{ preview: A }, { preview: B }])
    expect(await code.do('/body/fts/search', { query: 'Says' })).toMatchObject({ total: 1 })
  })

  it('makes vectors in the same run, and tells how far it is (CX-069)', async () => {
    await using code = await openCodeFolder({ 'a.ts': A, 'b.ts': B }, { embedder: openToyEmbedder() })
    const events: ProgressEvent[] = []
    await code.context.call('/context/index', {}, event => events.push(event))
    const phases = new Set(events.map(({ phase }) => phase))
    expect([...phases].slice(0, 2)).toEqual(['read', 'write'])
    expect(events[0]).toMatchObject({ current: 1, total: 2, message: expect.stringMatching(/files\/s/) })
    const { concepts } = await code.do('/context/query', { query: 'class extends', mode: 'semantic', depth: 0 })
    expect(concepts).not.toEqual([])
  })

  it('reads again only what changed; ids stay where name, type and file do (CX-066)', async () => {
    await using code = await openCodeFolder({ 'a.ts': A, 'b.ts': B })
    await code.do('/context/index')
    const before = code.ids()
    expect(await code.do('/context/index')).toMatchObject({ indexed: 0, skipped: 2, deleted: 0 })
    code.write({ 'b.ts': `// moved down\n${B}export const more = 1\n` })
    expect(await code.do('/context/index')).toMatchObject({ indexed: 1, skipped: 1 })
    const after = code.ids()
    for (const [label, id] of before) expect([label, after.get(label)]).toEqual([label, id])
    expect(after.has('Constant more b.ts')).toBe(true)
    expect(Math.max(...before.values())).toBeLessThan(after.get('Constant more b.ts') as number)
  })

  it('leaves nothing of a deleted file, nor links to it (CX-066)', async () => {
    await using code = await openCodeFolder({ 'a.ts': A, 'b.ts': B })
    await code.do('/context/index')
    code.remove('b.ts')
    expect(await code.do('/context/index')).toMatchObject({ indexed: 0, skipped: 1, deleted: 1 })
    expect([...code.concepts(), ...code.relations()].filter(line => / b\.ts/.test(line))).toEqual([])
    expect(await code.do('/body/fts/search', { query: 'Says' })).toMatchObject({ total: 0 })
  })

  it('leaves nothing of a file that a scan has found gone before (CX-048, CX-066)', async () => {
    await using code = await openCodeFolder({ 'a.ts': A, 'b.ts': B })
    await code.do('/context/index')
    code.remove('b.ts')
    expect(await code.do('/body/scan')).toMatchObject({ summary: { deleted: 1 } })
    await code.do('/context/index')
    await using fresh = await openCodeFolder({ 'a.ts': A })
    await fresh.do('/context/index')
    expect(code.concepts()).toEqual(fresh.concepts())
    expect(code.relations()).toEqual(fresh.relations())
  })

  it('leaves alone what calls have made: links, and notes without a file (CX-066)', async () => {
    await using code = await openCodeFolder({ 'a.ts': A, 'b.ts': B })
    await code.do('/context/index')
    const ids = code.ids()
    const [a, b] = [ids.get('Class A a.ts'), ids.get('Function b b.ts')] as [number, number]
    const url = `${code.engine.host('context').workspace?.url}/b.ts`
    await code.do('/mind/edges/create', { source: a, target: b, relation: 'EXPLAINS', weight: 2 })
    for (const type of ['Caveat', 'Entity']) {
      const { id } = await code.do('/mind/concepts/create', { name: `my ${type}`, type })
      await code.do('/mind/provenance/create', { concept_id: id, file_url: url })
    }
    code.write({ 'a.ts': `${A}// more\n` })
    await code.do('/context/index')
    expect(code.relations()).toContain('Class A a.ts EXPLAINS Function b b.ts 2')
    code.remove('b.ts')
    await code.do('/context/index')
    expect(code.concepts().filter(label => label.includes('my '))).toEqual(['Caveat my Caveat -'])
  })

  it('goes on in a new process as in the same one', async () => {
    await using code = await openCodeFolder(sampleFiles)
    await code.do('/context/index')
    const other = await openCodeFolder({ ...sampleFiles, 'src/store.ts': 'export class Store { other() {} }\n' })
    await using _ = other
    await other.do('/context/index')
    await code.engine.close()
    code.write({ 'src/store.ts': 'export class Store { other() {} }\n' })
    await using engine = await openTestEngine({ home: `${code.path}/.querent` })
    const again = await new Context(engine.host('context')).call('/context/index')
    expect(again.result).toMatchObject({ indexed: 1, skipped: Object.keys(sampleFiles).length - 1 })
    const reported = await new Context(engine.host('context')).call('/graph/summary')
    expect(reported.result).toEqual(await other.do('/graph/summary'))
  })

  it('undoes what an ended run left half done (CX-067)', async () => {
    await using code = await openCodeFolder({})
    code.write(Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`f${at}.ts`, fileOf(at)])))
    const stop = new AbortController()
    const ended = await code.context.call(
      '/context/index',
      {},
      ({ phase }) => {
        if (phase === 'write') stop.abort()
      },
      stop.signal,
    )
    expect(ended.errors).toMatchObject({ handler: [{ code: 'cancelled' }] })
    expect(code.concepts().length).toBeGreaterThan(0)
    expect(await code.do('/context/index')).toMatchObject({ indexed: 24, skipped: 16 })
    await using fresh = await openCodeFolder(
      Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`f${at}.ts`, fileOf(at)])),
    )
    await fresh.do('/context/index')
    expect(code.concepts()).toEqual(fresh.concepts())
    expect(code.relations()).toEqual(fresh.relations())
  })
})

describe('what a run leaves out (CX-068)', () => {
  it('tells each with its reason, and takes back what was indexed before', async () => {
    await using code = await openCodeFolder({
      'a.ts': A,
      'b.ts': B,
      '.gitignore': 'secret.ts\n',
      'secret.ts': 'x',
      'node_modules/p/index.js': 'x',
      'vendor/lib.js': 'export const x = 1\n',
      'made.ts': '// Code generated by protoc. DO NOT EDIT.\nexport const x = 1\n',
      'squeezed.js': `var a=${'1+'.repeat(2000)}1`,
      'zero.ts': new Uint8Array([97, 0, 98]),
      'latin.ts': new Uint8Array([0x63, 0xe9, 0x0a]),
      'large.ts': new Uint8Array(10 * 1024 * 1024 + 1).fill(97),
      'logo.png': 'x',
      'speaks.ts': "export const mark = 'Code generated by us. DO NOT EDIT.'\n",
    })
    const { left_out } = await code.do('/context/index')
    const root = `${code.engine.host('context').workspace?.url}/`
    const files = (left_out as { files: { url: string; reason: string }[] }).files
    expect(Object.fromEntries(files.map(({ url, reason }) => [url.replace(root, ''), reason]))).toEqual({
      'secret.ts': 'ignored',
      node_modules: 'excluded',
      'vendor/lib.js': 'vendored',
      'made.ts': 'generated',
      'squeezed.js': 'generated',
      'zero.ts': 'binary',
      'latin.ts': 'binary',
      'large.ts': 'too_large',
      'logo.png': 'media',
    })
    expect(code.concepts()).toContain('Constant mark speaks.ts')
    code.write({ 'b.ts': new Uint8Array([0, 1]) })
    expect(await code.do('/context/index')).toMatchObject({ deleted: 1 })
    expect(code.concepts().filter(label => label.endsWith(' b.ts'))).toEqual([])
  })

  it('reads one file or folder when asked, and refuses what lies outside', async () => {
    await using code = await openCodeFolder({ 'a.ts': A, 'lib/b.ts': B, 'lib/c.ts': B })
    expect(await code.do('/context/index', { path: 'lib' })).toMatchObject({ indexed: 2 })
    expect(await code.do('/context/index', { paths: ['a.ts', 'gone.ts'] })).toMatchObject({ indexed: 1, deleted: 0 })
    code.remove('lib/c.ts')
    expect(await code.do('/context/index', { path: 'lib/c.ts' })).toMatchObject({ indexed: 0, deleted: 1 })
    expect(await code.do('/context/index', { path: '/etc' })).toMatchObject({ indexed: 0, errors: { total: 1 } })
  })

  it('leaves the same out whatever path it is asked for (CX-067)', async () => {
    await using code = await openCodeFolder({
      'a.ts': A,
      '.gitignore': 'out/\n*.log.ts\n',
      'out/made.ts': B,
      'lib/x.log.ts': B,
      'lib/b.ts': B,
      'node_modules/p/index.js': B,
      'empty/logo.png': '',
    })
    symlinkSync('lib', join(code.path, 'link'))
    const paths = ['out', 'out/made.ts', 'lib/x.log.ts', 'node_modules/p', 'link', 'link/b.ts', '.querent/store.db']
    const { indexed, left_out, errors } = await code.do('/context/index', { paths })
    const root = `${code.engine.host('context').workspace?.url}/`
    const found = (left_out as { files: { url: string; reason: string }[] }).files
    expect([indexed, errors]).toEqual([0, { total: 0, files: [] }])
    expect(found.map(({ url, reason }) => `${url.replace(root, '')} ${reason}`)).toEqual([
      ...[
        'out ignored',
        'out ignored',
        'lib/x.log.ts ignored',
        'node_modules excluded',
        'link symlink',
        'link symlink',
      ],
      '.querent/store.db excluded',
    ])
    expect(await code.do('/context/index', { path: 'lib' })).toMatchObject({ indexed: 1 })
    // The rule file is a text as any other.
    expect(await code.do('/context/index')).toMatchObject({ indexed: 2, skipped: 1, deleted: 0 })
    code.write({ '.gitignore': 'lib\n' })
    expect(await code.do('/context/index', { path: 'lib/b.ts' })).toMatchObject({ indexed: 0, deleted: 1 })
  })

  it('reads names of every sort', async () => {
    const files = {
      'new\nline.ts': B,
      'größe 100%.ts': B,
      '日本/ファイル.py': 'def 関数(): pass\n',
      '#q?.md': '# Título\n',
    }
    await using code = await openCodeFolder(files)
    expect(await code.do('/context/index')).toMatchObject({ indexed: 4, errors: { total: 0 } })
    expect(await code.do('/context/index')).toMatchObject({ indexed: 0, skipped: 4 })
    const { concepts } = await code.do('/context/query', { query: '関数' })
    expect(concepts).toMatchObject([{ name: '関数' }, {}])
  })
})

function fileOf(at: number): string {
  return `import { f${(at + 7) % 40} } from './f${(at + 7) % 40}.ts'\nexport function f${at}() { return f${(at + 7) % 40}() }\n`
}

/** Where imports of scripts lead (CX-059, issue rows of module resolution). */
import { describe, expect, it } from 'vitest'
import { graphOf, linksOf } from '../../../../support/extracted.ts'

async function target(specifier: string, files: Record<string, string>, from = 'src/a.ts'): Promise<string | null> {
  const graph = await graphOf({ ...files, [from]: `import '${specifier}'` })
  const [link] = linksOf(graph, 'DEPENDS_ON').filter(one => one.startsWith(`${from}#`))
  return link === undefined ? null : ((link.split(' ')[2] as string).split('#')[0] as string)
}

describe('a relative import', () => {
  it.each([
    ['./b', 'src/b.ts'],
    ['./b.js', 'src/b.ts'],
    ['./b.jsx', 'src/b.tsx'],
    ['./b.mjs', 'src/b.mts'],
    ['./b.ts', 'src/b.ts'],
    ['./b', 'src/b.d.ts'],
    ['./b', 'src/b/index.ts'],
    ['.', 'src/index.js'],
    ['..', 'index.ts'],
    ['../other/b', 'other/b.jsx'],
    ['./b.json', 'src/b.json'],
    ['./b?raw', 'src/b.ts'],
  ])('%s finds %s', async (specifier, path) => {
    expect(await target(specifier, { [path]: '' })).toBe(path)
  })

  it('prefers the file to the folder, and source to what is made of it', async () => {
    expect(await target('./b', { 'src/b.ts': '', 'src/b/index.ts': '' })).toBe('src/b.ts')
    expect(await target('./b', { 'src/b.js': '', 'src/b.ts': '' })).toBe('src/b.ts')
    expect(await target('./b.js', { 'src/b.js': '', 'src/b.ts': '' })).toBe('src/b.js')
  })

  it('leads nowhere when there is no file, or out of the workspace', async () => {
    expect(await target('./missing', {})).toBeNull()
    expect(await target('../../../b', { 'b.ts': '' })).toBeNull()
  })

  it('takes the entry of a folder with a package.json', async () => {
    expect(await target('./kit', { 'src/kit/package.json': '{"main":"./lib/go.js"}', 'src/kit/lib/go.ts': '' })).toBe(
      'src/kit/lib/go.ts',
    )
  })
})

describe('an import by name', () => {
  it('follows paths, baseUrl and extends of the nearest tsconfig.json', async () => {
    const tsconfig = `{
      // with comments and commas
      "extends": "./base", "compilerOptions": { "paths": { "@/*": ["./src/*"], "@/lib/*": ["lib/*"], "exact": ["src/x.ts"] }, },
    }`
    const files = { 'tsconfig.json': tsconfig, 'src/x.ts': '', 'lib/y.ts': '', 'deep/z.ts': '' }
    expect(await target('@/x', files)).toBe('src/x.ts')
    expect(await target('@/lib/y', files)).toBe('lib/y.ts')
    expect(await target('exact', files)).toBe('src/x.ts')
    const base = { ...files, 'base.json': '{}', 'tsconfig.base.json': '{"compilerOptions":{"baseUrl":"./deep"}}' }
    expect(await target('z', { ...base, 'tsconfig.json': '{"extends":"./tsconfig.base.json"}' })).toBe('deep/z.ts')
    expect(await target('z', { ...base, 'src/tsconfig.json': '{"compilerOptions":{"baseUrl":"../deep"}}' })).toBe(
      'deep/z.ts',
    )
  })

  it('follows a tsconfig.json that only refers to others (CX-059)', async () => {
    const files = {
      'tsconfig.json': '{ "files": [], "references": [{ "path": "./tsconfig.app.json" }, { "path": "./node" }, 7] }',
      'tsconfig.app.json': '{ "compilerOptions": { "paths": { "@/*": ["./src/*"] } } }',
      'node/tsconfig.json': '{ "compilerOptions": { "paths": { "~/*": ["./lib/*"] } } }',
      'src/x.ts': '',
      'node/lib/y.ts': '',
    }
    expect(await target('@/x', files)).toBe('src/x.ts')
    expect(await target('~/y', files)).toBe('node/lib/y.ts')
    const circle = { ...files, 'tsconfig.app.json': '{ "references": [{ "path": "./tsconfig.json" }] }' }
    expect(await target('@/x', circle)).toBeNull()
  })

  it('follows exports, conditions and patterns of a package of the workspace', async () => {
    const manifest = JSON.stringify({
      name: '@own/kit',
      exports: {
        '.': { types: './dist/index.d.ts', default: './dist/index.js' },
        './parts/*': './src/parts/*.js',
        './no': null,
      },
    })
    const files = {
      'packages/kit/package.json': manifest,
      'packages/kit/src/index.ts': '',
      'packages/kit/src/parts/a.ts': '',
    }
    expect(await target('@own/kit', files)).toBe('packages/kit/src/index.ts')
    expect(await target('@own/kit/parts/a', files)).toBe('packages/kit/src/parts/a.ts')
    expect(await target('@own/kit/hidden', files)).toBe('@own/kit')
    expect(await target('@own/other', files)).toBe('@own/other')
  })

  it('follows imports of the own package.json', async () => {
    const files = {
      'package.json': '{"imports":{"#kit":"./src/kit.js","#in/*":"./src/in/*.js"}}',
      'src/kit.ts': '',
      'src/in/a.ts': '',
    }
    expect(await target('#kit', files)).toBe('src/kit.ts')
    expect(await target('#in/a', files)).toBe('src/in/a.ts')
    expect(await target('#none', files)).toBeNull()
  })

  it('becomes a package when nothing of the workspace answers (CX-059)', async () => {
    expect(await target('react/jsx-runtime', {})).toBe('react')
    expect(await target('node:fs/promises', {})).toBe('node:fs')
    expect(await target('https://example.org/x.js', {})).toBeNull()
  })

  it('survives settings that make no sense', async () => {
    for (const text of [
      '',
      '[',
      'null',
      '[]',
      '{"compilerOptions":7}',
      '{"extends":"./tsconfig.json","compilerOptions":{"paths":{"*":7}}}',
    ]) {
      expect(await target('react', { 'tsconfig.json': text, 'package.json': text })).toBe('react')
    }
  })
})

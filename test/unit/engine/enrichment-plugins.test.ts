import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { builtInPlugins } from '../../../src/lenses/c64/plugins.ts'
import { type EnrichmentPluginRequest, loadEnrichmentPlugins } from '../../../src/openings/enrichment-plugins.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const good = (name: string, more = ''): string => `export const helper = () => 1
export class Plain {}
export class Zeta { name = '${name}'; ${more} enrich() { return { additionalContext: ['${name}'], filterTags: [] } } }
`

let folder = tempFolder()
beforeEach(() => {
  folder = tempFolder()
})
afterEach(() => folder[Symbol.dispose]())

function put(name: string, text: string): void {
  mkdirSync(dirname(folder.file(name)), { recursive: true })
  writeFileSync(folder.file(name), text)
}

async function load(request: EnrichmentPluginRequest = { trustedFolders: [folder.file('one')] }) {
  const { plugins, loaded, warnings } = await loadEnrichmentPlugins(request)
  return { names: plugins.map(({ name }) => name), loaded, warnings, plugins }
}

describe('plugins of a folder', () => {
  it('are found by the names of their files, one instance each (EN-021)', async () => {
    put('one/word_enrichment.js', good('word'))
    put(
      'one/typed_enrichment.ts',
      'export class T { readonly name: string = "typed"; enrich(): object { return {} } }\n',
    )
    put('one/other.js', good('other'))
    put('one/enrichment.js', good('enrichment'))
    put('one/word_enrichment.mjs', good('mjs'))
    const { names, warnings, plugins } = await load()
    expect(names).toEqual(['typed', 'word'])
    expect(warnings).toEqual([])
    expect(plugins[1]?.enrich({ query: '', numbers: [] })).toEqual({ additionalContext: ['word'], filterTags: [] })
  })

  it('are there as soon as their file is (EN-022)', async () => {
    put('one/a_enrichment.js', good('a'))
    expect((await load()).names).toEqual(['a'])
    put('one/b_enrichment.js', good('b', 'priority = 5;'))
    expect((await load()).names).toEqual(['b', 'a'])
  })

  it.each([
    ['breaks while loading', 'throw new Error("no table")', /no table/],
    ['is no module', 'export class {', /bad_enrichment\.js was skipped/],
    ['has no such class', 'export class A { enrichAll() {} }', /no class with a method enrich/],
    ['has an object instead', 'export const a = { name: "a", enrich() {} }', /no class with a method enrich/],
    ['cannot be made', 'export class A { constructor() { throw new Error("no ROM") } enrich() {} }', /no ROM/],
    ['has no name', 'export class A { enrich() {} }', /needs a name/],
    ['has a wrong priority', 'export class A { name = "a"; priority = "first"; enrich() {} }', /priority/],
  ])('of which one %s are skipped with a warning, the others run (EN-022)', async (_, text, reason) => {
    put('one/bad_enrichment.js', text)
    put('one/good_enrichment.js', good('good'))
    const { names, warnings } = await load()
    expect(names).toEqual(['good'])
    expect(warnings).toEqual([expect.stringMatching(reason)])
    expect(warnings[0]).toContain('bad_enrichment.js')
  })

  it('of one name are an error (EN-023)', async () => {
    put('one/a_enrichment.js', good('a'))
    put('two/b_enrichment.js', good('a'))
    const both = { trustedFolders: [folder.file('one'), folder.file('two')] }
    await expect(load(both)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('b_enrichment.js'),
    })
    put('one/a_enrichment.js', good('number'))
    const request = { builtIn: builtInPlugins(), trustedFolders: [folder.file('one')] }
    await expect(load(request)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('built-in'),
    })
  })

  it('come from several folders and stand beside the built-in ones (EN-024)', async () => {
    put('one/a_enrichment.js', good('a', 'priority = 15;'))
    put('two/b_enrichment.js', good('b'))
    const trustedFolders = [folder.file('one'), folder.file('two')]
    const { names } = await load({ builtIn: builtInPlugins(), trustedFolders })
    expect(names).toEqual([
      ...['number', 'a', 'mirror', 'memory_map', 'color', 'opcode', 'register', 'tag', 'name_address'],
      ...['everyday_words', 'b'],
    ])
  })

  it('run only when somebody said so (EN-024)', async () => {
    put('one/a_enrichment.js', good('a'))
    const request = { folders: [folder.file('one'), folder.file('nowhere')], trustFile: folder.file('trust.json') }
    const refused = await load(request)
    expect(refused.names).toEqual([])
    expect(refused.warnings).toEqual([expect.stringContaining('is not trusted')])
    expect((await load({ ...request, trust: async () => true })).names).toEqual(['a'])
    expect((await load(request)).names).toEqual(['a'])
    put('one/a_enrichment.js', good('changed'))
    expect((await load(request)).names).toEqual([])
    expect((await load({ ...request, trustedFolders: request.folders.slice(0, 1) })).names).toEqual(['changed'])
  })

  it('need a place where trust is remembered (EN-024)', async () => {
    await expect(load({ folders: [folder.path] })).rejects.toMatchObject({ code: 'invalid_argument' })
  })
})

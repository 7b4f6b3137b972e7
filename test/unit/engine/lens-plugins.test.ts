/** Plug-ins of a folder, offered to the lenses of an engine: each module reaches its lens, or is reported. */
import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { openEngine } from '../../../src/engine/open.ts'
import { BUILT_IN_LENSES } from '../../../src/lenses/registry.ts'
import { type TempFolder, tempFolder } from '../../support/temp-folder.ts'

const PROFILE = 'export const profiles = { mine: { parseInput: () => ({ hashtags: [] }) } }\n'
const ENRICHMENT = `export class Drive { readonly name: string = 'drive'
  enrich() { return { additionalContext: ['1541 = disk drive'], filterTags: [] } } }`

function folderOf(files: Readonly<Record<string, string>>): TempFolder {
  const folder = tempFolder()
  for (const [name, text] of Object.entries(files)) writeFileSync(folder.file(name), text)
  return folder
}

/** What is warned of, without the folder. */
async function warnings(folder: TempFolder, onlyLenses?: readonly string[]): Promise<readonly string[]> {
  const found: string[] = []
  const plugins = { trustedFolder: folder.path, warn: (line: string) => void found.push(line) }
  await using _ = await openEngine({ store: 'memory', embedder: 'none', background: false, plugins, onlyLenses })
  return found.map(line => line.replace(/^plug-in \S*[/\\]/, ''))
}

describe('a plug-in', () => {
  it('is taken by the lenses that are listed as taking some, and each says what it takes', async () => {
    for (const { name, hooks = [], load } of BUILT_IN_LENSES) {
      const { install, takes } = await load()
      const takesPlugins = hooks.includes('install')
      expect([install !== undefined, takes !== undefined], name).toEqual([takesPlugins, takesPlugins])
    }
  })

  it('for one lens is no mistake where another is open alone', async () => {
    using folder = folderOf({ 'mine.js': PROFILE, 'drive_enrichment.ts': ENRICHMENT })
    expect(await warnings(folder, ['chroma'])).toEqual([])
    expect(await warnings(folder, ['c64'])).toEqual([])
    expect(await warnings(folder)).toEqual([])
  })

  it('for no lens is reported where all are open', async () => {
    using folder = folderOf({ 'other.js': 'export const profile = {}\n' })
    const expected = '`profiles` or `extensions`, or a class with a method `enrich`, or `contradictionDetector`'
    expect(await warnings(folder)).toEqual([`other.js was skipped: expected the module to export ${expected}`])
    expect(await warnings(folder, ['chroma'])).toEqual([])
  })

  it('whose name claims a lens that it is not for is reported by that lens (EN-022)', async () => {
    using folder = folderOf({
      'a_enrichment.js': 'export const enrich = () => ({})\n',
      'b_enrichment.ts': 'export class B { enrich() {} }\n',
      'c_enrichment.js': 'export class {',
    })
    const expected = [
      'a_enrichment.js was skipped: it exports no class with a method enrich',
      'b_enrichment.ts was skipped: its plugin needs a name, a text',
      expect.stringMatching(/^c_enrichment\.js was skipped: /),
    ]
    expect(await warnings(folder, ['c64'])).toEqual(expected)
    expect(await warnings(folder)).toEqual(expected)
  })
})

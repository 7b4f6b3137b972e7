import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadPlugins, type PluginRequest } from '../../../src/engine/plugins.ts'
import { Extensions } from '../../../src/lenses/chroma/profiles/query-profile.ts'
import { installPlugin, Profiles } from '../../../src/lenses/chroma/profiles/registry.ts'

const GOOD = 'export const profiles = { mine: { parseInput: () => ({ hashtags: ["#a"] }) } }\n'
const SPOILT = `export const extensions = [{ name: 'x', version: '1', columns: { fine: 'text' } }]
export const profiles = { yours: { parseInput() {} }, default: { parseInput() {} } }\n`

let home = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'querent-plugins-'))
  mkdirSync(join(home, 'plugins'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const put = (name: string, text: string): void => writeFileSync(join(home, 'plugins', name), text)

async function load(more: Partial<PluginRequest> = {}) {
  const [profiles, extensions] = [new Profiles(), new Extensions()]
  const report = await loadPlugins({
    folder: join(home, 'plugins'),
    trustFile: join(home, 'trusted-plugins.json'),
    install: exported => installPlugin(exported, { profiles, extensions }),
    ...more,
  })
  const own = profiles.names.filter(name => !['default', 'knowledge_patch', 'code_search'].includes(name))
  return { ...report, own, columns: [...extensions.types.keys()] }
}

describe('plug-ins', () => {
  it('are not run without a terminal, and are reported', async () => {
    put('bad.mjs', 'globalThis.pluginRan = true')
    const { loaded, warnings, own } = await load()
    expect({ loaded, own }).toEqual({ loaded: [], own: [] })
    expect(warnings).toEqual([expect.stringMatching(/bad\.mjs is not trusted .*--trust-plugins/)])
    expect('pluginRan' in globalThis).toBe(false)
  })

  it('are run when somebody says so; exactly these bytes again without asking', async () => {
    put('good.mjs', GOOD)
    const asked: string[] = []
    const trust = async (file: string) => asked.push(file) > 0
    expect((await load({ trust })).own).toEqual(['mine'])
    expect((await load({ trust })).own).toEqual(['mine'])
    expect((await load()).own).toEqual(['mine'])
    expect(asked).toHaveLength(1)
    put('good.mjs', GOOD.replace('mine', 'changed'))
    expect(await load()).toMatchObject({ own: [], warnings: [expect.stringContaining('has changed since')] })
    expect((await load({ trust })).own).toEqual(['changed'])
    expect(asked).toHaveLength(2)
  })

  it('that are refused are skipped and asked about again', async () => {
    put('good.mjs', GOOD)
    let asked = 0
    const trust = async () => {
      asked += 1
      return false
    }
    expect((await load({ trust })).own).toEqual([])
    expect((await load({ trust })).warnings).toHaveLength(1)
    expect(asked).toBe(2)
  })

  it('of a folder that is named are run without asking or remembering', async () => {
    put('good.mjs', GOOD)
    const trustedFolder = join(home, 'plugins')
    expect(await load({ trustedFolder })).toMatchObject({ own: ['mine'], warnings: [] })
    expect((await load()).own).toEqual([])
    const other = join(home, 'other')
    mkdirSync(other)
    writeFileSync(join(other, 'b.js'), 'export const profiles = { theirs: { parseInput() {} } }\n')
    expect(await load({ trustedFolder: other })).toMatchObject({ own: ['theirs'], warnings: [expect.any(String)] })
    await expect(load({ trustedFolder: join(home, 'nowhere') })).rejects.toMatchObject({ code: 'io_failed' })
  })

  it('that fail are reported and skipped whole; the others stay', async () => {
    put('a.mjs', 'throw new Error("at once")')
    put('b.mjs', 'not a module')
    put('c.mjs', 'export const nothing = 1')
    put('d.mjs', SPOILT)
    put('e.mjs', GOOD)
    put('f.txt', 'no module')
    const { own, columns, warnings, loaded } = await load({ trust: async () => true })
    expect({ own, columns, loaded: loaded.length }).toEqual({ own: ['mine'], columns: [], loaded: 1 })
    expect(warnings.map(line => line.replace(/^.*[/\\]/, '').slice(0, 5))).toEqual(['a.mjs', 'b.mjs', 'c.mjs', 'd.mjs'])
    expect(warnings[0]).toContain('at once')
  })

  it('are none without a folder, and a trust file that is spoilt trusts nothing', async () => {
    expect(await load({ folder: join(home, 'none') })).toMatchObject({ loaded: [], warnings: [] })
    put('good.mjs', GOOD)
    writeFileSync(join(home, 'trusted-plugins.json'), '{"x": 1')
    expect((await load()).own).toEqual([])
    await load({ trust: async () => true })
    expect(Object.values(JSON.parse(readFileSync(join(home, 'trusted-plugins.json'), 'utf8')))).toHaveLength(1)
  })
})

/** What the guide to query profiles shows is what happens (CQ-148). */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { loadPlugins } from '../../../../../src/engine/plugins.ts'
import { Extensions } from '../../../../../src/lenses/chroma/profiles/query-profile.ts'
import { installPlugin, Profiles } from '../../../../../src/lenses/chroma/profiles/registry.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'

const page = readFileSync(new URL('../../../../../docs/guide/query-profiles.md', import.meta.url), 'utf8')
const blocks = (language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(match => match[1] ?? '')
const programs = blocks('ts').map((program, at) => ({ at, program, printed: blocks('text')[at] }))

async function printedBy(program: string): Promise<string> {
  using folder = tempFolder()
  const file = folder.file('program.ts')
  writeFileSync(file, program.replace("'querent'", `'${new URL('../../../../../src/index.ts', import.meta.url)}'`))
  return (await promisify(execFile)(process.execPath, [file])).stdout
}

describe('the guide to query profiles', () => {
  it('has a program for each part (CQ-148)', () => {
    expect(programs).toHaveLength(5)
    expect(blocks('text')).toHaveLength(5)
  })

  it.each(programs)('shows what program $at prints (CQ-148)', async ({ program, printed }) => {
    expect(await printedBy(program)).toBe(printed)
  })

  it('has a plug-in that loads (CQ-148)', async () => {
    using folder = tempFolder()
    writeFileSync(folder.file('shout.mjs'), blocks('js')[0] ?? '')
    const [profiles, extensions] = [new Profiles(), new Extensions()]
    const report = await loadPlugins({
      folder: folder.file('plugins'),
      trustFile: folder.file('trusted-plugins.json'),
      trustedFolder: folder.path,
      install: exported => installPlugin(exported, { profiles, extensions }),
    })
    expect(report.warnings).toEqual([])
    expect(profiles.names).toContain('shout')
  })
})

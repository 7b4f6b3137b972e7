/** What the guide to enrichment shows is what happens (EN-076, EN-077). */
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { tempFolder } from '../support/temp-folder.ts'

const page = readFileSync(new URL('../../docs/guide/enrichment.md', import.meta.url), 'utf8')
const blocks = (language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(match => match[1] ?? '')
const programs = blocks('ts').map((program, at) => ({ at, program, printed: blocks('text')[at] }))

describe('the guide to enrichment', () => {
  it('has what each of its programs prints (EN-076)', () => {
    expect(programs).toHaveLength(4)
    expect(blocks('text')).toHaveLength(4)
  })

  it.each(programs)('shows what program $at prints (EN-076, EN-077)', async ({ program, printed }) => {
    using folder = tempFolder()
    mkdirSync(folder.file('plugins'))
    writeFileSync(folder.file('plugins/port_enrichment.js'), blocks('js')[0] ?? '')
    const file = folder.file('program.ts')
    writeFileSync(file, program.replace("'querent'", `'${new URL('../../src/index.ts', import.meta.url)}'`))
    const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: folder.path })
    expect(stdout).toBe(printed)
  })
})

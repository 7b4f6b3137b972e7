/** The lens that the guide shows in at most 60 lines runs, and prints what the guide says. */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { tempFolder } from '../support/temp-folder.ts'

const page = readFileSync(new URL('../../docs/guide/lenses.md', import.meta.url), 'utf8')
const block = (language: string): string => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? ''

it('shows a lens of at most 60 lines with what it prints (QE-020)', async () => {
  using folder = tempFolder()
  const program = block('ts')
  expect(program.trim().split('\n').length).toBeLessThanOrEqual(60)
  const from = { querent: new URL('../../src/index.ts', import.meta.url).href, zod: import.meta.resolve('zod') }
  const file = folder.file('lens.ts')
  writeFileSync(file, program.replace("'querent'", `'${from.querent}'`).replace("'zod'", `'${from.zod}'`))
  const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(`file://${file}`)], {
    cwd: folder.path,
  })
  expect(stdout).toBe(block('text'))
})

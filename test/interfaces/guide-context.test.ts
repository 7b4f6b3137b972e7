/** What the guide to the lens context shows is what happens. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { blocks, guidePage, pattern, printedBy, runSession } from '../support/guide-page.ts'
import { runInProcess } from '../support/in-process.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'

const page = guidePage('context.md')

/** With the files that the page shows. */
function project(): TempFolder {
  const folder = tempFolder()
  for (const [, name = '', text = ''] of page.matchAll(/```ts (\S+)\n([\s\S]*?)```/g)) {
    mkdirSync(dirname(join(folder.path, name)), { recursive: true })
    writeFileSync(join(folder.path, name), text)
  }
  // The tools of the test are no part of the project.
  writeFileSync(join(folder.path, '.querentignore'), '/*\n!/src\n')
  return folder
}

describe('the guide to context', () => {
  it('shows what its commands print', { timeout: 60_000 }, async () => {
    using folder = project()
    const steps = await runSession(page, folder.path, { QUERENT_EMBEDDER: 'none' })
    for (const { command, shown, printed } of steps) expect(printed, `$ ${command}`).toMatch(pattern(shown))
    expect(steps.length).toBeGreaterThan(6)
  })

  it('shows what its program prints', async () => {
    using folder = project()
    mkdirSync(join(folder.path, '.querent'))
    expect(await printedBy(blocks(page, 'ts')[0] ?? '', folder.path)).toBe(blocks(page, 'text')[0])
  })

  it('names every command and every option as they are', async () => {
    using folder = tempFolder()
    const helpOf = async (...args: readonly string[]): Promise<string> =>
      (await runInProcess([...args, '--help'], { workingFolder: folder.path })).stdout
    const commands = [...(await helpOf('context')).matchAll(/^ {2}([a-z]+) \[options\]/gm)].map(match => match[1] ?? '')
    expect(commands.length).toBeGreaterThanOrEqual(5)
    const table = page.split('## The command line')[1]?.split('\n## ')[0] ?? ''
    expect(commands.filter(name => !new RegExp(`\`${name}[ \`]`).test(table))).toEqual([])
    const helps = await Promise.all([helpOf('add'), ...commands.map(name => helpOf('context', name))])
    const options = [...page.matchAll(/--[a-z][a-z-]+/g)].map(match => match[0])
    expect(options.filter(option => !helps.some(help => help.includes(option)))).toEqual([])
  })
})

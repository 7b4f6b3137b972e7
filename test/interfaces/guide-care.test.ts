/** What the guide says to do when something goes wrong is what helps. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { guidePage, pattern, runSession } from '../support/guide-page.ts'
import { runInProcess } from '../support/in-process.ts'
import { tempFolder } from '../support/temp-folder.ts'

const page = guidePage('when-something-goes-wrong.md')

describe('the guide to what goes wrong', () => {
  it('shows what its commands print', { timeout: 120_000 }, async () => {
    using folder = tempFolder()
    const steps = await runSession(page, folder.path)
    for (const { command, shown, printed } of steps) expect(printed, `$ ${command}`).toMatch(pattern(shown))
    expect(steps.length).toBeGreaterThan(9)
  })

  it('explains every finding there is, and no others', () => {
    const explained = [...page.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell]) =>
      [...(cell ?? '').matchAll(/`([a-z ]+?)(?: <\w+>)?`/g)].map(match => match[1]),
    )
    const names = [
      /\bfinding\(\s*'([a-z ]+)'/g,
      /\bname: '([a-z ]+)',\n {2}sound/g,
      /PAGES = '(pages)'/g,
      /check: '(file)'/g,
    ]
    const prefixed = [/`(snapshot|index|lens|job) \$\{/g, /looked(?:Long)?\('(home|file|pages|store)'/g]
    const found = sources().flatMap(text =>
      [...names, ...prefixed].flatMap(name => [...text.matchAll(name)].map(match => match[1])),
    )
    expect([...new Set(explained)].filter(name => name !== undefined).sort()).toEqual([...new Set(found)].sort())
  })

  it('names options as they are', async () => {
    using folder = tempFolder()
    const helpOf = async (command: string) =>
      (await runInProcess([command, '--help'], { workingFolder: folder.path })).stdout
    const helps = (await Promise.all(['doctor', 'backup', 'export'].map(helpOf))).join()
    const options = [...page.matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(match => match[0])
    expect(options.filter(option => !helps.includes(option))).toEqual([])
  })
})

function sources(): readonly string[] {
  return ['engine/care', 'store/care'].flatMap(folder => {
    const at = new URL(`../../src/${folder}/`, import.meta.url)
    return readdirSync(at).map(name => readFileSync(new URL(name, at), 'utf8'))
  })
}

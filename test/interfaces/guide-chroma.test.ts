/** What the guide to the lens chroma shows is what happens. */
import { describe, expect, it } from 'vitest'
import { CHROMA_OPERATIONS } from '../../src/lenses/chroma/operations.ts'
import { SETTING_KEYS } from '../../src/lenses/chroma/settings.ts'
import { blocks, guidePage, pattern, printedBy, runSession } from '../support/guide-page.ts'
import { runInProcess } from '../support/in-process.ts'
import { tempFolder } from '../support/temp-folder.ts'

const page = guidePage('chroma.md')

describe('the guide to chroma', () => {
  it('shows what its commands print', { timeout: 60_000 }, async () => {
    using folder = tempFolder()
    const steps = await runSession(page, folder.path)
    for (const { command, shown, printed } of steps) expect(printed, `$ ${command}`).toMatch(pattern(shown))
    expect(steps.length).toBeGreaterThan(8)
  })

  it('shows what its program prints', async () => {
    using folder = tempFolder()
    expect(await printedBy(blocks(page, 'ts')[0] ?? '', folder.path)).toBe(blocks(page, 'text')[0])
  })

  it('names every operation, every setting and its variable, and no others', () => {
    const named = (what: RegExp, text = page) => [...new Set([...text.matchAll(what)].map(match => match[1]))].sort()
    const operations = page.split('## Operations')[1]?.split('\n## ')[0]
    expect(named(/`(chroma\.[a-z_]+)`/g, operations)).toEqual(CHROMA_OPERATIONS.map(({ name }) => name).sort())
    expect(named(/^\| `([a-z]+\.[a-z_]+)` /gm)).toEqual(SETTING_KEYS.map(({ name }) => name).sort())
    const variables = SETTING_KEYS.map(({ name }) => `CHROMA_${name.replace('.', '_').toUpperCase()}`)
    expect(named(/`(CHROMA_[A-Z_]+)`/g)).toEqual(variables.sort())
  })

  it('names every command and every option as they are', async () => {
    using folder = tempFolder()
    const helpOf = async (...args: readonly string[]): Promise<string> =>
      (await runInProcess([...args, '--help'], { workingFolder: folder.path })).stdout
    const commands = [...(await helpOf('chroma')).matchAll(/^ {2}([a-z]+) \[options\]/gm)].map(match => match[1] ?? '')
    const table = page.split('## The command line')[1]?.split('\n## ')[0] ?? ''
    expect(commands.filter(name => !new RegExp(`\`${name}[ \`]`).test(table))).toEqual([])
    const helps = await Promise.all([helpOf('query'), ...commands.map(name => helpOf('chroma', name))])
    const options = [...page.matchAll(/--[a-z][a-z-]+/g)].map(match => match[0])
    expect(options.filter(option => !helps.some(help => help.includes(option)))).toEqual([])
  })
})

/** What the guide to the lens beliefs shows is what happens. */
import { describe, expect, it } from 'vitest'
import { checkSettings } from '../../src/lenses/beliefs/beliefs-settings.ts'
import { BELIEFS_OPERATIONS } from '../../src/lenses/beliefs/operations/beliefs-operations.ts'
import { blocks, guidePage, pattern, printedBy, runSession } from '../support/guide-page.ts'
import { runInProcess } from '../support/in-process.ts'
import { modelFolder } from '../support/model.ts'
import { tempFolder } from '../support/temp-folder.ts'

const page = guidePage('beliefs.md')
const aggregatesPage = guidePage('beliefs-aggregates.md')
const settingsPage = guidePage('beliefs-settings.md')
/** Asks with the model, unlike other guides. */
const env = { QUERENT_EMBEDDER: 'local' }
modelFolder()

describe('the guide to beliefs', () => {
  it('shows what its commands print', { timeout: 120_000 }, async () => {
    using folder = tempFolder()
    const steps = await runSession(page, folder.path, env)
    for (const { command, shown, printed } of steps) expect(printed, `$ ${command}`).toMatch(pattern(shown))
    expect(steps.length).toBeGreaterThan(20)
  })

  it('shows what the commands of its page about aggregates print', { timeout: 60_000 }, async () => {
    using folder = tempFolder()
    const steps = await runSession(aggregatesPage, folder.path, env)
    for (const { command, shown, printed } of steps) expect(printed, `$ ${command}`).toMatch(pattern(shown))
    expect(steps).toHaveLength(2)
  })

  it('shows what its program prints', { timeout: 60_000 }, async () => {
    using folder = tempFolder()
    expect(await printedBy(blocks(page, 'ts')[0] ?? '', folder.path, 'program.ts', env)).toBe(blocks(page, 'text')[0])
  })

  it('names every operation and every setting, and no others', () => {
    const named = (what: RegExp, text: string, part: string) =>
      [...(text.split(part)[1]?.split('\n## ')[0] ?? '').matchAll(what)].map(match => match[1] ?? '')
    const operations = named(/`((?:beliefs|trust|agents|federations|peers|nodes)\.[a-z_]+)`/g, page, '\n## Operations')
    expect(operations.sort()).toEqual(BELIEFS_OPERATIONS.map(({ name }) => name).sort())
    const settings = named(/^\| `([a-z_]+)` /gm, settingsPage, '\n## Settings')
    expect(() => checkSettings({ nonsense: 1 })).toThrow(`one of ${settings.join(', ')}, got`)
  })

  it('names every command, and every option as it is', async () => {
    using folder = tempFolder()
    const helpOf = async (...args: readonly string[]): Promise<string> =>
      (await runInProcess([...args, '--help'], { workingFolder: folder.path })).stdout
    const helps: string[] = []
    for (const group of ['beliefs', 'trust', 'agents', 'federations']) {
      const names = [...(await helpOf(group)).matchAll(/^ {2}([a-z-]+) \[options\]/gm)].map(match => match[1] ?? '')
      for (const name of names) helps.push(await helpOf(group, name))
    }
    const options = [...`${page}${aggregatesPage}${settingsPage}`.matchAll(/--[a-z][a-z-]+/g)].map(match => match[0])
    expect(options.filter(option => !helps.some(help => help.includes(option)))).toEqual([])
  })
})

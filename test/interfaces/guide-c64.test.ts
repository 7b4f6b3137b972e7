/** What the guide to the lens c64 shows is what happens. */
import { describe, expect, it } from 'vitest'
import { C64_OPERATIONS } from '../../src/lenses/c64/operations.ts'
import { blocks, guidePage, pattern, printedBy, runSession } from '../support/guide-page.ts'
import { runInProcess } from '../support/in-process.ts'
import { tempFolder } from '../support/temp-folder.ts'

const page = guidePage('c64.md')

describe('the guide to c64', () => {
  it('shows what its commands print (EN-070, EN-072)', async () => {
    using folder = tempFolder()
    const steps = await runSession(page, folder.path)
    const sorted = (text: string) =>
      text
        .replace(/score=0\.\d+/g, 'score=…')
        .split('\n')
        .filter(Boolean)
        .sort()
        .join('\n')
    for (const { command, shown, printed } of steps) {
      // Two streams meet in any order.
      expect(sorted(printed), `$ ${command}`).toMatch(pattern(sorted(shown)))
    }
    expect(steps).toHaveLength(2)
  })

  it('shows what its program prints', async () => {
    using folder = tempFolder()
    expect(await printedBy(blocks(page, 'ts')[0] ?? '', folder.path)).toBe(blocks(page, 'text')[0])
  })

  it('names every operation, and options as they are', async () => {
    using folder = tempFolder()
    const named = [...new Set([...page.matchAll(/`(c64\.[a-z_]+)`/g)].map(match => match[1]))].sort()
    expect(named.filter(name => name !== 'c64.md')).toEqual(C64_OPERATIONS.map(({ name }) => name).sort())
    const helpOf = async (...args: readonly string[]) =>
      (await runInProcess([...args, '--help'], { workingFolder: folder.path })).stdout
    const helps = (
      await Promise.all([helpOf('c64'), helpOf('add'), helpOf('query'), helpOf('skills', 'install')])
    ).join()
    const options = [...page.matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(match => match[0])
    expect(options.filter(option => !helps.includes(option))).toEqual([])
    const own = [...(await helpOf('c64')).matchAll(/^ {2}(--[a-z-]+)/gm)].map(match => match[1] ?? '')
    const shared = ['--home', '--viewer', '--now']
    expect(own.filter(option => !shared.includes(option) && !page.includes(option))).toEqual([])
  })
})

/** What the guide shows is what happens: its commands and its programs are run, and their output compared. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blocks, guidePage, pattern, printedBy, runSession } from '../support/guide-page.ts'
import { runInProcess } from '../support/in-process.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'querent-guide-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the command line guide', () => {
  it('shows what its commands print', async () => {
    cpSync(join(root, 'examples/notes'), join(folder, 'notes'), { recursive: true })
    const steps = await runSession(guidePage('cli.md'), folder)
    for (const { command, shown, printed } of steps) expect(printed, `$ ${command}`).toMatch(pattern(shown))
    expect(steps.length).toBeGreaterThan(8)
  }, 60_000)

  it('names every command and every option that it mentions as they are', async () => {
    const helpOf = async (...args: readonly string[]): Promise<string> =>
      (await runInProcess([...args, '--help'], { workingFolder: folder })).stdout
    const help = await helpOf()
    const commands = [...help.matchAll(/^ {2}([a-z]+) \[options\]/gm)].map(match => match[1] ?? '')
    const table = guidePage('cli.md').split('## Commands')[1]?.split('\n## ')[0] ?? ''
    const named = [...table.matchAll(/`([a-z]+)[ `]/g)].map(match => match[1])
    expect(commands.filter(command => !named.includes(command))).toEqual([])
    const helps = await Promise.all(commands.map(command => helpOf(command)))
    const options = [...guidePage('cli.md').matchAll(/--[a-z][a-z-]+/g)]
      .map(match => match[0])
      .filter(name => name !== '--help')
    expect(options.filter(option => !helps.some(text => text.includes(option)))).toEqual([])
  }, 60_000)
})

describe('the library guide', () => {
  const page = guidePage('library.md')
  const programs = blocks(page, 'ts')
  const prints = blocks(page, 'text')

  it.each(programs.map((program, at) => ({ at, program, printed: prints[at] })))(
    'shows what program $at prints',
    async ({ at, program, printed }) => {
      expect(await printedBy(program, folder, `program-${at}.ts`)).toBe(printed)
    },
  )
})

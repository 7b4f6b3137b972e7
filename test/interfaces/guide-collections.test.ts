/** What the guide to the lens collections shows is what happens. */
import { describe, expect, it } from 'vitest'
import { COLLECTIONS_OPERATIONS } from '../../src/lenses/collections/operations.ts'
import { blocks, guidePage, pattern, printedBy, runSession } from '../support/guide-page.ts'
import { runInProcess } from '../support/in-process.ts'
import { modelFolder } from '../support/model.ts'
import { tempFolder } from '../support/temp-folder.ts'

const page = guidePage('collections.md')
/** Asks with the model, unlike other guides. */
const env = { QUERENT_EMBEDDER: 'local' }
modelFolder()

describe('the guide to collections', () => {
  it('shows what its commands print', { timeout: 60_000 }, async () => {
    using folder = tempFolder()
    const steps = await runSession(page, folder.path, env)
    for (const { command, shown, printed } of steps) expect(printed, `$ ${command}`).toMatch(pattern(shown))
    expect(steps.length).toBeGreaterThan(10)
  })

  it('shows what its program prints', async () => {
    using folder = tempFolder()
    expect(await printedBy(blocks(page, 'ts')[0] ?? '', folder.path, 'program.ts', env)).toBe(blocks(page, 'text')[0])
  })

  it('lists the skill in a table, names the command with its flags, the agent and the collections (CO-069)', () => {
    expect(page).toMatch(
      /^\| `chroma-query` \| `\/chroma-query "[^"]+" \[--days N\] \[--collection items\\\|analysis\\\|both\]` \|/m,
    )
    expect(page).toContain('claude --agent chroma-agent')
    for (const collection of ['items', 'analysis']) expect(page).toMatch(new RegExp(`^- \`${collection}\`: .{20}`, 'm'))
  })

  it('names every flag and every operation as they are (CO-069)', async () => {
    using folder = tempFolder()
    const helpOf = async (...args: readonly string[]): Promise<string> =>
      (await runInProcess([...args, '--help'], { workingFolder: folder.path })).stdout
    const own = await helpOf('collections')
    const table = page.split('| Flag |')[1]?.split('\n\n')[0] ?? ''
    const flags = [...own.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, flag = '']) => flag)
    expect(flags.filter(flag => !table.includes(`\`${flag}`))).toEqual([])
    const helps = [own, ...(await Promise.all([helpOf('add'), helpOf('mirror'), helpOf('skills', 'install')]))]
    const named = [...page.replaceAll('--agent', '').matchAll(/--[a-z][a-z-]+/g)].map(([flag]) => flag)
    expect(named.filter(flag => !helps.some(help => help.includes(flag)))).toEqual([])
    const operations = [...new Set([...page.matchAll(/\bcollections\.(?!md)[a-z]+/g)].map(([name]) => name))]
    expect(operations.sort()).toEqual(COLLECTIONS_OPERATIONS.map(({ name }) => name).sort())
  })
})

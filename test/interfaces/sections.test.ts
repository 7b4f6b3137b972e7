/** The section of an excerpt, and its beginning at a sentence, are the same at every interface (QE-008). */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Item, Page } from '../../src/model/page.ts'
import { querentHere } from '../support/in-process.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { INTERFACES } from './interfaces.ts'
import { MCP_ENV } from './mcp-client.ts'

const GUIDE = [
  '# Backups\n\nKeep three copies.\n',
  '## Restoring\n',
  `${'A copy that nobody has tried is none, as everyone knows. '.repeat(8)}`,
  'Stop the service before the zorblax is restored. Then start it again.\n',
  `\n${'Nothing else has to be done here. '.repeat(6)}\n`,
].join('\n')

it('an excerpt begins at a sentence and has the path of its section over the library, CLI, HTTP and MCP (QE-008)', async () => {
  using home = tempFolder()
  writeFileSync(join(home.path, 'backup.md'), GUIDE)
  expect(await querentHere(['init'], { cwd: home.path, env: MCP_ENV })).toMatchObject({ status: 0 })
  expect(await querentHere(['add', 'backup.md'], { cwd: home.path, env: MCP_ENV })).toMatchObject({ status: 0 })
  const seen: Item['excerpt'][] = []
  for (const open of Object.values(INTERFACES)) {
    await using made = await open({
      home: join(home.path, '.querent'),
      now: '2026-03-01T12:00:00.000Z',
      embedder: 'none',
    })
    const { result } = (await made.call('query', { text: 'zorblax' })) as { readonly result: Page }
    seen.push((result.items[0] as Item).excerpt)
  }
  expect(seen.length).toBe(5)
  for (const excerpt of seen) {
    expect(excerpt).toEqual(seen[0])
    expect(excerpt.section).toEqual(['Backups', 'Restoring'])
    expect(excerpt.text).toMatch(/^Stop the service before the zorblax is restored\./)
    expect(excerpt.cut_start).toBeUndefined()
  }
}, 120_000)

it('the terminal prints the section behind the lines (QE-008)', async () => {
  using home = tempFolder()
  writeFileSync(join(home.path, 'backup.md'), GUIDE)
  await querentHere(['init'], { cwd: home.path, env: MCP_ENV })
  await querentHere(['add', 'backup.md'], { cwd: home.path, env: MCP_ENV })
  const { stdout } = await querentHere(['query', 'zorblax'], { cwd: home.path, env: MCP_ENV })
  expect(stdout).toMatch(/^1\. Backups {2}backup\.md:\d+(-\d+)? {2}Backups › Restoring {2}\d\.\d{3} /)
  const markdown = await querentHere(['query', 'zorblax', '--format', 'md'], { cwd: home.path, env: MCP_ENV })
  expect(markdown.stdout).toMatch(/^backup\.md:\d+(-\d+)? {2}Backups › Restoring, score /m)
})

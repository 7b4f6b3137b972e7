/** The section of an excerpt, and its beginning at a sentence (QE-008); `equal-answers` has them at every interface. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Item, Page } from '../../src/model/page.ts'
import { querentHere } from '../support/in-process.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { MCP_ENV } from './mcp-client.ts'

const GUIDE = [
  '# Backups\n\nKeep three copies.\n',
  '## Restoring\n',
  `${'A copy that nobody has tried is none, as everyone knows. '.repeat(8)}`,
  'Stop the service before the zorblax is restored. Then start it again.\n',
  `\n${'Nothing else has to be done here. '.repeat(6)}\n`,
].join('\n')

it('an excerpt begins at a sentence and has the path of its section, which the terminal prints behind the lines (QE-008)', async () => {
  using home = tempFolder()
  writeFileSync(join(home.path, 'backup.md'), GUIDE)
  const run = async (...args: readonly string[]) => (await querentHere(args, { cwd: home.path, env: MCP_ENV })).stdout
  await run('init')
  await run('add', 'backup.md')
  const page = JSON.parse(await run('query', 'zorblax', '--json')) as Page
  const { section, text, cut_start } = (page.items[0] as Item).excerpt
  expect(section).toEqual(['Backups', 'Restoring'])
  expect(text).toMatch(/^Stop the service before the zorblax is restored\./)
  expect(cut_start).toBeUndefined()
  expect(await run('query', 'zorblax')).toMatch(
    /^1\. Backups {2}backup\.md:\d+(-\d+)? {2}Backups › Restoring {2}\d\.\d{3} /,
  )
  expect(await run('query', 'zorblax', '--format', 'md')).toMatch(
    /^backup\.md:\d+(-\d+)? {2}Backups › Restoring, score /m,
  )
})

/** What the guide to MCP shows is what happens. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { querent } from '../support/command.ts'
import { blocks, guidePage, pattern, runSession } from '../support/guide-page.ts'
import { MCP_ENV, overStdio } from './mcp-client.ts'

const page = guidePage('mcp.md')

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'querent-guide-mcp-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('shows what its commands print', async () => {
  const steps = await runSession(page, folder)
  for (const { command, shown, printed } of steps) expect(printed, `$ ${command}`).toMatch(pattern(shown))
  expect(steps).toHaveLength(3)
})

it('shows an error as it is told', async () => {
  const other = join(folder, 'other')
  await querent(['init', '--home', other], { cwd: folder, env: MCP_ENV })
  const client = await overStdio(folder, ['--home', other])
  const { content } = await client.callTool({ name: 'get', arguments: { id: 'nothing' } })
  const told = content.map(part => (part.type === 'text' ? part.text : '')).join('\n')
  expect(`${told}\n`).toBe(blocks(page, 'text')[0])
  await client.close()
})

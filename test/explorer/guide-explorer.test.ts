/** The commands of the guide to the explorer: what they print, and that the page is where they say. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ended, start } from '../support/command.ts'
import { blocks, guidePage, runSession } from '../support/guide-page.ts'

const sessions = blocks(guidePage('explorer.md'), 'console')

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'querent-guide-explorer-'))
  cpSync(fileURLToPath(new URL('../../examples/notes', import.meta.url)), join(folder, 'notes'), { recursive: true })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('adds notes and serves a page about them in two commands', async () => {
  const [add = '', serve = ''] = (sessions[0] ?? '').split(/^(?=\$ querent serve)/m)
  const [added] = await runSession(`\`\`\`console\n${add}\`\`\`\n`, folder)
  expect(added?.printed).not.toBe('')
  const [command = '', shown = ''] = serve.trimEnd().split('\n')
  expect(command).toBe('$ querent serve')
  const server = start(['serve', '--port', '0'], { cwd: folder })
  const over = ended(server)
  const said = await new Promise<string>(resolve => server.stderr?.once('data', part => resolve(String(part))))
  expect(said.replace(/:\d+\b/, ':7411')).toContain(shown)
  const page = await fetch(/http:\S+/.exec(said)?.[0] ?? '')
  expect(await page.text()).toContain('<title>Querent</title>')
  server.kill('SIGTERM')
  expect(await over).toBe(0)
})

/** What the guide to serving shows is what happens: its commands, its log, the end. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { start } from '../support/command.ts'
import { blocks, guidePage, hasCurl, pattern, runSession } from '../support/guide-page.ts'
import { querentHere } from '../support/in-process.ts'
import { type Serving, servingOf, startServer } from '../support/serving.ts'
import { tokensOf } from '../support/tokens.ts'

const page = guidePage('serving.md')
/** `querent serve …` as the page shows it, also in the unit. */
const commands = [...page.matchAll(/querent (serve --[^\n`]+)/g)].map(match => (match[1] ?? '').split(' '))

let folder = ''
let server: Serving
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'querent-guide-serving-'))
  cpSync(fileURLToPath(new URL('../../examples/notes', import.meta.url)), join(folder, 'notes'), { recursive: true })
  expect(await querentHere(['add', 'notes'], { cwd: folder })).toMatchObject({ status: 0 })
  server = await startServer(['serve', '--log', 'text'], folder)
})
afterAll(async () => {
  expect(await server.end()).toBe(0)
  rmSync(folder, { recursive: true, force: true })
})

describe('the guide to serving', () => {
  it.skipIf(!hasCurl)('shows what its commands print (where curl is)', async () => {
    const steps = await runSession(page.replaceAll('http://127.0.0.1:7411', server.url), folder)
    for (const { command, shown, printed } of steps) expect(printed, `$ ${command}`).toMatch(pattern(shown))
    expect(steps.length).toBeGreaterThan(8)
  })

  it('shows the log as it is written', async () => {
    const before = server.stderr().length
    for (const limit of [1, 0]) {
      await fetch(`${server.url}/v1/query`, { method: 'POST', body: JSON.stringify({ text: 'backup', limit }) })
    }
    const lines = (): string => server.stderr().slice(before)
    while (lines().split('\n').length < 3) await new Promise(resolve => setTimeout(resolve, 10))
    expect(lines()).toMatch(pattern(blocks(page, 'text')[0] ?? ''))
  })

  it('starts servers as it says, which end in good order', async () => {
    writeFileSync(join(folder, 'tokens.json'), JSON.stringify(tokensOf('ana')), { mode: 0o600 })
    expect(commands.length).toBeGreaterThan(3)
    for (const [at, command] of commands.entries()) {
      const local = command.map(part =>
        part.replace('/var/lib/querent', join(folder, `home-${at}`)).replace('/etc/querent', folder),
      )
      if (local.includes('0.0.0.0') && !local.includes('--tokens')) continue
      if (local.includes('--socket')) {
        const own = await servingOf(start(local, { cwd: folder }))
        expect(own.url, command.join(' ')).toMatch(/^unix:.*querent[.]sock$/)
        expect(await own.end()).toBe(0)
        continue
      }
      const started = await startServer(local, folder)
      const url = started.url.replace('0.0.0.0', '127.0.0.1')
      expect((await fetch(`${url}/healthz`)).status, command.join(' ')).toBe(200)
      const isOpen = !local.includes('--tokens')
      expect((await fetch(`${url}/v1/status`)).status, command.join(' ')).toBe(isOpen ? 200 : 401)
      expect(await started.end()).toBe(0)
    }
  })
})

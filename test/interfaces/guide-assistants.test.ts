/** What the guides to assistants and to the first five minutes show is what happens. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { MCP_CLIENTS } from '../../src/interfaces/cli/commands/mcp-install.ts'
import { guidePage, pattern, runSession } from '../support/guide-page.ts'
import { modelFolder } from '../support/model.ts'
import { tempFolder } from '../support/temp-folder.ts'

const notes = fileURLToPath(new URL('../../examples/notes', import.meta.url))

describe.each([
  ['assistants.md', 6, 'none'],
  ['five-minutes.md', 7, 'local'],
])('the guide %s', (name, steps, embedder) => {
  it('shows what its commands print', { timeout: 240_000 }, async () => {
    using folder = tempFolder()
    cpSync(notes, join(folder.path, 'notes'), { recursive: true })
    const model = embedder === 'local' ? { QUERENT_EMBEDDER_FOLDER: await modelFolder() } : {}
    const more = { HOME: folder.path, QUERENT_EMBEDDER: embedder, ...model }
    const ran = await runSession(guidePage(name), folder.path, more)
    for (const { command, shown, printed } of ran) expect(printed, `$ ${command}`).toMatch(pattern(shown))
    expect(ran).toHaveLength(steps)
  })
})

it('the guide to assistants lists every client', () => {
  const page = guidePage('assistants.md')
  expect(MCP_CLIENTS.filter(({ name }) => !page.includes(`\`${name}\``))).toEqual([])
})

/** CX-078: agents and programs ask the code with the defaults of the command; the contract by path keeps its own. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ended, start } from '../support/command.ts'
import { querentHere } from '../support/in-process.ts'
import { ask, mcpClient } from './mcp-client.ts'

const env = { QUERENT_EMBEDDER: 'none' }
const ASKED = 'tokens of a session'

let folder = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'querent-presets-'))
  mkdirSync(join(folder, 'src'))
  const padding = Array.from({ length: 60 }, (_, at) => `export const filler${at} = ${at}`).join('\n')
  const session = '/** Makes the tokens of a session. */\nexport function sessionTokens(): string {\n  return "x"\n}\n'
  writeFileSync(join(folder, 'src/session.ts'), `${padding}\n${session}`)
  writeFileSync(
    join(folder, 'src/other.ts'),
    `import { sessionTokens } from './session.ts'\nexport const t = sessionTokens()\n`,
  )
  await querentHere(['init'], { cwd: folder, env })
  expect(await querentHere(['context', 'index', 'src'], { cwd: folder, env })).toMatchObject({ status: 0 })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Found {
  readonly result: { readonly concepts: readonly object[]; readonly files: readonly { readonly preview: string }[] }
}

it('code is asked over MCP, and over HTTP by the operation, as the command asks (CX-078)', async () => {
  const byCommand = await querentHere(['context', 'query', ASKED, '--json'], { cwd: folder, env })
  const { result } = JSON.parse(byCommand.stdout) as Found
  expect(result.files[0]?.preview).toContain('sessionTokens')
  expect(result.files[0]?.preview).not.toContain('filler0')

  const client = await mcpClient(folder)
  expect(await ask(client, 'code', { query: ASKED })).toMatchObject({ status: 'success', result })
  const short = await client.callTool({ name: 'code', arguments: { query: ASKED, max_tokens: 150 } })
  expect(short.isError).toBeUndefined()
  await client.close()

  const child = start(['serve', '--port', '0'], { cwd: folder, env })
  const url = await new Promise<string>(resolve => {
    child.stderr?.on('data', part => resolve(/http:\S+/.exec(String(part))?.[0] ?? ''))
  })
  const post = async (path: string, input: object): Promise<Found> => {
    const response = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(input) })
    return (await response.json()) as Found
  }
  expect(await post('/v1/ops/context.query', { query: ASKED })).toMatchObject({ status: 'success', result })
  const byPath = await post('/v1/call', { path: '/context/query', params: { query: 'sessionTokens' } })
  expect(byPath.result.concepts[0]).not.toHaveProperty('score')
  expect(byPath.result.files[0]?.preview).toContain('filler0')
  child.kill('SIGTERM')
  expect(await ended(child)).toBe(0)
})

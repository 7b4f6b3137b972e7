/** `mcp --list-tools`: what is printed is what a client is sent, and no set of tools costs an agent more than stated. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { querentHere } from '../support/in-process.ts'
import { MCP_ENV, mcpClient } from './mcp-client.ts'

let folder = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'querent-mcp-tools-'))
  expect(await querentHere(['init'], { cwd: folder, env: MCP_ENV })).toMatchObject({ status: 0 })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const list = (...args: readonly string[]) =>
  querentHere(['mcp', '--list-tools', ...args], { cwd: folder, env: MCP_ENV })

describe('the list of tools', () => {
  it.each([
    [undefined, 1600],
    ['beliefs', 3000],
    ['c64', 600],
    ['chroma', 2500],
    ['collections', 900],
    ['context', 1800],
    ['conversations', 1200],
  ])('of the lens %s costs less than %i tokens, and is what a client is sent', async (lens, most) => {
    const args = lens === undefined ? [] : ['--lens', lens]
    const { stdout, status } = await list(...args, '--json')
    expect(status).toBe(0)
    const printed = JSON.parse(stdout)
    expect(printed).toMatchObject({ lenses: lens === undefined ? [] : [lens] })
    expect(printed.tokens).toBeLessThan(most)
    expect(printed.tokens).toBe(printed.tools.reduce((sum: number, tool: { tokens: number }) => sum + tool.tokens, 0))
    const client = await mcpClient(folder, args)
    const { tools } = await client.listTools()
    await client.close()
    expect(printed.tools.map(({ name }: { name: string }) => name)).toEqual(tools.map(({ name }) => name))
    const sent = tools.reduce((sum, tool) => sum + encode(JSON.stringify(tool)).length, 0)
    expect(Math.abs(printed.tokens - sent) / sent).toBeLessThan(0.15)
  })

  it('is a line for each tool and the sum, for people', async () => {
    const { stdout } = await list()
    const lines = stdout.trimEnd().split('\n')
    expect(lines).toHaveLength(10)
    expect(lines[1]).toMatch(/^ +\d+ +query +Search all that is stored/)
    expect(lines[9]).toMatch(/^about \d+ tokens in all/)
  })

  it('of a lens that is not there is refused, in the form asked for', async () => {
    const { stdout, status } = await list('--lens', 'chrome', '--json')
    expect(status).toBe(2)
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'unknown_lens' } })
  })
})

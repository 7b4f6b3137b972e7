/** The MCP interface to the official client: over stdio as a process, and over HTTP beside the operations. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { encode as cl100k } from 'gpt-tokenizer/encoding/cl100k_base'
import { encode as o200k } from 'gpt-tokenizer/encoding/o200k_base'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandLine, ended, environment, start } from '../support/command.ts'
import { connectHere, querentHere } from '../support/in-process.ts'
import { bearer, tokensOf } from '../support/tokens.ts'

const env = { QUERENT_NOW: '2026-03-01T12:00:00Z' }

let folder = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'querent-mcp-'))
  const entries = [
    { id: 'bees', title: 'Bees', content: 'Honey keeps for centuries.', visibility: 'public' },
    { id: 'secret', title: 'Secret', content: 'The honey is behind the clock.' },
  ]
  await querentHere(['init'], { cwd: folder, env })
  expect(await querentHere(['call', 'put', JSON.stringify({ entries })], { cwd: folder, env })).toMatchObject({
    status: 0,
  })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Negotiation = 'default' | 'auto' | { readonly pin: '2026-07-28' }

function makeClient(negotiation: Negotiation): Client {
  const options = negotiation === 'default' ? {} : { versionNegotiation: { mode: negotiation } }
  return new Client({ name: 'test', version: '1' }, options)
}

async function overStdio(negotiation: Negotiation): Promise<Client> {
  const [command, line] = commandLine(['mcp'])
  const client = makeClient(negotiation)
  const transport = new StdioClientTransport({ command, args: [...line], cwd: folder, env: environment(env) })
  await client.connect(transport)
  return client
}

/** As over stdio, with the server in the process of the test. */
async function connected(args: readonly string[]): Promise<Client> {
  const client = makeClient('auto')
  await connectHere(client, args, { cwd: folder, env })
  return client
}

async function ask(client: Client, name: string, args: Record<string, unknown>): Promise<unknown> {
  const { isError, structuredContent, content } = await client.callTool({ name, arguments: args })
  const texts = content.flatMap(part => (part.type === 'text' ? [part.text] : []))
  const text = JSON.parse(texts.find(part => part.startsWith('{')) ?? 'null')
  if (isError) return text
  // The same for clients that know no structured content.
  if (structuredContent !== undefined) expect(text).toEqual(structuredContent)
  return text
}

describe('over stdio', () => {
  it.each<[Negotiation, string]>([
    ['default', '2025-11-25'],
    ['auto', '2026-07-28'],
    [{ pin: '2026-07-28' }, '2026-07-28'],
  ])('answers a client of mode %j in %s', async (negotiation, version) => {
    const client = await overStdio(negotiation)
    expect(client.getNegotiatedProtocolVersion()).toBe(version)
    expect(await ask(client, 'query', { text: 'honey' })).toMatchObject({ verdict: 'answered' })
    await client.close()
  })

  it('answers every request of an input that ends at once, as in a shell pipe', () => {
    const [command, line] = commandLine(['mcp'])
    const clientInfo = { name: 'test', version: '1' }
    const messages = [
      { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/list' },
      { id: 3, method: 'tools/call', params: { name: 'query', arguments: { text: 'honey' } } },
    ]
    const input = messages.map(message => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('')
    const options = { cwd: folder, env: environment(env), input, encoding: 'utf8' } as const
    const { status, stdout } = spawnSync(command, [...line], options)
    const answers = stdout
      .trim()
      .split('\n')
      .map(text => JSON.parse(text))
    expect(answers.map(({ id }) => id).sort()).toEqual([1, 2, 3])
    expect(answers.find(({ id }) => id === 3).result.structuredContent.verdict).toBe('answered')
    expect(status).toBe(0)
  })

  it('offers eight tools for notes, memory and code, for at most 1,500 tokens', async () => {
    const client = await connected([])
    const { tools } = await client.listTools()
    expect(tools.map(tool => tool.name).join(' ')).toBe('query get remember recall code put list status')
    for (const encode of [o200k, cl100k]) expect(encode(JSON.stringify(tools)).length).toBeLessThanOrEqual(1500)
    expect(o200k(client.getInstructions() ?? '').length).toBeLessThanOrEqual(400)
    for (const { inputSchema } of tools) {
      for (const property of Object.values(inputSchema.properties ?? {})) {
        expect(property).toHaveProperty('description')
      }
    }
    const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]))
    expect(hints['get']).toEqual({ readOnlyHint: true, openWorldHint: false })
    expect(hints['put']).toMatchObject({ readOnlyHint: false, destructiveHint: false })
    for (const { inputSchema } of tools)
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
    await client.close()
  })

  it('offers the tools of several lenses, or tools by name, from one server', async () => {
    const names = async (...args: readonly string[]) => {
      const client = await connected(args)
      const { tools } = await client.listTools()
      await client.close()
      return tools.map(tool => tool.name).join(' ')
    }
    expect(await names('--lens', 'c64', '--lens', 'collections')).toBe(
      'c64_query c64_enrich collections_query collections_format',
    )
    expect(await names('--tools', 'query,explain,context_callers', '--tools', 'delete')).toBe(
      'query explain context_callers delete',
    )
    const wrong = await querentHere(['mcp', '--tools', 'qery', '--list-tools'], { cwd: folder, env })
    expect(wrong).toMatchObject({ status: 2, stderr: expect.stringContaining('such as query') })
  })

  it('holds notes, memory and code in one server, each with the words that its user has', async () => {
    const client = await connected(['--detail', 'concise'])
    await ask(client, 'put', { entries: [{ id: 'tea', title: 'Tea', content: 'Tea goes into the blue tin.' }] })
    const remembered = await ask(client, 'remember', { text: 'The user prefers tabs.', speaker: 'Mira' })
    const text = async (name: string, args: Record<string, unknown>) =>
      JSON.stringify((await client.callTool({ name, arguments: args })).content)
    expect(await text('query', { text: 'blue tin' })).toContain('Tea goes into')
    expect(await text('recall', { text: 'tabs' })).toContain('The user prefers tabs.')
    expect(await text('code', { query: 'store' })).toContain('has not been read yet')
    await ask(client, 'query', { text: 'tea', collections: ['x'] }).then(answer =>
      expect(answer).toMatchObject({
        error: { code: 'unknown_field', message: expect.stringContaining('did you mean filter.collections?') },
      }),
    )
    const { id } = remembered as { id: string }
    expect(await querentHere(['delete', 'tea', id], { cwd: folder, env })).toMatchObject({ status: 0 })
    const { tools } = await client.listTools()
    expect(tools).toHaveLength(8)
    await client.close()
  })

  it('is one viewer for its whole life', async () => {
    const owner = await connected([])
    const ana = await connected(['--viewer', 'ana'])
    expect(await ask(owner, 'list', {})).toMatchObject({ total: 2 })
    expect(await ask(ana, 'list', {})).toMatchObject({ total: 1 })
    const hidden = await ask(ana, 'get', { id: 'secret' })
    const missing = await ask(ana, 'get', { id: 'nothing' })
    expect(JSON.stringify(hidden).replaceAll('secret', 'nothing')).toBe(JSON.stringify(missing))
    await Promise.all([owner.close(), ana.close()])
  })

  it('tells errors with code, message and details, as results that an agent can act on', async () => {
    const client = await connected([])
    expect(await ask(client, 'query', { text: 'honey', limit: 0 })).toEqual({
      error: {
        code: 'invalid_argument',
        message: 'limit: expected at least 1, got 0',
        details: { field: 'limit', value: '0', expected: 'at least 1' },
      },
    })
    expect(await ask(client, 'query', { text: 'honey', tag: 'x' })).toMatchObject({ error: { code: 'unknown_field' } })
    expect(await ask(client, 'query', { text: '"honey', syntax: 'strict' })).toMatchObject({
      error: { code: 'query_syntax' },
    })
    expect(await ask(client, 'get', {})).toMatchObject({ error: { code: 'invalid_argument' } })
    await expect(client.callTool({ name: 'export', arguments: {} })).rejects.toThrow()
    await client.close()
  })

  it('writes nothing but MCP to standard output, and ends with its input', async () => {
    const child = start(['mcp'], { cwd: folder, env })
    let output = ''
    child.stdout?.on('data', part => {
      output += part
      if (output.includes('"id":1')) child.stdin?.end()
    })
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    }
    child.stdin?.write(`${JSON.stringify(initialize)}\n`)
    expect(await ended(child)).toBe(0)
    for (const line of output.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' })
    expect(output).toContain('"instructions"')
  })

  it('ends well on a signal', async () => {
    const child = start(['mcp'], { cwd: folder, env })
    child.stdin?.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    await new Promise(resolve => child.stdout?.once('data', resolve))
    child.kill('SIGTERM')
    expect(await ended(child)).toBe(0)
  })
})

describe('over HTTP', () => {
  it('answers at /mcp as the viewer whose token it is', async () => {
    writeFileSync(join(folder, 'tokens.json'), JSON.stringify(tokensOf('ana')), { mode: 0o600 })
    const child = start(['serve', '--port', '0', '--tokens', 'tokens.json'], { cwd: folder, env })
    const url = await new Promise<string>(resolve => {
      child.stderr?.on('data', part => resolve(/http:\S+/.exec(String(part))?.[0] ?? ''))
    })
    const connect = async (headers: { readonly authorization: string }, negotiation: Negotiation): Promise<Client> => {
      const client = makeClient(negotiation)
      await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }))
      return client
    }
    for (const negotiation of ['default', 'auto'] as const) {
      const ana = await connect(bearer('ana'), negotiation)
      expect(await ask(ana, 'list', {})).toMatchObject({ total: 1, items: [{ id: 'bees' }] })
      const owner = await connect(bearer('owner'), negotiation)
      expect(await ask(owner, 'list', {})).toMatchObject({ total: 2 })
      await Promise.all([ana.close(), owner.close()])
    }
    await expect(connect({ authorization: 'Bearer wrong' }, 'default')).rejects.toThrow()
    const evil = await fetch(`${url}/mcp`, { method: 'POST', headers: { origin: 'https://evil.example' } })
    expect(evil.status).toBe(403)
    child.kill('SIGTERM')
    expect(await ended(child)).toBe(0)
  })
})

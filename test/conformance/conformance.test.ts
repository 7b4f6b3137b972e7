/** The MCP interface to the official conformance suite, Inspector and client, in both revisions. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ended, environment } from '../support/command.ts'
import { haveOfficial, official } from './official.ts'

const program = fileURLToPath(new URL('server-child.ts', import.meta.url))
const expected = fileURLToPath(new URL('expected-failures.yml', import.meta.url))
const have = await haveOfficial()

/** A call of each tool, in an order in which each has something to do. */
const CALLS: readonly (readonly [string, Record<string, unknown>])[] = [
  ['put', { entries: [{ id: 'bees', title: 'Bees', content: 'Honey keeps for centuries.' }] }],
  ['query', { text: 'honey' }],
  ['remember', { text: 'The kiln is in the barn.' }],
  ['recall', { text: 'kiln' }],
  ['get', { id: 'bees' }],
  ['list', {}],
  ['status', {}],
  ['code', { query: 'honey' }],
]

/** In a store into which no code was read. */
const FAILS: ReadonlySet<string> = new Set(['code'])

let root = ''
const children: ChildProcess[] = []
const urls = { product: '', fixtures: '' }
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'querent-conformance-'))
  ;[urls.product, urls.fixtures] = await Promise.all([serve('product'), serve('fixtures')])
})
afterAll(async () => {
  for (const child of children) child.kill('SIGTERM')
  await Promise.all(children.map(ended))
  rmSync(root, { recursive: true, force: true })
})

async function serve(kind: 'product' | 'fixtures'): Promise<string> {
  const args = [program, join(root, kind), kind]
  const child = spawn(process.execPath, args, { env: environment({}), stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  return new Promise(resolve => child.stdout.once('data', part => resolve(String(part).trim())))
}

function conformance(url: string, ...args: readonly string[]): ReturnType<typeof official> {
  return official('conformance', ['server', '--url', url, '-o', join(root, 'results'), ...args], root)
}

describe.skipIf(!have)('the conformance suite (skipped where npm cannot fetch it)', () => {
  it('passes every server scenario of 2026-07-28', async () => {
    const { status, printed } = await conformance(urls.fixtures, '--requirements', '2026-07-28')
    expect(status, printed.slice(-6000)).toBe(0)
    expect(printed).toMatch(/✓ input-required-result-validate-input/)
  })

  it('passes those of 2025-11-25 that need no session', async () => {
    const args = ['--requirements', '2025-11-25', '--expected-failures', expected]
    const { status, printed } = await conformance(urls.fixtures, ...args)
    expect(status, printed.slice(-6000)).toBe(0)
  })

  it.each([
    ['server-initialize', '2025-11-25'],
    ['ping', '2025-11-25'],
    ['tools-list', '2025-11-25'],
    ['prompts-list', '2025-11-25'],
    ['dns-rebinding-protection', '2025-11-25'],
    ['tools-list', '2026-07-28'],
    ['prompts-list', '2026-07-28'],
    ['http-header-validation', '2026-07-28'],
    ['sep-2164-resource-not-found', '2026-07-28'],
    ['dns-rebinding-protection', '2026-07-28'],
  ])('passes %s of %s as it is served to everybody', async (scenario, version) => {
    const { status, printed } = await conformance(urls.product, '--scenario', scenario, '--spec-version', version)
    expect(status, printed).toBe(0)
  })
})

describe.skipIf(!have)('the Inspector (skipped where npm cannot fetch it)', () => {
  const inspect = async (...args: readonly string[]): Promise<Record<string, unknown>> => {
    const { status, output, printed } = await official('mcp-inspector', ['--cli', urls.product, ...args], root)
    expect(status, printed).toBe(0)
    return JSON.parse(output)
  }

  it('lists and calls every tool', async () => {
    const { tools } = (await inspect('--method', 'tools/list')) as { tools: { name: string }[] }
    expect(tools.map(tool => tool.name).sort()).toEqual(CALLS.map(([name]) => name).sort())
    for (const [name, input] of CALLS.filter(([name]) => !FAILS.has(name))) {
      const pairs = Object.entries(input).map(
        ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
      )
      const args = pairs.flatMap(pair => ['--tool-arg', pair])
      const answer = await inspect('--method', 'tools/call', '--tool-name', name, ...args)
      expect(answer, name).toHaveProperty('structuredContent')
      expect(answer, name).not.toHaveProperty('isError', true)
    }
  })
})

describe("the SDK's client", () => {
  it.each(['2025-11-25', '2026-07-28'])('lists and calls every tool in %s', async version => {
    const options = version === '2025-11-25' ? {} : { versionNegotiation: { mode: { pin: '2026-07-28' as const } } }
    const client = new Client({ name: 'test', version: '1' }, options)
    await client.connect(new StreamableHTTPClientTransport(new URL(urls.product)))
    expect(client.getNegotiatedProtocolVersion()).toBe(version)
    const { tools } = await client.listTools()
    expect(tools.map(tool => tool.name).sort()).toEqual(CALLS.map(([name]) => name).sort())
    for (const [name, input] of CALLS) {
      const answer = await client.callTool({ name, arguments: input })
      expect(answer.isError === true, name).toBe(FAILS.has(name))
    }
    await client.close()
  })
})

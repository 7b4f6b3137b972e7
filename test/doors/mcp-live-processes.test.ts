/** Live answers over MCP where server, client and writer are processes of their own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { querent } from '../support/command.ts'
import { type Serving, startServer } from '../support/serving.ts'
import { bearer, tokensOf } from '../support/tokens.ts'
import { overStdio } from './mcp-client.ts'
import { newClient } from './mcp-in-process.ts'

const HONEY = 'querent://live/honey'
const PATIENT = { timeout: 20_000, interval: 50 }

let folder = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'querent-mcp-live-'))
  expect(await querent(['init'], { cwd: folder })).toMatchObject({ status: 0 })
  writeFileSync(join(folder, 'tokens.json'), JSON.stringify(tokensOf('ana')), { mode: 0o600 })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function put(content: string, visibility: 'public' | 'private'): Promise<void> {
  const input = JSON.stringify({ entries: [{ content, visibility }] })
  expect(await querent(['call', 'put', input], { cwd: folder })).toMatchObject({ status: 0 })
}

function toldTo(client: Client): readonly string[] {
  const told: string[] = []
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void told.push(params.uri))
  return told
}

it('over standard input: another process writes, and nothing is told of what it hides', async () => {
  const [ana, owner] = await Promise.all([overStdio(folder, ['--viewer', 'ana']), overStdio(folder)])
  const [toldAna, toldOwner] = [toldTo(ana), toldTo(owner)]
  for (const client of [ana, owner]) await client.listen({ resourceSubscriptions: [HONEY] })
  await put('Honey stands behind the clock.', 'private')
  await expect.poll(() => toldOwner, PATIENT).toHaveLength(1)
  expect(toldAna).toEqual([])
  await put('Honey keeps for centuries.', 'public')
  await expect.poll(() => toldAna, PATIENT).toEqual([HONEY])
  await Promise.all([ana.close(), owner.close()])
}, 60_000)

it('over HTTP: a listener that vanishes leaves nothing, and one that stays does not hold up the end', async () => {
  const serving: Serving = await startServer(['serve', '--tokens', 'tokens.json'], folder)
  const connect = async (): Promise<Client> => {
    const client = newClient('2026-07-28')
    const requestInit = { headers: bearer('ana') }
    await client.connect(new StreamableHTTPClientTransport(new URL(`${serving.url}/mcp`), { requestInit }))
    return client
  }
  const listening = async (): Promise<number> => {
    const text = await (await fetch(`${serving.url}/metrics`, { headers: bearer('owner') })).text()
    return Number(/^querent_live_queries(?:\{.*\})? (\d+)$/m.exec(text)?.[1])
  }
  const [going, staying] = [await connect(), await connect()]
  const told = toldTo(staying)
  await going.listen({ resourceSubscriptions: [HONEY, 'querent://live/bees'] })
  const subscription = await staying.listen({ resourceSubscriptions: [HONEY] })
  expect(await listening()).toBe(3)
  await going.close()
  await expect.poll(listening, PATIENT).toBe(1)
  await put('Honey is sweet.', 'public')
  await expect.poll(() => told, PATIENT).toEqual([HONEY])
  const { contents } = await staying.readResource({ uri: HONEY })
  expect(JSON.stringify(contents)).toContain('Honey is sweet.')
  expect(await serving.end()).toBe(0)
  expect(await subscription.closed).toMatch(/graceful|remote/)
  await staying.close()
}, 60_000)

/**
 * Nine nodes as users run them, each a process of its own with a store of its own: one asks, eight answer over HTTP. They are
 * stopped, killed and started again while they are asked.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Json } from '../support/beliefs-engine.ts'
import { querent } from '../support/command.ts'
import {
  FEDERATED,
  idsOf,
  idsWithout,
  NODES,
  type NodesAnswer,
  newQuestion,
  prepareStores,
} from '../support/node-stores.ts'
import { type ServingProcess, startServer } from '../support/serving.ts'

let root = ''
const servers = new Map<string, ServingProcess>()
const ports = new Map<string, string>()

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'querent-nodes-'))
  await prepareStores(homeOf)
  for (const name of [...NODES, 'home']) await start(name)
  for (const name of NODES) {
    const federations = FEDERATED.includes(name) ? { federations: ['birds'] } : {}
    await call('home', 'peers.add', { id: name, address: urlOf(name), ...federations })
  }
})
afterAll(async () => {
  for (const server of servers.values()) server.child.kill('SIGCONT')
  await Promise.all([...servers.values()].map(server => server.end('SIGKILL')))
  rmSync(root, { recursive: true, force: true })
})

function homeOf(name: string): string {
  return join(root, name, '.querent')
}

async function start(name: string): Promise<void> {
  const args = ['serve', '--home', homeOf(name), '--log', 'off']
  const server = await startServer(args, root, {}, ports.get(name) ?? '0')
  servers.set(name, server)
  ports.set(name, new URL(server.url).port)
}

function urlOf(name: string): string {
  return `http://127.0.0.1:${ports.get(name)}`
}

async function call(node: string, operation: string, input: unknown, viewer?: string): Promise<Json> {
  const response = await fetch(`${urlOf(node)}/v1/ops/${operation}`, {
    method: 'POST',
    body: JSON.stringify(input),
    headers: viewer === undefined ? {} : { 'querent-viewer': viewer },
  })
  return (await response.json()) as Json
}

async function ask(options: Json = {}): Promise<NodesAnswer> {
  return (await call('home', 'beliefs.query', newQuestion(options), 'ana')) as unknown as NodesAnswer
}

const SOON = { timeout: 300_000, interval: 100 }

/** Ids in the events of a live query, in order. */
async function listen(input: Json, heard: string[], signal: AbortSignal): Promise<void> {
  const response = await fetch(`${urlOf('home')}/v1/ops/beliefs.watch`, {
    method: 'POST',
    body: JSON.stringify(input),
    headers: { 'querent-viewer': 'ana', accept: 'application/x-ndjson' },
    signal,
  })
  let rest = ''
  try {
    for await (const piece of response.body ?? []) {
      const lines = `${rest}${Buffer.from(piece).toString()}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const event = JSON.parse(line || '{}') as { type?: string; id?: string }
        if (event.type === 'added' && event.id !== undefined) heard.push(event.id)
      }
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown
  }
}

describe('nodes that are processes', () => {
  it('BQ-117, BQ-122, BQ-134: answer over HTTP, each what the requester may see there', async () => {
    const answer = await ask()
    expect(answer.errors).toEqual([])
    expect(idsOf(answer)).toEqual(idsWithout())
    expect(answer.coverage).toMatchObject({ local: true, federations_responded: ['birds'], network_responded: true })
    expect(answer.coverage.nodes.map(({ node, responded }) => [node, responded])).toEqual(
      NODES.map(node => [node, true]),
    )
  })

  it('BQ-132, BQ-134: one dead and one that hangs cost the others nothing, and coverage is exact', async () => {
    await servers.get('n2')?.end('SIGKILL')
    servers.get('n7')?.child.kill('SIGSTOP')
    const answer = await ask({ timeout_ms: 2_000 })
    expect(idsOf(answer)).toEqual(idsWithout('n2', 'n7'))
    expect(answer.errors.map(({ node, code }) => [node, code])).toEqual([
      ['n2', 'NODE_UNAVAILABLE'],
      ['n7', 'TIMEOUT'],
    ])
    expect(answer.partial).toBe(true)
    expect(answer.coverage.nodes.filter(({ responded }) => !responded).map(({ node }) => node)).toEqual(['n2', 'n7'])
    expect(answer.coverage).toMatchObject({ federations_responded: ['birds'], network_responded: true })
    servers.get('n7')?.child.kill('SIGCONT')
    await start('n2')
    for (const id of ['n2', 'n7']) await call('home', 'peers.add', { id, address: urlOf(id) })
    expect(idsOf(await ask())).toEqual(idsWithout())
  })

  it('are killed and started again while they are asked: every answer is right as far as it goes', async () => {
    const all = idsWithout()
    let isOver = false
    const asking = (async () => {
      const answers: NodesAnswer[] = []
      while (!isOver) answers.push(await ask({ timeout_ms: 1_500 }))
      return answers
    })()
    for (let round = 0; round < 3; round++) {
      await servers.get('n5')?.end('SIGKILL')
      await start('n5')
    }
    isOver = true
    const answers = await asking
    expect(answers.length).toBeGreaterThan(2)
    for (const answer of answers) {
      const failed = new Set(answer.errors.map(({ node }) => node))
      const missing = all.filter(id => !idsOf(answer).includes(id))
      expect(missing.every(id => failed.has(id.split(' ')[0] ?? ''))).toBe(true)
      expect(idsOf(answer).every(id => all.includes(id))).toBe(true)
      expect(answer.partial).toBe(failed.size > 0)
    }
    await call('home', 'peers.add', { id: 'n5', address: urlOf('n5') })
    expect(idsOf(await ask())).toEqual(all)
  })

  it('BQ-158: a live query hears of what comes at another node, also behind its restart', async () => {
    const leaving = new AbortController()
    const heard: string[] = []
    const listening = listen({ query: newQuestion() }, heard, leaving.signal)
    await vi.waitFor(() => expect(heard.toSorted()).toEqual(idsWithout()), SOON)
    const shared = { visibility: 'federated', federation_ids: ['birds'] }
    await call('n1', 'beliefs.put', { id: 'n1 secret too', content: 'swifts, secretly' }, 'bo')
    await call('n1', 'beliefs.put', { id: 'n1 news', content: 'swifts are back', ...shared }, 'bo')
    await vi.waitFor(() => expect(heard).toContain('n1 news'), SOON)
    await servers.get('n1')?.end('SIGKILL')
    await start('n1')
    await call('n1', 'beliefs.put', { id: 'n1 more', content: 'swifts are here again', ...shared }, 'bo')
    await vi.waitFor(() => expect(heard).toContain('n1 more'), SOON)
    expect(heard.filter(id => id.includes('secret'))).toEqual([])
    leaving.abort()
    await listening
    for (const id of ['n1 news', 'n1 more']) await call('n1', 'beliefs.delete', { belief_id: id }, 'bo')
  })

  it('shows from the command line which node answered what', async () => {
    const { stdout, status } = await querent(
      ['beliefs', 'query', 'swifts', '--viewer', 'ana', '--home', homeOf('home')],
      { cwd: root },
    )
    expect(status).toBe(0)
    expect(stdout).toMatch(/^n1 answered with 1 of federation birds, at \d{4}-\S+Z after \d+ ms$/m)
    expect(stdout).toMatch(/^n8 answered with 1, at /m)
  })

  it('BQ-119, BQ-120: refuse over HTTP what was not signed for them, with 403', async () => {
    const response = await fetch(`${urlOf('n1')}/v1/nodes/query`, { method: 'POST', body: '{}' })
    expect(response.status).toBe(403)
    const about = (await (await fetch(`${urlOf('n1')}/.well-known/querent`)).json()) as Json
    expect(about).toMatchObject({ protocol: 2, did: expect.stringMatching(/^did:key:z6Mk/) })
  })
})

/** What nodes refuse to other nodes over HTTP by their settings, and what a node that ends answers. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openEngine } from '../../src/engine/open.ts'
import { serveHttp } from '../../src/interfaces/http/server.ts'
import { makeCatalog } from '../../src/ops/catalog.ts'
import { ANA, EVERYTHING, OF_BIRDS, STRANGER, sealed } from '../support/asked-node.ts'
import { callOperation } from '../support/beliefs-engine.ts'
import { tempFolder } from '../support/temp-folder.ts'

type Send = (path: string, body?: unknown) => Promise<readonly [status: number, body: Record<string, unknown>]>

/** A node with these settings, which knows ana as a member of birds. */
async function withNode(
  settings: object,
  act: (send: Send, did: string, end: AbortController) => Promise<void>,
): Promise<void> {
  using folder = tempFolder()
  const home = folder.file('home')
  mkdirSync(home)
  writeFileSync(join(home, 'config.json'), JSON.stringify({ lenses: { beliefs: settings } }))
  await using engine = await openEngine({ home, embedder: 'none', background: false, machineTime: () => 0 })
  await callOperation(engine, 'federations.create', 'owner', { id: 'birds' })
  await callOperation(engine, 'federations.set_member', 'owner', { federation: 'birds', agent: ANA.did })
  const end = new AbortController()
  const listening = Promise.withResolvers<string>()
  const options = { host: '127.0.0.1', port: 0, tokens: undefined }
  const served = serveHttp(engine, makeCatalog(engine), options, end.signal, listening.resolve)
  const url = await listening.promise
  const send: Send = async (path, body) => {
    const given = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(`${url}${path}`, given)
    return [response.status, (await response.json()) as Record<string, unknown>]
  }
  try {
    await act(send, engine.signedRequests.did(), end)
  } finally {
    end.abort()
    await served
  }
}

it('one that answers no nodes says so wherever it is asked, and in what it tells of itself', () =>
  withNode({ answer_nodes: false }, async (send, did) => {
    const refusal = {
      code: 'UNAUTHORIZED',
      message: 'this node answers no other nodes',
      details: { reason: 'answers_nobody' },
    }
    const refused = [403, { error: expect.objectContaining(refusal) }]
    expect(await send('/v1/nodes/query', sealed({ did }, OF_BIRDS))).toEqual(refused)
    expect(await send('/.well-known/querent')).toMatchObject([200, { did, answers: false, network: false }])
  }))

it('BQ-190: strangers at one address are refused after a fifth of what a member may ask', () =>
  withNode({ answers_per_minute: 10 }, async (send, did) => {
    const ask = async (query: unknown, keys: typeof ANA) =>
      (await send('/v1/nodes/query', sealed({ did }, query, keys)))[0]
    const reported = []
    for (let time = 0; time < 3; time++) reported.push(await ask(EVERYTHING, STRANGER))
    expect(reported).toEqual([200, 200, 429])
    for (let time = 0; time < 10; time++) expect(await ask(OF_BIRDS, ANA)).toBe(200)
    expect(await ask(OF_BIRDS, ANA)).toBe(429)
  }))

it('one that ends answers who waits for changes, and does not wait for them', () =>
  withNode({}, async (send, did, end) => {
    const watch = (since: unknown, waitMs: number) => {
      const query = { protocol: 2, scope: OF_BIRDS.scope, since, wait_ms: waitMs }
      return send('/v1/nodes/changes', sealed({ did }, query, ANA))
    }
    const [, { state }] = await watch(null, 0)
    const waiting = watch(state, 20_000)
    let isOver = false
    void waiting.then(() => (isOver = true))
    await new Promise(resolve => setTimeout(resolve, 500))
    expect(isOver).toBe(false)
    end.abort()
    expect(await waiting).toMatchObject([200, { state }])
  }))

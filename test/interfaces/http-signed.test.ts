/** Requests that bear a signature, over a real socket: whose they are, and which are refused. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { type Keys, keysOf } from '../../src/identity/keys.ts'
import { newNonce, signRequest } from '../../src/identity/messages.ts'
import { seededUniform } from '../support/seeded.ts'
import { type ServedHere, serveHere } from '../support/serve-here.ts'

const uniform = seededUniform(5)
const random = (bytes: number) => Uint8Array.from({ length: bytes }, () => Math.floor(uniform() * 256))
const ann = keysOf(random(32))
const stranger = keysOf(random(32))
const PATH = '/v1/ops/put'

let engine: Engine
let server: ServedHere
let url = ''
let node = ''

beforeAll(async () => {
  engine = await openEngine({ store: 'memory', embedder: 'none', background: false })
  server = await serveHere(engine)
  url = server.url
  node = ((await (await fetch(`${url}/v1/node`)).json()) as { did: string }).did
  await call('agents.create', { id: 'ann', did: ann.did })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await engine.close()
})

async function call(name: string, input: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/v1/ops/${name}`, { method: 'POST', body: JSON.stringify(input), headers })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

interface Changes {
  readonly audience?: string
  /** Milliseconds from now. */
  readonly later?: number
  readonly nonce?: string
  readonly path?: string
}

function signed(keys: Keys, input: unknown, changes: Changes = {}): Record<string, string> {
  const { audience = node, later = 0, nonce = newNonce(random), path = PATH } = changes
  const facts = { method: 'POST', path, body: JSON.stringify(input) }
  return signRequest(keys, facts, { audience, timestamp: Date.now() + later, nonce })
}

const entry = (id: string) => ({ entries: [{ id, content: `note ${id}`, collection: 'notes' }] })

// BQ-066, BQ-119, BQ-120
describe('a signed request', () => {
  it('is from the agent that is hosted under the key', async () => {
    expect((await call('put', entry('a'), signed(ann, entry('a')))).status).toBe(200)
    const own = await call('get', { id: 'a' }, signed(ann, { id: 'a' }, { path: '/v1/ops/get' }))
    expect(own.body).toMatchObject({ id: 'a', holder: 'ann' })
  })

  it('is from the key itself where no agent has it, who sees no more than a stranger', async () => {
    const got = await call('get', { id: 'a' }, signed(stranger, { id: 'a' }, { path: '/v1/ops/get' }))
    expect(got).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
    expect((await call('put', entry('s'), signed(stranger, entry('s')))).status).toBe(200)
    const own = await call('get', { id: 's' }, signed(stranger, { id: 's' }, { path: '/v1/ops/get' }))
    expect(own.body).toMatchObject({ holder: stranger.did })
  })

  it('is taken once', async () => {
    const headers = signed(ann, entry('b'))
    expect((await call('put', entry('b'), headers)).status).toBe(200)
    expect((await call('put', entry('b'), headers)).status).toBe(401)
  })

  it.each<[string, Changes, unknown]>([
    ['for another node', { audience: stranger.did }, entry('c')],
    ['made too long ago', { later: -301_000 }, entry('c')],
    ['from the future', { later: 360_000 }, entry('c')],
    ['for another path', { path: '/v1/ops/get' }, entry('c')],
    ['with another body', {}, entry('other')],
    ['with a number that is none', { nonce: 'x' }, entry('c')],
  ])('%s is refused without saying why', async (_, changes, sent) => {
    const { status, body } = await call('put', sent, signed(ann, entry('c'), changes))
    expect(status).toBe(401)
    expect(body).toEqual({ error: { code: 'unauthenticated', message: 'a valid signature is needed', details: {} } })
  })

  it('uses up no number when it is refused', async () => {
    const nonce = newNonce(random)
    expect((await call('put', entry('x'), signed(ann, entry('d'), { nonce }))).status).toBe(401)
    expect((await call('put', entry('d'), signed(ann, entry('d'), { nonce }))).status).toBe(200)
  })

  it('decides the requester in the lens beliefs, whatever the body says', async () => {
    const query = { semantic: 'note', context: { requester_id: 'ann' } }
    const path = '/v1/ops/beliefs.query'
    expect((await call('beliefs.query', query, signed(ann, query, { path }))).status).toBe(200)
    const forged = await call('beliefs.query', query, signed(stranger, query, { path }))
    expect(forged).toMatchObject({ status: 403, body: { error: { code: 'UNAUTHORIZED' } } })
  })
})

describe('a stream that a key has asked for', () => {
  it.each([
    ['watch', { text: 'note', debounce_ms: 0, notify_on_connect: false }, 'unauthenticated'],
    [
      'beliefs.watch',
      { query: { semantic: 'note' }, options: { debounce_ms: 0, notify_on_connect: false } },
      'UNAUTHORIZED',
    ],
  ])('ends when the agent has another key, with one status and no content (BQ-167): %s', async (name, input, code) => {
    const [old, other] = [keysOf(random(32)), keysOf(random(32))]
    const id = `cyd-${name.replace('.', '-')}`
    await call('agents.create', { id, did: old.did })
    const path = `/v1/ops/${name}`
    const watching = (keys: Keys) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        body: JSON.stringify(input),
        headers: { ...signed(keys, input, { path }), accept: 'application/x-ndjson' },
      })
    const mine = await watching(old)
    const others = await watching(ann)
    expect([mine.status, others.status]).toEqual([200, 200])
    const text = mine.text()
    expect((await call('agents.update', { id, did: other.did })).status).toBe(200)
    const pieces = (await text)
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(pieces).toMatchObject([{ type: 'subscribed' }, { error: { code } }])
    expect(engine.live.count({ id })).toBe(0)
    expect(engine.live.count({ id: 'ann' })).toBe(1)
    await others.body?.cancel()
    while (engine.live.count() > 0) await new Promise(resolve => setTimeout(resolve, 5))
  })
})

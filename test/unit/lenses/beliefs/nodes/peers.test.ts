/** The list of other nodes: who gets on it, under which key, and what they say of themselves. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SettableClock } from '../../../../../src/base/clock.ts'
import type { Engine } from '../../../../../src/engine/engine.ts'
import { type Keys, keysOf } from '../../../../../src/identity/keys.ts'
import { signStatement } from '../../../../../src/identity/messages.ts'
import {
  ABOUT_PATH,
  aboutStatement,
  PROTOCOL,
  type WireAbout,
} from '../../../../../src/lenses/beliefs/nodes/wire/protocol.ts'
import { type NodeMessage, type NodeTransport, TransportFailure } from '../../../../../src/pipeline/transport.ts'
import { callOperation, openBeliefsEngine } from '../../../../support/beliefs-engine.ts'

const B = keysOf(new Uint8Array(32).fill(2))
const C = keysOf(new Uint8Array(32).fill(3))
const ADDRESS = 'http://b.example:7411'

type Handler = (message: NodeMessage) => unknown

let nodes: Map<string, Handler>
let sent: string[]
let engine: Engine
beforeEach(async () => {
  nodes = new Map([[ADDRESS, says(about(B))]])
  sent = []
  const transport: NodeTransport = {
    send: async (address, message) => {
      sent.push(`${address}${message.path}`)
      const handler = nodes.get(address)
      if (handler === undefined) throw new TransportFailure('unreachable', 'nobody')
      return JSON.parse(JSON.stringify(handler(message)))
    },
    close: async () => {},
  }
  const clock = new SettableClock(Date.parse('2026-03-01T12:00:00Z'))
  engine = await openBeliefsEngine({ store: 'memory', clock, transport })
})
afterEach(() => engine.close())

const call = (name: string, input: unknown, by = 'owner') => callOperation(engine, name, by, input)

function about(keys: Keys, more: Partial<WireAbout> = {}): WireAbout {
  const open = {
    ...{ protocol: PROTOCOL, did: keys.did, model: 'm', answers: true, network: true },
    ...{ timestamp: new Date().toISOString(), signature: '' },
    ...more,
  } as WireAbout
  return { ...open, signature: signStatement(keys, aboutStatement(open)) }
}

function says(document: WireAbout): Handler {
  return ({ path }) => {
    if (path === ABOUT_PATH) return document
    throw new TransportFailure('refused', 'status 404', { status: 404 })
  }
}

describe('a node is added', () => {
  it('under the key that it shows at first, and the answer says so', async () => {
    expect(await call('peers.add', { address: `${ADDRESS}/` })).toMatchObject({
      peer: { id: 'b.example-7411', address: ADDRESS, did: B.did, network: true, federations: [] },
      identity: 'first_use',
    })
    expect(sent).toEqual([`${ADDRESS}${ABOUT_PATH}`])
  })

  it('under the key that is given, without a message to it', async () => {
    const input = { id: 'b', address: ADDRESS, did: B.did, federations: ['reef', 'bay', 'reef'] }
    expect(await call('peers.add', input)).toMatchObject({
      peer: { id: 'b', did: B.did, network: false, federations: ['bay', 'reef'] },
      identity: 'given',
    })
    expect(sent).toEqual([])
  })

  it('under the key that it had at its old name, unless the owner gives another', async () => {
    await call('peers.add', { id: 'b', address: ADDRESS })
    nodes.set(ADDRESS, says(about(C)))
    expect(await call('peers.add', { id: 'b', address: ADDRESS })).toMatchObject({ peer: { did: B.did } })
    expect(await call('peers.add', { id: 'b', address: ADDRESS, did: C.did })).toMatchObject({ peer: { did: C.did } })
  })

  it('again, which changes what is said and keeps the rest', async () => {
    await call('peers.add', { id: 'b', address: ADDRESS, federations: ['reef'] })
    const { peer } = await call('peers.add', { id: 'b', address: ADDRESS, network: true })
    expect(peer).toMatchObject({ network: true, federations: ['reef'] })
    const { peers } = await call('peers.list', {})
    expect(peers).toEqual([peer])
  })

  it('once only: a second name for the same key is refused', async () => {
    await call('peers.add', { id: 'b', address: ADDRESS })
    await expect(call('peers.add', { id: 'b2', address: ADDRESS })).rejects.toMatchObject({
      message: expect.stringContaining('"b" has this key'),
      details: { path: 'did', reason: 'taken' },
    })
  })

  it('unless it is this very node', async () => {
    const { did } = (await call('peers.about', {})) as { did: string }
    nodes.clear()
    await expect(call('peers.add', { address: ADDRESS, did })).rejects.toMatchObject({
      details: { path: 'address', reason: 'self' },
    })
  })

  it.each([
    ['address', { address: 'b.example' }],
    ['address', { address: 'ftp://b.example' }],
    ['address', { address: `${ADDRESS}/path` }],
    ['address', { address: `${ADDRESS}/?q` }],
    ['address', { address: 'http://ann:secret@b.example' }],
    ['address', { id: 'b' }],
    ['id', { id: 'a b', address: ADDRESS }],
    ['did', { address: ADDRESS, did: 'did:key:zzz' }],
    ['federations[0]', { address: ADDRESS, federations: ['a,b'] }],
    ['port', { address: ADDRESS, port: 1 }],
  ])('not where %s is wrong: %j', async (path, input) => {
    const error = await call('peers.add', input).catch(thrown => thrown)
    expect(error).toMatchObject({ code: 'INVALID_QUERY', details: { path } })
    expect(JSON.stringify(error)).not.toContain('secret')
    expect(sent).toEqual([])
  })

  it.each([
    ['unreachable', null],
    ['unreachable', () => says(about(B))({ path: '/elsewhere', body: null, maxBytes: 1 })],
    ['invalid_data', () => ({ did: B.did })],
    ['invalid_data', () => ({ ...about(B), did: C.did })],
    ['invalid_data', () => ({ ...about(B), network: false })],
    ['protocol', () => about(B, { protocol: 1 as 2 })],
    ['clock', () => about(B, { timestamp: '2020-01-01T00:00:00.000Z' })],
  ])('not when without a key it is %s', async (reason, handler) => {
    nodes.clear()
    if (handler !== null) nodes.set(ADDRESS, handler)
    await expect(call('peers.add', { address: ADDRESS })).rejects.toMatchObject({
      code: 'NODE_UNAVAILABLE',
      details: { path: 'address', reason },
    })
    expect(await call('peers.list', {})).toEqual({ peers: [] })
  })

  it.each([
    ['add', { address: ADDRESS }],
    ['list', {}],
    ['remove', { id: 'b' }],
  ])('by the local owner alone: peers.%s', async (name, input) => {
    await call('agents.create', { id: 'ann' })
    await expect(call(`peers.${name}`, input, 'ann')).rejects.toMatchObject({ code: 'UNAUTHORIZED', details: {} })
    expect(sent).toEqual([])
  })
})

it('a node is taken off the list once', async () => {
  await call('peers.add', { id: 'b', address: ADDRESS })
  expect(await call('peers.remove', { id: 'b' })).toEqual({ removed: true })
  expect(await call('peers.remove', { id: 'b' })).toEqual({ removed: false })
})

import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { Deadline } from '../../../src/base/clock.ts'
import { LOCAL_OWNER } from '../../../src/model/viewer.ts'
import type { Source, SourceRequest } from '../../../src/pipeline/source.ts'
import { openChromaSource } from '../../../src/sources/chromadb.ts'
import { askSources } from '../../../src/sources/fan-out.ts'
import { openQdrantSource } from '../../../src/sources/qdrant.ts'
import { type Loopback, type LoopbackRequest, sendJson, startLoopback } from '../../support/loopback.ts'
import { localSourceOf, ownerScope, storeOfSuite } from '../../support/source-store.ts'

const open: Loopback[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

/** How servers go wrong: what each answers to everything, and what is made of it. */
const FAULTS: readonly (readonly [string, (response: ServerResponse, request: LoopbackRequest) => void, string])[] = [
  ['does not answer', () => {}, 'timeout'],
  ['answers half and stops', half, 'timeout'],
  ['answers half and hangs up', hangUp, 'malformed_answer'],
  ['refuses the token', response => sendJson(response, 401, { error: 'no' }), 'unauthenticated'],
  ['forbids', response => sendJson(response, 403, { error: 'no' }), 'unauthenticated'],
  ['fails', response => sendJson(response, 500, { message: 'broken' }), 'query_failed'],
  ['has nothing anywhere', response => sendJson(response, 404, '<html>'), 'malformed_answer'],
  ['has nothing anywhere, in JSON', response => sendJson(response, 404, { error: 'no' }), 'malformed_answer'],
  ['has nothing anywhere, in null', response => sendJson(response, 404, 'null'), 'malformed_answer'],
  ['answers with something else', response => sendJson(response, 200, { hello: 'there' }), 'malformed_answer'],
  ['answers with a list', response => sendJson(response, 200, []), 'malformed_answer'],
  ['answers with null', response => sendJson(response, 200, 'null'), 'malformed_answer'],
  ['answers with text that is no JSON', response => sendJson(response, 200, '<html>'), 'malformed_answer'],
]

const KINDS: readonly (readonly [string, (url: string) => Source])[] = [
  ['chromadb', url => openChromaSource({ name: 'other', url, token: 'secret-token' })],
  ['qdrant', url => openQdrantSource({ name: 'other', url, apiKey: 'secret-token' })],
]

describe.each(KINDS)('%s', (_, openSource) => {
  it.each(FAULTS)('that %s is reported as what it is', async (_name, answer, code) => {
    const server = await serve(answer)
    const { collections } = await openSource(server.url).ask(question({ deadline: new Deadline(400) }))
    expect(collections.map(({ error }) => error?.code)).toEqual([code])
    expect(collections[0]?.error?.message).toContain('items')
    expect(JSON.stringify(collections)).not.toContain('secret-token')
  })

  it('that nobody runs is unreachable', async () => {
    const server = await serve(() => {})
    await server.close()
    const { collections } = await openSource(server.url).ask(question({}))
    expect(collections[0]?.error?.code).toBe('unreachable')
    expect(collections[0]?.error?.message).toContain(server.url)
  })

  it('costs the others nothing: they answer, and go on answering', async () => {
    const server = await serve(() => {})
    const store = storeOfSuite()
    const sources = [openSource(server.url), localSourceOf(store)]
    const request = question({ accessScope: ownerScope(store) })
    const ids = async () => {
      const answers = await askSources(sources, { request, timeoutMs: 200 })
      return answers.map(({ source, collections: [first] }) => [source, first?.error?.code ?? first?.records.length])
    }
    for (let times = 0; times < 2; times++) {
      expect(await ids()).toEqual([
        ['other', 'timeout'],
        ['local', 5],
      ])
    }
  })

  it('is asked under the path of its address (CO-025)', async () => {
    const server = await serve(response => sendJson(response, 404, { error: 'no' }))
    for (const ending of ['/prefix', '/prefix/', '/a/b']) {
      server.requests.length = 0
      await openSource(server.url + ending).ask(question({}))
      const path = ending.replace(/\/$/, '')
      expect(server.requests.length).toBeGreaterThan(0)
      for (const request of server.requests) expect(request.path.startsWith(`${path}/`)).toBe(true)
    }
  })

  it('refuses an address that is none', () => {
    expect(() => openSource('http://127.0.0.1:9/?key=1')).toThrow(/url: expected an address that ends with its path/)

    expect(() => openSource('not an address')).toThrow(/url: expected an address/)
    expect(() => openSource('file:///tmp')).toThrow(/url: expected an address/)
  })

  it('refuses an address with a secret in it, and does not show it', () => {
    const open = () => openSource('http://user:sk-secret@127.0.0.1:9')
    expect(open).toThrow(/^url: expected an address without user and password/)
    expect(open).not.toThrow(/sk-secret/)
  })
})

describe('the fan-out', () => {
  it('takes a source that throws, and one that never comes back, as failed', async () => {
    const source = (name: string, ask: Source['ask']): Source => ({ name, kind: 'peer', ask, close: async () => {} })
    const sources = [
      source('throws', () => Promise.reject(new Error('out of order'))),
      source('never', () => new Promise(() => {})),
    ]
    const answers = await askSources(sources, { request: question({ collections: ['a', 'b'] }), timeoutMs: 50 })
    expect(
      answers.map(({ collections }) => collections.map(({ collection, error }) => [collection, error?.code])),
    ).toEqual([
      [
        ['a', 'query_failed'],
        ['b', 'query_failed'],
      ],
      [
        ['a', 'timeout'],
        ['b', 'timeout'],
      ],
    ])
  })
})

function question(fields: Partial<SourceRequest>): SourceRequest {
  return {
    accessScope: { viewer: LOCAL_OWNER, partitions: [] },
    collections: ['items'],
    text: '',
    vector: new Float32Array([1, 0, 0, 0]),
    limit: 5,
    where: [],
    anyTags: [],
    deadline: new Deadline(10_000),
    ...fields,
  }
}

async function serve(answer: (response: ServerResponse, request: LoopbackRequest) => void): Promise<Loopback> {
  const server = await startLoopback((request, response) => answer(response, request))
  open.push(server)
  return server
}

function half(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
  response.write('{"name": "items", ')
}

function hangUp(response: ServerResponse): void {
  half(response)
  setTimeout(() => response.destroy(), 20)
}

/** `/openapi.json`: a valid OpenAPI 3.1 document of every route there is and no other. */
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { makeApp } from '../../src/interfaces/http/app.ts'
import { Authenticator } from '../../src/interfaces/http/auth.ts'
import type { App } from '../../src/interfaces/http/env.ts'
import { namesOf } from '../../src/interfaces/http/guard.ts'
import { Metrics } from '../../src/interfaces/http/metrics.ts'
import { makeCatalog } from '../../src/ops/catalog.ts'
import { bearer, tokensOf } from '../support/tokens.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document of many shapes, looked into by each test
type Any = any

let engine: Engine
let app: App
let document: Any
const NOBODY = { host: '127.0.0.1' }
const HOST = { ...NOBODY, ...bearer('owner') }
const BEN = { ...NOBODY, ...bearer('ben') }

function appOf({ loopback = true, parts = true, catalog = makeCatalog(engine) } = {}): App {
  return makeApp(engine, catalog, {
    authenticator: new Authenticator({ tokens: tokensOf('ben'), local: loopback }),
    names: namesOf(loopback, [], []),
    requestId: () => 'r',
    log: text => expect.fail(text),
    ending: new AbortController().signal,
    ...(parts && { mcp: async () => new Response('{}'), metrics: new Metrics(engine, undefined) }),
  })
}

async function documentOf(from: App): Promise<Any> {
  const response = await from.request('/openapi.json', { headers: HOST })
  expect(response.status).toBe(200)
  return response.json()
}

beforeAll(async () => {
  engine = await openEngine({ store: 'memory', embedder: 'none', background: false })
  app = appOf()
  document = await documentOf(app)
})
afterAll(() => engine.close())

/** Every operation: method, path, what is said of it. */
function described(document: Any): { method: string; path: string; item: Any }[] {
  return Object.entries<Any>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Any>(methods).map(([method, item]) => ({ method, path, item })),
  )
}

describe('the document', () => {
  it('is valid OpenAPI 3.1, also where little is there', async () => {
    const catalog = new Map([...makeCatalog(engine)].filter(([name]) => !/[.]/.test(name)))
    const documents = [document, await documentOf(appOf({ parts: false, catalog }))]
    for (const one of documents) {
      expect(one.openapi).toBe('3.1.0')
      expect(await new Validator().validate(one)).toEqual({ valid: true })
    }
  })

  it('has schemas whose references all lead somewhere', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema({ $id: 'querent:/', ...document })
    const references = new Set(JSON.stringify(document).match(/(?<="\$ref":")[^"]+/g))
    expect(references.size).toBeGreaterThan(100)
    for (const reference of references) {
      const found = reference
        .slice(2)
        .split('/')
        .reduce((value: Any, name) => value?.[name], document)
      expect(found, reference).toBeTypeOf('object')
      if (reference.startsWith('#/components/schemas/')) ajv.compile({ $ref: `querent:/${reference}` })
    }
  })

  it('begins inputs with examples that their schemas allow', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema({ $id: 'querent:/', ...document })
    const bodies = described(document).filter(({ item }) => item.requestBody?.content['application/json'].example)
    expect(bodies.length).toBeGreaterThan(100)
    for (const { method, path } of bodies) {
      const place = `/paths/${path.replaceAll('/', '~1')}/${method}/requestBody/content/application~1json`
      const validate = ajv.compile({ $ref: `querent:/#${encodeURI(place)}/schema` })
      const { example } = document.paths[path][method].requestBody.content['application/json']
      expect(validate(example), `${path}: ${JSON.stringify([example, validate.errors])}`).toBe(true)
    }
  })

  it('names every operation once, under its lens', () => {
    const ids = described(document).map(({ item }) => item.operationId)
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
    const tags = new Set(document.tags.map((tag: Any) => tag.name))
    for (const { item } of described(document)) {
      expect(item.summary).not.toBe('')
      expect(item.tags.every((tag: string) => tags.has(tag))).toBe(true)
    }
    expect(document.paths['/v1/ops/trust.set'].post.tags).toEqual(['beliefs'])
    expect(document.paths['/v1/ops/query'].post.tags).toEqual(['engine'])
  })

  it('describes every mounted route, and only those', () => {
    const mounted = app.routes
      .filter(({ path, method }) => !path.endsWith('*') && !(method === 'ALL' && path === '/'))
      .map(({ method, path }) => ({
        method: method === 'ALL' ? 'post' : method.toLowerCase(),
        path,
        pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+')}$`),
      }))
    expect(mounted.length).toBeGreaterThan(50)
    const all = described(document)
    for (const { method, path, pattern } of mounted) {
      expect(
        all.some(one => one.method === method && pattern.test(one.path)),
        `${method} ${path}`,
      ).toBe(true)
    }
    for (const { method, path } of all) {
      expect(
        mounted.some(one => one.method === method && one.pattern.test(path)),
        `${method} ${path}`,
      ).toBe(true)
    }
    const named = [...makeCatalog(engine).keys()].map(name => `/v1/ops/${name}`)
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(named))
  })

  it('leaves out what is not there', async () => {
    const catalog = new Map([...makeCatalog(engine)].filter(([name]) => !/[.]/.test(name)))
    const paths = Object.keys((await documentOf(appOf({ parts: false, catalog }))).paths)
    expect(paths).toContain('/v1/query')
    for (const gone of ['/mcp', '/metrics', '/v1/call', '/v1/chroma/query']) expect(paths).not.toContain(gone)
  })
})

describe('parts of a request', () => {
  const parameter = (path: string, method: string, name: string): Any =>
    document.paths[path][method].parameters.find((one: Any) => one.name === name)

  it('are those of the route, not those of the operation alone', () => {
    const put = document.paths['/v1/entries/{id}'].put.requestBody.content['application/json'].schema
    expect(Object.keys(put.properties)).toContain('content')
    expect(put.properties).not.toHaveProperty('id')
    expect(put.required).toEqual(['content'])
    expect(parameter('/v1/entries/{id}', 'put', 'id')).toMatchObject({ in: 'path', required: true })
    expect(parameter('/v1/entries/{id}', 'delete', 'id')).toMatchObject({ in: 'path', schema: { type: 'string' } })
    expect(document.paths['/v1/entries/{id}'].delete).not.toHaveProperty('requestBody')
  })

  it('stand in the query string as they are read there', () => {
    expect(parameter('/v1/entries', 'get', 'limit').schema).toMatchObject({ type: 'integer', minimum: 1 })
    expect(parameter('/v1/entries', 'get', 'filter').content['application/json'].schema).toMatchObject({
      $ref: '#/components/schemas/Filter',
    })
    expect(document.paths['/v1/query'].post.requestBody.content['application/json']).toMatchObject({
      schema: { $ref: '#/components/schemas/Query' },
      example: { text: 'text' },
    })
  })

  it('tell of streams where there are streams', () => {
    const forms = (path: string) => Object.keys(document.paths[path].post.responses['200'].content)
    expect(forms('/v1/query')).toEqual(['application/json', 'text/event-stream', 'application/x-ndjson'])
    expect(forms('/v1/watch')).toEqual(['text/event-stream', 'application/x-ndjson'])
    expect(forms('/v1/ops/status')).toEqual(['application/json'])
  })
})

describe('a requester who is not identified', () => {
  it('reads the same document as the owner, which says what only the owner may call', async () => {
    const closed = await appOf({ loopback: false }).request('/openapi.json', { headers: NOBODY })
    expect(await closed.json()).toEqual(document)
    expect(document.paths['/v1/ops/backup'].post.description).toContain('Only for the local owner')
  })

  it('reads the same whatever the store holds', async () => {
    await engine.put({ entries: [{ id: 'zqsecret', content: 'zqsecret', collection: 'zqsecret', tags: ['zqsecret'] }] })
    expect(await documentOf(appOf())).toEqual(document)
  })
})

describe.each(['/openapi.json', '/v1/ops', '/v1/ops/query'])('%s', path => {
  it('is sent once to a client that caches it, and is cached for that requester alone', async () => {
    const first = await app.request(path, { headers: HOST })
    const tag = first.headers.get('etag') ?? ''
    expect(tag).not.toBe('')
    expect(first.headers.get('vary')).toContain('authorization, querent-viewer')
    expect(first.headers.get('cache-control')).toBe('private, no-cache')
    const again = await app.request(path, { headers: { ...HOST, 'if-none-match': tag } })
    expect([again.status, await again.text()]).toEqual([304, ''])
    const other = await app.request(path, { headers: { ...BEN, 'if-none-match': tag } })
    expect(other.status).toBe(path === '/v1/ops' ? 200 : 304)
  })
})

/** Requests that are malformed, ambiguous, or made to be taken for others: a real server, written to byte by byte. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ask, get, isQuiet, lines, post, RawClient, type Reply, type Server, startServer, until } from './raw-http.ts'

const MAX_BODY = 65_536
const LIST = '/v1/ops/list'

let server: Server
beforeAll(async () => {
  server = await startServer(['--max-body', String(MAX_BODY)])
  await sendText(post('/v1/ops/put', '{"entries":[{"id":"heron","content":"a heron by the lake"}]}'))
})
afterAll(() => server.end())
// Whatever was sent, the next one is answered as ever.
afterEach(async () => {
  const { status, body } = await sendText(post('/v1/ops/query', '{"text":"heron"}'))
  expect(status).toBe(200)
  expect(JSON.parse(body).items).toMatchObject([{ id: 'heron' }])
  expect(server.said()).not.toContain('querent: bug')
})

function sendText(text: string): Promise<Reply> {
  return ask(server.port, text)
}

async function refusal(text: string): Promise<readonly [status: number, code: unknown, field: unknown]> {
  const { status, head, body } = await sendText(text)
  expect(head).toMatch(/^content-type: application\/json$/im)
  const { error } = JSON.parse(body)
  return [status, error.code, error.details.field ?? null]
}

/** All that comes on a connection that the server closes, or that is asked to be closed after its last request. */
async function statusesOf(text: string): Promise<readonly number[]> {
  const client = new RawClient(server.port)
  client.send(text)
  const all = await client.closed()
  return [...all.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
}

const chunked = (more: readonly string[], body: string): string =>
  `POST ${LIST} HTTP/1.1\r\n${lines(['host: localhost', ...more])}\r\n${body}`

describe('a request that can be read in two ways is refused, and its connection closed', () => {
  const BODY = '2\r\n{}\r\n0\r\n\r\n'
  it.each<[string, string]>([
    ['a length and chunks', chunked(['content-length: 2', 'transfer-encoding: chunked'], BODY)],
    ['chunks and a length', chunked(['transfer-encoding: chunked', 'content-length: 11'], BODY)],
    ['two lengths', chunked(['content-length: 2', 'content-length: 11'], BODY)],
    ['one length twice', chunked(['content-length: 2', 'content-length: 2'], '{}')],
    ['a length below zero', chunked(['content-length: -2'], '{}')],
    ['a length with a sign', chunked(['content-length: +2'], '{}')],
    ['a length in hexadecimal', chunked(['content-length: 0x2'], '{}')],
    ['an unknown form of transfer', chunked(['transfer-encoding: xchunked'], BODY)],
    ['chunks before another form', chunked(['transfer-encoding: chunked, identity'], BODY)],
    ['a blank before the colon', chunked(['transfer-encoding : chunked'], BODY)],
    ['a folded header', chunked(['x-a: b\r\n c', 'content-length: 2'], '{}')],
    ['a chunk without a size', chunked(['transfer-encoding: chunked'], 'zz\r\n{}\r\n0\r\n\r\n')],
    ['a chunk of more than can be counted', chunked(['transfer-encoding: chunked'], 'fffffffffffffffff\r\n{}\r\n')],
    ['a chunk that is longer than it says', chunked(['transfer-encoding: chunked'], '2\r\n{} \r\n0\r\n\r\n')],
    ['a NUL in a header', get('/healthz', ['x-a: b\0c'])],
    ['lines that end by a line feed alone', 'GET /healthz HTTP/1.1\nhost: localhost\n\n'],
    ['an unknown method', get('/healthz').replace('GET', 'FETCH')],
    ['HTTP/2 without saying so', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['bytes of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
    ['a path of raw bytes', get('/v1/entries/\xff\xfe')],
  ])('%s', async (_, text) => {
    expect(await refusal(text)).toEqual([400, 'invalid_argument', 'request'])
    // What follows on the same connection is no request.
    expect(await statusesOf(`${text}${get('/healthz', ['connection: close'])}`)).toEqual([400])
  })

  it('packed chunks, which are taken as they come', async () => {
    const text = chunked(['transfer-encoding: gzip, chunked'], BODY)
    expect(await refusal(text)).toEqual([501, 'invalid_argument', 'transfer-encoding'])
  })

  it('an expectation that nobody can fulfil', async () => {
    const text = chunked(['expect: the-best', 'content-length: 2'], '{}')
    expect(await refusal(text)).toEqual([417, 'invalid_argument', 'expect'])
  })

  it('the content of a body is never taken for a request, not even where the body is refused unread', async () => {
    const inner = get('/metrics')
    const last = get('/healthz', ['connection: close'])
    const refused = post(LIST, inner, ['origin: https://evil.example'])
    expect(await statusesOf(`${refused}${last}`)).toEqual([403, 200])
    const withBody = post('/healthz', inner).replace('POST', 'GET')
    expect(await statusesOf(`${withBody}${last}`)).toEqual([200, 200])
    expect(await statusesOf(`${post('/v1/ops/nope', inner)}${last}`)).toEqual([404, 200])
  })
})

describe('a head', () => {
  it.each<[string, string]>([
    ['a long address', get(`/v1/entries/${'a'.repeat(70_000)}`)],
    ['a long header', get('/healthz', [`x-a: ${'a'.repeat(70_000)}`])],
    [
      'many headers',
      get(
        '/healthz',
        Array.from({ length: 3_000 }, (_, at) => `x-${at}: 1`),
      ),
    ],
    [
      'somewhat too many headers',
      get(
        '/healthz',
        Array.from({ length: 300 }, (_, at) => `x-${at}: 1`),
      ),
    ],
  ])('of %s is refused', async (_, text) => {
    expect(await refusal(text)).toEqual([431, 'too_large', 'headers'])
  })

  it('without an end is read no further than it may be long', async () => {
    const client = new RawClient(server.port)
    client.send(`GET /healthz HTTP/1.1\r\n${'x-a: aaaaaaaaaaaaaaaaaaaaaaaa\r\n'.repeat(3_000)}`)
    expect(await client.closed()).toMatch(/^HTTP\/1\.1 431 /)
  })
})

describe('a name of another host is refused (a page whose name points here)', () => {
  const DENIED = [403, 'denied', 'host'] as const
  it.each<[string, string, readonly unknown[]]>([
    ['another', get('/healthz', [], 'evil.example'), DENIED],
    ['one that begins like ours', get('/healthz', [], 'localhost.evil.example:80'), DENIED],
    ['one that ends like ours', get('/healthz', [], 'evil-localhost'), DENIED],
    ['ours with a dot', get('/healthz', [], 'localhost.'), DENIED],
    ['an empty one', get('/healthz', [], ''), DENIED],
    ['ours, then another', get('/healthz', ['host: evil.example']), DENIED],
    ['another, then ours', get('/healthz', ['host: localhost'], 'evil.example'), DENIED],
    ['another in the address, ours in the header', get('http://evil.example/healthz'), DENIED],
    ['ours in the address, another in the header', get('http://localhost/healthz', [], 'evil.example'), DENIED],
    ['none', 'GET /healthz HTTP/1.1\r\n\r\n', DENIED],
    ['none in HTTP/1.0', 'GET /healthz HTTP/1.0\r\n\r\n', DENIED],
    ['ours as a user of another', get('/healthz', [], 'localhost@evil.example'), [400, 'invalid_argument', 'request']],
    ['another before a hash', get('/healthz', [], 'evil.example#localhost'), [400, 'invalid_argument', 'request']],
    ['two words', get('/healthz', [], 'local host'), [400, 'invalid_argument', 'request']],
  ])('%s', async (_, text, expected) => {
    expect(await refusal(text)).toEqual(expected)
  })

  it('ours is answered, with a port, in the address, and in HTTP/1.0', async () => {
    const whole = `http://localhost:${server.port}/healthz`
    const old = `GET /healthz HTTP/1.0\r\nhost: localhost\r\n\r\n`
    for (const text of [
      get('/healthz', [], `LOCALHOST:${server.port}`),
      get('/healthz', [], '[::1]:80'),
      get(whole),
      old,
    ]) {
      expect(await sendText(text)).toMatchObject({ status: 200, body: '{"ok":true}' })
    }
  })
})

describe('a page of another site is refused', () => {
  const SIMPLE = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']
  it.each(SIMPLE)('that posts %s without asking first', async type => {
    const foreign = ['origin: https://evil.example', `content-type: ${type}`]
    expect(await refusal(post('/v1/ops/delete', '{"ids":["heron"]}', foreign))).toEqual([403, 'denied', 'origin'])
    const opaque = ['origin: null', `content-type: ${type}`]
    expect(await refusal(post('/v1/ops/delete', '{"ids":["heron"]}', opaque))).toEqual([403, 'denied', 'origin'])
  })

  it('that asks first', async () => {
    const text = get(LIST, ['origin: https://evil.example', 'access-control-request-method: POST'])
    expect(await refusal(text.replace('GET', 'OPTIONS'))).toEqual([403, 'denied', 'origin'])
  })

  it('that loads what is here as a part of itself; a link to here may be followed', async () => {
    const foreign = (mode: string, dest: string) =>
      get('/v1/status', ['sec-fetch-site: cross-site', `sec-fetch-mode: ${mode}`, `sec-fetch-dest: ${dest}`])
    expect(await refusal(foreign('no-cors', 'image'))).toEqual([403, 'denied', 'origin'])
    expect(await refusal(foreign('navigate', 'iframe'))).toEqual([403, 'denied', 'origin'])
    expect((await sendText(foreign('navigate', 'document'))).status).toBe(200)
    expect((await sendText(get('/v1/status', ['sec-fetch-site: same-origin']))).status).toBe(200)
  })

  it('at MCP too', async () => {
    const message = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    const headers = ['content-type: application/json', 'accept: application/json, text/event-stream']
    expect(await refusal(post('/mcp', message, [...headers, 'origin: https://evil.example']))).toEqual([
      403,
      'denied',
      'origin',
    ])
    expect((await sendText(post('/mcp', message, headers))).status).toBe(200)
  })
})

describe('a body', () => {
  it('that is packed is refused: what it would unpack to is never seen', async () => {
    for (const packing of ['gzip', 'deflate', 'br', 'zstd', 'identity, gzip', 'GZIP']) {
      const text = post(LIST, '\x1f\x8b\x08\x00', [`content-encoding: ${packing}`])
      expect(await refusal(text)).toEqual([415, 'invalid_argument', 'content-encoding'])
    }
    expect((await sendText(post(LIST, '{}', ['content-encoding: identity']))).status).toBe(200)
  })

  it('that says that it is too long is not waited for', async () => {
    const head = `POST ${LIST} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${MAX_BODY + 1}\r\n\r\n`
    expect(await refusal(head)).toEqual([413, 'too_large', 'body'])
    expect(await refusal(head.replace(LIST, '/mcp'))).toEqual([413, 'too_large', 'body'])
  })

  it('that is too long without saying so is read no further', async () => {
    const part = `1000\r\n${' '.repeat(4_096)}\r\n`
    for (const path of [LIST, '/mcp', '/v1/query']) {
      const text = chunked(['transfer-encoding: chunked'], part.repeat(17)).replace(LIST, path)
      expect(await refusal(text)).toEqual([413, 'too_large', 'body'])
    }
    const fitting = chunked(['transfer-encoding: chunked'], `${part.repeat(15)}2\r\n{}\r\n0\r\n\r\n`)
    expect((await sendText(fitting)).status).toBe(200)
  })

  it('of other bytes than UTF-8 is refused', async () => {
    for (const bytes of ['{"a":"\xff"}', '{"a":"\xc3\x28"}', '{"a":"\xed\xa0\x80"}', '\xff\xfe{\0}\0']) {
      expect(await refusal(post(LIST, bytes))).toEqual([400, 'invalid_argument', 'body'])
      expect(await refusal(post('/mcp', bytes, ['content-type: application/json']))).toEqual([
        400,
        'invalid_argument',
        'body',
      ])
    }
  })

  it('of wrong JSON is refused', async () => {
    for (const text of ['{', '{"limit":1}}', "{'limit':1}", '{"limit":NaN}', 'limit=1', '\0', '{"a":\x01}']) {
      expect(await refusal(post(LIST, text))).toEqual([400, 'invalid_json', 'body'])
    }
  })

  it('of deep or strange JSON is refused by what it says', async () => {
    const deep = `{"metadata":${'['.repeat(30_000)}${']'.repeat(30_000)}}`
    expect(await refusal(post(LIST, deep))).toEqual([400, 'unknown_field', 'metadata'])
    const nested = `{"entries":[{"content":"x","metadata":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}]}`
    expect((await refusal(post('/v1/ops/put', nested))).slice(0, 2)).toEqual([400, 'invalid_argument'])
    expect(await refusal(post(LIST, '{"__proto__":{"limit":1}}'))).toEqual([400, 'unknown_field', '__proto__'])
  })
})

describe('an address', () => {
  it.each([
    '/../../etc/passwd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/..%2f..%2fetc%2fpasswd',
    '/assets/..%2f..%2f..%2fpackage.json',
    '/assets/../../package.json',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/assets/....//....//package.json',
    '/package.json%00.html',
    '/package.json',
    '//etc/passwd',
    '//evil.example/v1/status',
    '//v1/status',
    '/./v1//status',
    '/v1/ops/..%2f..%2fstatus',
    '/V1/STATUS',
    '/v1/status/',
    '/v1/status;a=b',
    '/v1%2fstatus',
    '/.git/config',
    '/.querent/store.db',
  ])('%s finds nothing', async path => {
    expect((await refusal(get(path))).slice(0, 2)).toEqual([
      404,
      path.startsWith('/v1/ops/') ? 'unknown_operation' : 'not_found',
    ])
  })

  it.each(['/..\\..\\etc\\passwd', '/\\evil.example', 'file:///etc/passwd', 'gopher://localhost/', '*'])(
    '%s is none',
    async path => {
      expect(await refusal(get(path))).toEqual([400, 'invalid_argument', 'request'])
    },
  )

  it.each<[string, string]>([
    ['/v1/entries/%ff', 'path'],
    ['/v1/entries/%c3%28', 'path'],
    ['/v1/entries/%ed%a0%80', 'path'],
    ['/v1/entries/%', 'path'],
    ['/v1/entries/%zz', 'path'],
    ['/v1/ops/%ff', 'path'],
    ['/%ff', 'path'],
    ['/v1/entries?order=%ff', 'query'],
    ['/v1/entries?order=%zz', 'query'],
    ['/v1/entries?%e0%80=id', 'query'],
  ])('%s with escapes that are no UTF-8 is refused', async (path, field) => {
    expect(await refusal(get(path))).toEqual([400, 'invalid_argument', field])
  })

  it('with escapes of slashes, dots and NUL names an entry of that very id', async () => {
    for (const [escaped, id] of [
      ['a%2F..%2Fb', 'a/../b'],
      ['%2e%2e%2fheron', '../heron'],
      ['heron%00', 'heron\0'],
      ['heron%5C', 'heron\\'],
    ] as const) {
      const { status, body } = await sendText(get(`/v1/entries/${escaped}`))
      expect([status, JSON.parse(body).error.details]).toMatchObject([404, { id }])
    }
  })
})

it('many requests at once on one connection are answered one after the other, in order', async () => {
  const client = new RawClient(server.port)
  const count = 200
  const all = Array.from({ length: count }, (_, at) => get(`/v1/entries/none-${at}`))
  client.send(all.join('') + get('/healthz', ['connection: close']))
  const text = await client.closed()
  const ids = [...text.matchAll(/"details":\{"id":"none-(\d+)"\}/g)].map(([, at]) => Number(at))
  expect(ids).toEqual(Array.from({ length: count }, (_, at) => at))
  expect(text.endsWith('{"ok":true}')).toBe(true)
})

it('a request to switch to another protocol is answered in this one', async () => {
  for (const protocol of ['websocket', 'h2c']) {
    const text = get('/healthz', ['connection: upgrade', `upgrade: ${protocol}`])
    expect(await sendText(text)).toMatchObject({ status: 200, body: '{"ok":true}' })
  }
  const client = new RawClient(server.port)
  client.send('CONNECT evil.example:443 HTTP/1.1\r\nhost: localhost\r\n\r\n')
  expect(await client.closed()).toBe('')
})

it('nothing of all this is held on to', async () => {
  await until(() => isQuiet(server.port))
})

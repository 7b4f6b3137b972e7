/** Clients that are slow, silent or many, and those who end the server while it waits for them. */
import { afterEach, describe, expect, it } from 'vitest'
import { querentHere } from '../support/in-process.ts'
import { ask, figure, get, isQuiet, post, RawClient, type Server, startServer, until } from './raw-http.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function serve(...more: readonly string[]): Promise<Server> {
  const server = await startServer(more)
  ends.push(server.end)
  return server
}

function clientOf({ port }: Server): RawClient {
  const client = new RawClient(port)
  ends.push(() => client.gone())
  return client
}

/** Never the whole: so many bytes each time, until the server has enough of it. Resolves to what it says then. */
async function trickle(client: RawClient, head: string, piece: string): Promise<string> {
  client.send(head)
  const timer = setInterval(() => client.send(piece), 25)
  try {
    return await client.closed()
  } finally {
    clearInterval(timer)
  }
}

const HEAD = 'POST /v1/ops/list HTTP/1.1\r\nhost: localhost\r\n'
/** Slow in every part that a request has, and in none faster than its time is over. */
const SLOW: readonly (readonly [what: string, head: string, piece: string])[] = [
  ['everything', '', ''],
  ['the line of the request', 'GET /', 'a'],
  ['one header', `${HEAD}x-a: `, 'a'],
  ['headers without end', HEAD, 'x-a: a\r\n'],
  ['a body of known length', `${HEAD}content-length: 100000\r\n\r\n{`, ' '],
  ['a body in chunks', `${HEAD}transfer-encoding: chunked\r\n\r\n`, '1\r\n \r\n'],
  ['the size of a chunk', `${HEAD}transfer-encoding: chunked\r\n\r\n`, '0'],
  ['a body for MCP', `${HEAD.replace('/v1/ops/list', '/mcp')}content-length: 100000\r\n\r\n`, ' '],
]

describe('a client that sends slowly', () => {
  it('gets an error when its time is over, whatever it is slow in, and delays no other client until then', async () => {
    const server = await serve('--receive-timeout', '1.5')
    const slow = SLOW.flatMap(([, head, piece]) =>
      Array.from({ length: 8 }, () => trickle(clientOf(server), head, piece)),
    )
    for (let at = 0; at < 20; at++) expect((await ask(server.port, post('/v1/ops/list', '{}'))).status).toBe(200)
    const answers = await Promise.all(slow)
    // Who was at its body is cut off, and may find its connection reset before it has read why.
    for (const reported of answers.filter(each => each !== '')) {
      expect(reported).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
      expect(JSON.parse(reported.split('\r\n\r\n')[1] ?? '')).toMatchObject({ error: { code: 'deadline_exceeded' } })
    }
    expect(answers.filter(each => each !== '').length).toBeGreaterThanOrEqual(4 * 8)
    await until(() => isQuiet(server.port))
    expect(server.said()).not.toContain('querent: bug')
  })
})

describe('a client that says nothing', () => {
  it('is in nobody’s way, five hundred times over', async () => {
    const server = await serve()
    const idle = Array.from({ length: 500 }, () => clientOf(server))
    await until(async () => (await figure(server.port, 'querent_http_connections_open')) === 501)
    expect((await ask(server.port, post('/v1/ops/list', '{}'))).status).toBe(200)
    expect(idle.filter(({ isClosed }) => isClosed)).toEqual([])
    for (const client of idle) client.gone()
    await until(() => isQuiet(server.port))
  })

  it('does not keep a server from ending', async () => {
    const server = await serve('--grace', '600')
    const idle = Array.from({ length: 20 }, () => clientOf(server))
    await until(async () => (await figure(server.port, 'querent_http_connections_open')) === 21)
    server.kill('SIGTERM')
    expect(await server.over).toBe(0)
    await Promise.all(idle.map(client => client.closed()))
  })
})

describe('too many connections', () => {
  it('are closed, and those within the bound answered', async () => {
    const server = await serve('--max-connections', '10')
    const clients = Array.from({ length: 15 }, () => clientOf(server))
    await until(() => clients.filter(({ isClosed }) => isClosed).length === 5)
    const kept = clients.filter(({ isClosed }) => !isClosed)
    for (const client of kept) client.send(get('/healthz', ['connection: close']))
    for (const client of kept) expect((await client.reply()).status).toBe(200)
    await until(() => isQuiet(server.port))
  })
})

describe('bounds', () => {
  it('are listed with their defaults by --help', async () => {
    const { stdout } = await querentHere(['serve', '--help'], { cwd: '/' })
    expect(stdout).toMatch(/--max-body <bytes>[^-]*4194304/)
    expect(stdout).toMatch(/--receive-timeout <seconds>[^-]*60/)
    expect(stdout).toMatch(/--max-connections <count>[^-]*4000/)
  })
})

describe('a signal', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('%s lets a request end; the second ends it at once', async signal => {
    const server = await serve('--grace', '600')
    const held = clientOf(server)
    held.send(`${HEAD}content-length: 2\r\n\r\n{`)
    const also = clientOf(server)
    also.send(`${HEAD}content-length: 2\r\n\r\n{`)
    await until(async () => (await figure(server.port, 'querent_http_requests_in_flight')) === 3)
    server.kill(signal)
    await until(async () => (await refusedNow(server)) === true)
    // What had begun is answered still.
    also.send('}')
    expect((await also.reply()).status).toBe(200)
    expect(held.isClosed).toBe(false)
    server.kill(signal)
    expect(await server.over).toBe(signal === 'SIGTERM' ? 143 : 130)
    expect(await held.closed()).toBe('')
  })
})

async function refusedNow(server: Server): Promise<boolean> {
  const client = clientOf(server)
  client.send(get('/healthz', ['connection: close']))
  return (await client.closed()) === ''
}

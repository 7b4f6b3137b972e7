/** Messages to other nodes over real sockets: what comes back, and what is given up. */
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { openHttpTransport } from '../../../src/sources/http-transport.ts'

const transport = openHttpTransport()
const never = new AbortController().signal
let server: Server | null = null
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
  server = null
})

async function listening(answer: RequestListener): Promise<string> {
  const made = createServer(answer)
  server = made
  await new Promise<void>(resolve => made.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}`
}

const ASKED = { path: '/v1/nodes/query', body: { question: 'ñ' }, maxBytes: 1_000 }

describe('a message over HTTP', () => {
  it('BQ-117: brings JSON there and back, over connections that are kept', async () => {
    const connections = new Set<unknown>()
    const address = await listening((request, response) => {
      connections.add(request.socket)
      let text = ''
      request.setEncoding('utf8')
      request.on('data', part => {
        text += part
      })
      request.on('end', () => response.end(JSON.stringify({ path: request.url, method: request.method, got: text })))
    })
    for (let time = 0; time < 8; time++) {
      expect(await transport.send(address, ASKED, never)).toEqual({
        path: '/v1/nodes/query',
        method: 'POST',
        got: '{"question":"ñ"}',
      })
    }
    expect(await transport.send(address, { ...ASKED, body: null }, never)).toMatchObject({ method: 'GET', got: '' })
    expect(connections.size).toBeLessThanOrEqual(2)
  })

  it.each<[string, string, number | null, RequestListener]>([
    ['a refusal', 'refused', 403, (_, response) => response.writeHead(403).end('{}')],
    [
      'a refusal longer than any answer',
      'refused',
      429,
      (_, response) => response.writeHead(429).end('x'.repeat(100_000)),
    ],
    ['a redirect', 'refused', 302, (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
    ['no JSON', 'malformed', null, (_, response) => response.end('<html>')],
    ['too much', 'too_large', null, (_, response) => response.end(JSON.stringify('x'.repeat(2_000)))],
    [
      'an answer without end',
      'too_large',
      null,
      (_, response) => {
        const more = () => {
          while (response.write('x'.repeat(500)));
        }
        response.on('drain', more)
        more()
      },
    ],
    ['a connection that breaks', 'unreachable', null, (_, response) => response.destroy()],
  ])('reports %s', async (_, code, status, answer) => {
    const address = await listening(answer)
    await expect(transport.send(address, ASKED, never)).rejects.toMatchObject({ code, status })
  })

  it('reports that nobody is there', async () => {
    await expect(transport.send('http://127.0.0.1:9', ASKED, never)).rejects.toMatchObject({ code: 'unreachable' })
  })

  it('BQ-154: ends with its signal, before an answer and in the middle of one', async () => {
    for (const begin of [false, true]) {
      const arrived = Promise.withResolvers<void>()
      const left = Promise.withResolvers<void>()
      const address = await listening((request, response) => {
        if (begin) response.write('"half')
        response.on('close', () => left.resolve())
        request.on('data', () => arrived.resolve())
      })
      const leaving = new AbortController()
      const sent = transport.send(address, ASKED, leaving.signal)
      const refused = expect(sent).rejects.toMatchObject({ code: 'aborted' })
      await arrived.promise
      leaving.abort()
      await refused
      await left.promise
      server?.close()
    }
  })
})

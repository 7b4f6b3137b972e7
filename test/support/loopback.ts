/** A real HTTP server on the loopback interface, for tests of code that asks others over HTTP. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface LoopbackRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface Loopback {
  /** Without a slash at the end. */
  readonly url: string
  readonly requests: LoopbackRequest[]
  close(): Promise<void>
}

/** `answer` is called once a request, after its body has come. */
export async function startLoopback(
  answer: (request: LoopbackRequest, response: ServerResponse) => void | Promise<void>,
): Promise<Loopback> {
  const requests: LoopbackRequest[] = []
  const server = createServer(async (incoming, response) => {
    let body = ''
    incoming.setEncoding('utf8')
    for await (const part of incoming) body += part
    const request = { method: incoming.method ?? '', path: incoming.url ?? '', headers: incoming.headers, body }
    requests.push(request)
    await answer(request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export function sendJson(response: ServerResponse, status: number, body: unknown, headers: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

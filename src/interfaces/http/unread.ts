/**
 * Requests that come to no route, because they cannot be read, or not in time: told in the shape of all failures, and then
 * their connection is closed, since where the next request on it would begin is not known.
 */
import type { Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { QuerentError } from '../../model/errors.ts'
import { failureResponse } from './failure.ts'

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  413: 'Content Too Large',
  431: 'Request Header Fields Too Large',
}

/** A client that is still sending would lose its answer if its connection were cut at once. */
const LINGER_MS = 500

export function notifyUnread(server: Server): void {
  const answers = new WeakMap<Duplex, ServerResponse>()
  const answered = new WeakSet<Duplex>()
  server.on('request', (request, response) => answers.set(request.socket, response))
  server.on('checkExpectation', (_request, response) => {
    const failure = new QuerentError('invalid_argument', 'expect: only 100-continue can be', { field: 'expect' })
    const body = JSON.stringify({ error: failure })
    const length = Buffer.byteLength(body)
    response.writeHead(417, { 'content-type': 'application/json', 'content-length': length, connection: 'close' })
    response.end(body)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // What still comes of it is wrong too.
    if (answered.has(socket)) return
    answered.add(socket)
    const answer = answers.get(socket)
    const isUnderWay = answer?.writableFinished === false
    if (!socket.writable || (isUnderWay && answer.headersSent)) return void socket.destroy()
    const [status, failure] = refusalOf(error.code)
    const body = JSON.stringify({ error: failure })
    const head = [
      `HTTP/1.1 ${status} ${REASONS[status]}`,
      'connection: close',
      'content-type: application/json',
      'cache-control: no-store',
      `content-length: ${Buffer.byteLength(body)}`,
    ]
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => {
      // A request whose body is refused must not go on, should the rest of it come after all.
      if (isUnderWay) socket.destroy()
      else setTimeout(() => socket.destroy(), LINGER_MS).unref()
    })
  })
}

/** For addresses and names of hosts of which no URL can be made. */
export function unreadableAddress(): Response {
  const failure = new QuerentError('invalid_argument', 'request: its address, or the host it names, is no URL', {
    field: 'request',
    expected: 'a path such as /v1/ops, and one header Host',
  })
  return failureResponse(failure, null)
}

/** By the code of Node's parser. */
function refusalOf(code: string | undefined): readonly [status: number, failure: QuerentError] {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [408, new QuerentError('deadline_exceeded', 'request: it was not whole in time', { field: 'request' })]
    case 'HPE_HEADER_OVERFLOW':
      return [431, new QuerentError('too_large', 'headers: too many, or too long', { field: 'headers' })]
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return [413, new QuerentError('too_large', 'body: too long extensions of a chunk', { field: 'body' })]
    default:
      return [400, new QuerentError('invalid_argument', 'request: it is no HTTP/1.1', { field: 'request' })]
  }
}

/**
 * Sends messages to other nodes over HTTP: JSON in both directions, connections kept open for the next message, and no answer read beyond
 * its size limit.
 */
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as overHttp } from 'node:http'
import { Agent as HttpsAgent, request as overHttps } from 'node:https'
import { type NodeMessage, type NodeTransport, TransportFailure } from '../pipeline/transport.ts'

/** Time in ms after which an idle connection is closed: less than the usual limit of servers. */
const IDLE_MS = 4_000

interface Agents {
  readonly http: HttpAgent
  readonly https: HttpsAgent
}

export function openHttpTransport(): NodeTransport {
  const closing = new AbortController()
  // The number of connections to a node is not limited: some messages wait long for their answer, and no query should queue behind them.
  const options = { keepAlive: true, timeout: IDLE_MS }
  const agents: Agents = { http: new HttpAgent(options), https: new HttpsAgent(options) }
  return {
    send: (address, message, signal) => send(agents, address, message, AbortSignal.any([signal, closing.signal])),
    close: async () => {
      closing.abort()
      agents.http.destroy()
      agents.https.destroy()
    },
  }
}

async function send(
  agents: Agents,
  address: string,
  { path, body, maxBytes }: NodeMessage,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    const text = body === null ? null : JSON.stringify(body)
    const response = await responseTo(() => requestOf(agents, new URL(path, address), text, signal))
    const { statusCode: status = 0 } = response
    if (status < 200 || status >= 300) {
      // The body of an answer that refuses the message is not read, since it may have any content and length.
      response.destroy()
      throw new TransportFailure('refused', `status ${status}`, { status })
    }
    return parsed(await boundedText(response, maxBytes))
  } catch (thrown) {
    if (signal.aborted) throw new TransportFailure('aborted', 'the message was given up', { cause: thrown })
    if (thrown instanceof TransportFailure) throw thrown
    throw new TransportFailure('unreachable', 'no server answers at the address', { cause: thrown })
  }
}

/** HTTP redirects are not followed: one would send a signed query to another server. */
function requestOf(agents: Agents, url: URL, body: string | null, signal: AbortSignal): ClientRequest {
  // Compressed answers are not requested: they consist mostly of vectors, which compression hardly shrinks, so compressing costs more time
  // than it saves.
  const headers = { accept: 'application/json', 'accept-encoding': 'identity' }
  const isSecure = url.protocol === 'https:'
  const [open, agent] = isSecure ? [overHttps, agents.https] : [overHttp, agents.http]
  if (body === null) return open(url, { agent, signal, headers }).end()
  const allHeaders = { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  return open(url, { agent, signal, headers: allHeaders, method: 'POST' }).end(body)
}

/**
 * The response to an HTTP request. If the server has closed the kept connection meanwhile, the request is sent once more over a new
 * connection.
 */
async function responseTo(ask: () => ClientRequest): Promise<IncomingMessage> {
  for (;;) {
    const asking = ask()
    try {
      return await answered(asking)
    } catch (thrown) {
      if (!asking.reusedSocket || (thrown as NodeJS.ErrnoException).code !== 'ECONNRESET') throw thrown
    }
  }
}

function answered(asking: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // The error listener is not removed: an error after the response began is reported here too, and would otherwise be uncaught.
    asking.on('error', reject)
    asking.on('response', resolve)
  })
}

async function boundedText(response: IncomingMessage, maxBytes: number): Promise<string> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of response as AsyncIterable<Buffer>) {
    length += piece.byteLength
    // Throwing leaves the `for await` loop, which closes the connection.
    if (length > maxBytes) throw new TransportFailure('too_large', `more than ${maxBytes} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new TransportFailure('malformed', 'the answer is not JSON', { cause })
  }
}

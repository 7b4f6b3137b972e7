/** Messages to other nodes over HTTP: JSON both ways, connections kept for the next one, nothing read beyond its bound. */
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as overHttp } from 'node:http'
import { Agent as HttpsAgent, request as overHttps } from 'node:https'
import { type NodeMessage, type NodeTransport, TransportFailure } from '../pipeline/transport.ts'

/** What is kept for the next message is let go after this: sooner than servers usually do. */
const IDLE_MS = 4_000

interface Agents {
  readonly http: HttpAgent
  readonly https: HttpsAgent
}

export function openHttpTransport(): NodeTransport {
  const closing = new AbortController()
  // As many connections to one node as there are messages under way: some wait there for long, and no question behind them.
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
      // What is said of it is not read: it may be anything, of any length.
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

/** A redirect is an answer like another: it would take a signed question to somebody else. */
function requestOf(agents: Agents, url: URL, body: string | null, signal: AbortSignal): ClientRequest {
  // What comes is vectors mostly, which do not shrink: packing them costs more than sending them.
  const headers = { accept: 'application/json', 'accept-encoding': 'identity' }
  const isSecure = url.protocol === 'https:'
  const [open, agent] = isSecure ? [overHttps, agents.https] : [overHttp, agents.http]
  if (body === null) return open(url, { agent, signal, headers }).end()
  const allHeaders = { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  return open(url, { agent, signal, headers: allHeaders, method: 'POST' }).end(body)
}

/** A connection that was kept may have been closed at the other end in the meantime: then once more, over a new one. */
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
    // It stays: a connection that breaks later is reported here as well as to the reader.
    asking.on('error', reject)
    asking.on('response', resolve)
  })
}

async function boundedText(response: IncomingMessage, maxBytes: number): Promise<string> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of response as AsyncIterable<Buffer>) {
    length += piece.byteLength
    // Leaving the loop ends the connection.
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

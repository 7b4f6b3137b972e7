/** Messages to other nodes over HTTP: JSON both ways, connections kept for the next one, nothing read beyond its bound. */
import { type NodeMessage, type NodeTransport, TransportFailure } from '../pipeline/transport.ts'

export function openHttpTransport(): NodeTransport {
  const closing = new AbortController()
  return {
    send: (address, message, signal) => send(address, message, AbortSignal.any([signal, closing.signal])),
    close: async () => closing.abort(),
  }
}

async function send(address: string, { path, body, mostBytes }: NodeMessage, signal: AbortSignal): Promise<unknown> {
  try {
    const response = await fetch(new URL(path, address), {
      method: body === null ? 'GET' : 'POST',
      // A redirect would take a signed question to somebody else.
      redirect: 'manual',
      // What comes is vectors mostly, which do not shrink: packing them costs more than sending them.
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        ...(body !== null && { 'content-type': 'application/json' }),
      },
      body: body === null ? null : JSON.stringify(body),
      signal,
    })
    if (!response.ok) {
      // What is said of it is not read: it may be anything, of any length.
      await response.body?.cancel()
      throw new TransportFailure('refused', `status ${response.status}`, { status: response.status })
    }
    return parsed(await boundedText(response, mostBytes))
  } catch (thrown) {
    if (signal.aborted) throw new TransportFailure('aborted', 'the message was given up', { cause: thrown })
    if (thrown instanceof TransportFailure) throw thrown
    throw new TransportFailure('unreachable', 'nobody answers at the address', { cause: thrown })
  }
}

async function boundedText(response: Response, mostBytes: number): Promise<string> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of response.body ?? []) {
    length += piece.byteLength
    // Leaving the loop ends the connection.
    if (length > mostBytes) throw new TransportFailure('too_large', `more than ${mostBytes} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new TransportFailure('malformed', 'the answer is no JSON', { cause })
  }
}

/** The HTTP interface as a way to ask questions of the lens `beliefs`, beside the library (`LIBRARY`). */

import type { Engine } from '../../src/engine/engine.ts'
import { REQUESTER } from './beliefs-hidden.ts'
import type { Interface } from './beliefs-hidden-world.ts'
import { serveHere } from './serve-here.ts'

const TOKEN = 'token-of-ann-in-tests'
const HEADERS = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }

export interface HttpInterface extends Interface {
  /** A request with the token of `REQUESTER`. */
  post(path: string, input: unknown, signal?: AbortSignal): Promise<Response>
}

/** `log`: called with what the server reports. */
export async function openOverHttp(engine: Engine, log: () => void): Promise<HttpInterface> {
  const server = await serveHere(engine, { tokens: { [TOKEN]: REQUESTER }, log })
  const post = (path: string, input: unknown, signal: AbortSignal | null = null) =>
    fetch(`${server.url}${path}`, { method: 'POST', headers: HEADERS, body: JSON.stringify(input), signal })
  return {
    post,
    ask: async ({ operation, input }) => {
      const response = await post(`/v1/ops/${operation}`, input)
      // How long an answer is depends on how many digits its measured times have.
      const measured = ['x-request-id', 'date', 'content-length']
      const shown = [...response.headers].filter(([name]) => !measured.includes(name))
      return `${response.status} ${JSON.stringify(shown)} ${await response.text()}`
    },
    close: async () => server[Symbol.asyncDispose](),
  }
}

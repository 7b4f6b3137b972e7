/** Listens: binds, sets time limits for slow clients, and closes in good order. */
import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import { serve } from '@hono/node-server'
import type { Engine } from '../../engine/engine.ts'
import { invalidArgument, QuerentError } from '../../model/errors.ts'
import type { Viewer } from '../../model/viewer.ts'
import type { Catalog } from '../../ops/catalog.ts'
import { makeApp } from './app.ts'
import { isLoopback } from './guard.ts'
import type { After } from './stream.ts'
import { Authenticator } from './tokens.ts'

export interface HttpOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Unchecked JSON `{"<token>": "<viewer>"}`. Needed unless `host` is loopback. */
  readonly tokens: unknown
  /** Where bugs are reported; default: standard error. */
  readonly log?: ((text: string) => void) | undefined
  readonly mcp?: ((request: Request, viewer: Viewer) => Promise<Response>) | undefined
  /** Timers of streams; default: the machine's. */
  readonly after?: After | undefined
}

/** How long a client may take to send its head, and all of its request. */
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 60_000
/** A client that goes on with a stream sends what it has of it as a header: `Last-Event-ID`. */
const MOST_HEAD_BYTES = 64 * 1024
/** How long requests under way may go on when the server is told to end. */
const GRACE_MS = 3_000

/** Resolves when the signal has ended it and every connection is closed. `ready` gets the address. */
export async function serveHttp(
  engine: Engine,
  catalog: Catalog,
  options: HttpOptions,
  signal: AbortSignal,
  ready: (url: string) => void,
): Promise<void> {
  const { host, port } = options
  const loopback = isLoopback(host)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw invalidArgument('--port', port, '0 to 65535')
  if (!loopback && options.tokens === undefined) {
    throw new QuerentError('invalid_argument', `--host ${host}: other machines can reach it, so --tokens is needed`, {
      field: '--host',
    })
  }
  const app = makeApp(engine, catalog, {
    authenticator: new Authenticator(options.tokens, loopback),
    loopback,
    mcp: options.mcp,
    requestId: randomUUID,
    ending: signal,
    after: options.after,
    log: options.log ?? (text => process.stderr.write(text)),
  })
  // Without a createServer option @hono/node-server makes a plain HTTP server; its type allows for others.
  const serverOptions = { maxHeaderSize: MOST_HEAD_BYTES }
  const server = serve({ fetch: app.fetch, hostname: host, port, serverOptions }) as Server
  server.headersTimeout = HEADERS_TIMEOUT_MS
  server.requestTimeout = REQUEST_TIMEOUT_MS
  await listening(server, options)
  ready(addressOf(server, host))
  await closed(server, signal)
}

function listening(server: Server, { host, port }: HttpOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('listening', resolve)
    server.once('error', cause => {
      reject(
        new QuerentError('io_failed', `cannot listen on ${host} port ${port}: ${cause.message}`, { host, port }, cause),
      )
    })
  })
}

function addressOf(server: Server, host: string): string {
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

function closed(server: Server, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const end = (): void => {
      const force = setTimeout(() => server.closeAllConnections(), GRACE_MS)
      server.close(() => {
        clearTimeout(force)
        resolve()
      })
      server.closeIdleConnections()
    }
    // Those that were at work then, and would be kept for further requests.
    server.on('request', (_request, response) => {
      response.once('close', () => setImmediate(() => signal.aborted && server.closeIdleConnections()))
    })
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}

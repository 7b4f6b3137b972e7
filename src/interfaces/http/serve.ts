/** Listens: binds, and closes in good order. */

import cluster from 'node:cluster'
import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { getRequestListener, RequestError } from '@hono/node-server'
import { printable } from '../../base/printable.ts'
import type { Engine } from '../../engine/engine.ts'
import { invalidArgument, QuerentError } from '../../model/errors.ts'
import type { HttpRequestLine } from '../../model/request-log.ts'
import type { Catalog } from '../../ops/catalog.ts'
import { type McpHandler, makeApp } from './app.ts'
import { bound, boundsOf, serverOptions } from './bounds.ts'
import { Connections } from './connections.ts'
import { failureResponse } from './failure.ts'
import { isLoopback, namesOf } from './guard.ts'
import { Metrics } from './metrics.ts'
import type { RequestObserver } from './noted.ts'
import { WorkerSiblings } from './siblings.ts'
import { listenOnSocket } from './socket.ts'
import type { After } from './stream.ts'
import { Authenticator } from './tokens.ts'
import { notifyUnread, unreadableAddress } from './unread.ts'

export interface HttpOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Absolute path of a Unix socket to listen on, instead of host and port: who can open it is the owner. */
  readonly socket?: string | undefined
  /** Unchecked JSON `{"<token>": "<viewer>"}`. Needed unless `host` is loopback, or a token is required. With it nobody is the owner without a token. */
  readonly tokens: unknown
  /** Nobody is the owner without a token, also where there are none: then only signed requests are answered. */
  readonly requireToken?: boolean | undefined
  /** Names that requests may call the server beside those of this machine. */
  readonly hosts?: readonly string[] | undefined
  /** Origins of other sites whose pages are answered. */
  readonly origins?: readonly string[] | undefined
  /** Milliseconds that a whole answer may take; default: as long as it takes. */
  readonly timeoutMs?: number | undefined
  /** Milliseconds that requests under way get when the server has to end. Default 3000. */
  readonly graceMs?: number | undefined
  /** The longest body that is read, in bytes. Default 4 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** Milliseconds that a client may take to send a request (a sixth of that for its head), or take nothing of its answer. Default 60 000. */
  readonly receiveMs?: number | undefined
  /** Connections at a time; further ones are closed. Default 4000. */
  readonly maxConnections?: number | undefined
  /** Gets a line when a request is over. */
  readonly note?: ((line: HttpRequestLine) => void) | undefined
  /** Where bugs are reported; default: standard error. */
  readonly log?: ((text: string) => void) | undefined
  readonly mcp?: McpHandler | undefined
  /** Timers of streams; default: the machine's. */
  readonly after?: After | undefined
}

const GRACE_MS = 3_000

/** Resolves when the signal has ended it and every connection is closed. `ready` gets the address. */
export async function serveHttp(
  engine: Engine,
  catalog: Catalog,
  options: HttpOptions,
  signal: AbortSignal,
  ready: (url: string) => void,
): Promise<void> {
  const { host, graceMs = GRACE_MS } = options
  const local = checkOptions(options)
  const bounds = boundsOf(options)
  const { worker } = cluster
  const metrics = new Metrics(engine, worker?.id, worker === undefined ? undefined : new WorkerSiblings())
  const app = makeApp(engine, catalog, {
    authenticator: new Authenticator({ tokens: options.tokens, requireToken: options.requireToken, local }),
    names: namesOf(local, options.hosts ?? [], options.origins ?? []),
    mcp: options.mcp,
    requestId: randomUUID,
    ending: signal,
    after: options.after,
    timeoutMs: options.timeoutMs,
    maxBodyBytes: bounds.maxBodyBytes,
    observers: [metrics, ...(options.note === undefined ? [] : [logger(options.note)])],
    metrics,
    log: options.log ?? (text => process.stderr.write(printable(text))),
  })
  const listener = getRequestListener(app.fetch, {
    hostname: host,
    errorHandler: error => (error instanceof RequestError ? unreadableAddress() : failureResponse(error, null)),
  })
  const server = createServer(serverOptions(bounds), listener)
  bound(server, bounds)
  notifyUnread(server)
  const connections = new Connections(server, bounds.receiveMs, by => metrics.connected(by))
  await listen(server, options)
  ready(addressOf(server, host))
  await closed(server, connections, { signal, graceMs })
}

/** Whether only this machine can connect. Throws `invalid_argument`. */
function checkOptions({ host, port, socket, tokens, requireToken, timeoutMs, graceMs }: HttpOptions): boolean {
  const local = socket !== undefined || isLoopback(host)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw invalidArgument('--port', port, '0 to 65535')
  if (timeoutMs !== undefined && !(timeoutMs > 0)) {
    throw invalidArgument('--request-timeout', timeoutMs / 1000, 'more than 0 seconds')
  }
  if (graceMs !== undefined && !(graceMs >= 0)) throw invalidArgument('--grace', graceMs / 1000, '0 seconds or more')
  if (!local && tokens === undefined && requireToken !== true) {
    const what = `--host ${host}: other machines can reach it, so --tokens is needed (or --require-token)`
    throw new QuerentError('invalid_argument', what, { field: '--host' })
  }
  return local
}

function logger(note: (line: HttpRequestLine) => void): RequestObserver {
  return { began: () => {}, streams: () => {}, ended: note }
}

function listen(server: Server, { host, port, socket }: HttpOptions): Promise<void> {
  if (socket !== undefined) return listenOnSocket(server, socket)
  return new Promise((resolve, reject) => {
    server.listen(port, host)
    server.once('listening', resolve)
    server.once('error', (cause: NodeJS.ErrnoException) => {
      if (cause.code === 'EADDRINUSE') {
        const message = `--port: port ${port} is in use; choose another, or 0 for a free one`
        return reject(new QuerentError('invalid_argument', message, { field: '--port', value: String(port) }, cause))
      }
      const what = `cannot listen on ${host} port ${port}: ${cause.message}`
      reject(new QuerentError('io_failed', what, { host, port }, cause))
    })
  })
}

function addressOf(server: Server, host: string): string {
  const address = server.address()
  if (typeof address === 'string') return `unix:${address}`
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

interface Ending {
  readonly signal: AbortSignal
  readonly graceMs: number
}

function closed(server: Server, connections: Connections, { signal, graceMs }: Ending): Promise<void> {
  return new Promise(resolve => {
    const end = (): void => {
      const force = setTimeout(() => server.closeAllConnections(), graceMs)
      server.close(() => {
        clearTimeout(force)
        resolve()
      })
      connections.closeWhenIdle()
    }
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}

/** The HTTP server: listens on a port or Unix socket, limits connections, and shuts down in an orderly way. */
import cluster from 'node:cluster'
import { randomUUID } from 'node:crypto'
import { chmodSync, lstatSync, unlinkSync } from 'node:fs'
import { createServer, type Server, type ServerOptions, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener, RequestError } from '@hono/node-server'
import { printable } from '../../base/printable.ts'
import type { Engine } from '../../engine/engine.ts'
import { invalidArgument, QuerentError } from '../../model/errors.ts'
import type { HttpRequestLine } from '../../model/request-log.ts'
import type { Catalog } from '../../ops/catalog.ts'
import { type McpHandler, makeApp } from './app.ts'
import { Authenticator } from './auth.ts'
import { MAX_BODY_BYTES } from './body.ts'
import type { RequestObserver } from './env.ts'
import { failureResponse } from './failure.ts'
import { isLoopback, namesOf } from './guard.ts'
import { Metrics } from './metrics.ts'
import type { HttpSettings } from './settings.ts'
import type { After } from './stream.ts'

// Limits on the resources that a connection may use before its requester is authenticated.

interface Bounds {
  /** Maximum size of a request body in bytes. */
  readonly maxBodyBytes: number
  /**
   * Milliseconds within which a client must have sent a whole request; the request's head must arrive in a sixth of that. A client that
   * reads nothing of its answer for this long is disconnected too.
   */
  readonly receiveMs: number
  /** Maximum number of open connections; further ones are closed at once. */
  readonly maxConnections: number
}

/**
 * Default limits. Every connection uses a file handle, so the maximum number of connections must be below the system's limit for open
 * files; the default leaves room for a thousand streams.
 */
const DEFAULTS: Bounds = { maxBodyBytes: MAX_BODY_BYTES, receiveMs: 60_000, maxConnections: 4_000 }

/**
 * Maximum size of a request's head in bytes; it is high because a client that resumes a stream sends the stream's state in the header
 * `Last-Event-ID`.
 */
const MAX_HEAD_BYTES = 64 * 1024
const MAX_HEADERS = 256
const HEAD_SHARE = 6
/** Milliseconds between two checks for clients that have exceeded their time; at least two checks are made within the time limit. */
const LOOK_EVERY_MS = 2_000

/** The limits on connections from the server's settings, with defaults. Throws `invalid_argument`. */
function boundsOf(given: HttpSettings): Bounds {
  const maxBodyBytes = given.max_body ?? DEFAULTS.maxBodyBytes
  const receiveMs = given.receive_timeout_ms ?? DEFAULTS.receiveMs
  const maxConnections = given.max_connections ?? DEFAULTS.maxConnections
  if (!isCount(maxBodyBytes)) throw invalidArgument('--max-body', maxBodyBytes, 'a whole number of bytes, 1 or more')
  if (!(receiveMs > 0 && receiveMs < 2 ** 31)) {
    throw invalidArgument('--receive-timeout', receiveMs / 1000, 'more than 0 seconds, and less than 24 days')
  }
  if (!isCount(maxConnections)) {
    throw invalidArgument('--max-connections', maxConnections, 'a whole number, 1 or more')
  }
  return { maxBodyBytes, receiveMs, maxConnections }
}

function serverOptions({ receiveMs }: Bounds): ServerOptions {
  return {
    maxHeaderSize: MAX_HEAD_BYTES,
    connectionsCheckingInterval: Math.ceil(Math.min(LOOK_EVERY_MS, receiveMs / (2 * HEAD_SHARE))),
    headersTimeout: Math.ceil(receiveMs / HEAD_SHARE),
    requestTimeout: Math.ceil(receiveMs),
    // Node's own check for the Host header is off: a request without it is rejected later, with an error in the usual form, like a request
    // with an unknown host.
    requireHostHeader: false,
  }
}

function bound(server: Server, { maxConnections }: Bounds): void {
  server.maxHeadersCount = MAX_HEADERS
  server.maxConnections = maxConnections
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1
}

// Tracks on which connections a request is in progress. Node also counts a connection on which nothing has arrived yet as busy, so that a
// shutdown would wait for such connections.

export class Connections {
  /** Number of requests in progress on each open connection. */
  readonly #open = new Map<Socket, number>()
  /** The response in progress, or the last one, on each connection. */
  readonly #answers = new WeakMap<Socket, ServerResponse>()
  #isEnding = false

  /**
   * `stalledMs`: a connection without any traffic for this many milliseconds is closed if it is idle, or if its client does not read a
   * complete response. `changed`: called with 1 when a connection is opened, with -1 when one is closed.
   */
  constructor(server: Server, stalledMs: number, changed: (by: 1 | -1) => void) {
    server.setTimeout(stalledMs, socket => {
      if (this.#isIdle(socket) || this.#isUntaken(socket)) socket.destroy()
    })
    server.on('connection', socket => {
      this.#open.set(socket, 0)
      changed(1)
      socket.once('close', () => {
        this.#open.delete(socket)
        changed(-1)
      })
    })
    server.on('request', ({ socket }, response) => {
      this.#count(socket, 1)
      this.#answers.set(socket, response)
      response.once('close', () => this.#count(socket, -1))
    })
  }

  /** Closes idle connections at once, and busy ones as soon as their requests are complete. */
  closeWhenIdle(): void {
    this.#isEnding = true
    for (const socket of this.#open.keys()) if (this.#isIdle(socket)) socket.destroySoon()
  }

  #isIdle(socket: Socket): boolean {
    return this.#open.get(socket) === 0
  }

  /**
   * Whether the response on this connection was written completely, but the client does not read it. (Streams handle slow clients
   * themselves.)
   */
  #isUntaken(socket: Socket): boolean {
    const answer = this.#answers.get(socket)
    return answer?.writableEnded === true && !answer.writableFinished
  }

  #count(socket: Socket, by: number): void {
    const before = this.#open.get(socket)
    if (before === undefined) return
    this.#open.set(socket, before + by)
    if (this.#isEnding && before + by === 0) setImmediate(() => this.#isIdle(socket) && socket.destroySoon())
  }
}

// Answers requests that reach no route, because they cannot be parsed or did not arrive in time. They get an error in the usual JSON form,
// and their connection is closed, since it is unknown where its next request begins.

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  413: 'Content Too Large',
  431: 'Request Header Fields Too Large',
}

/**
 * Milliseconds between sending the error and cutting the connection; if it were cut at once, a client that is still sending would lose the
 * error.
 */
const LINGER_MS = 500

function notifyUnread(server: Server): void {
  const answers = new WeakMap<Duplex, ServerResponse>()
  const answered = new WeakSet<Duplex>()
  server.on('request', (request, response) => answers.set(request.socket, response))
  server.on('checkExpectation', (_request, response) => {
    const failure = new QuerentError('invalid_argument', 'expect: only 100-continue is supported', { field: 'expect' })
    const body = JSON.stringify({ error: failure })
    const length = Buffer.byteLength(body)
    response.writeHead(417, { 'content-type': 'application/json', 'content-length': length, connection: 'close' })
    response.end(body)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // After the first error on a connection, everything else that arrives on it is invalid too, and ignored.
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
      // The connection is cut at once, because a request whose body was rejected must not run if the rest of the body arrives later.
      if (isUnderWay) socket.destroy()
      else setTimeout(() => socket.destroy(), LINGER_MS).unref()
    })
  })
}

/** The response to a request whose path or host name does not form a URL. */
function unreadableAddress(): Response {
  const failure = new QuerentError('invalid_argument', 'request: its address, or the host it names, is not a URL', {
    field: 'request',
    expected: 'a path such as /v1/ops, and one header Host',
  })
  return failureResponse(failure, null)
}

/** HTTP status and error for an error code of Node's HTTP parser. */
function refusalOf(code: string | undefined): readonly [status: number, failure: QuerentError] {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [408, new QuerentError('deadline_exceeded', 'request: it was not complete in time', { field: 'request' })]
    case 'HPE_HEADER_OVERFLOW':
      return [431, new QuerentError('too_large', 'headers: too many, or too long', { field: 'headers' })]
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return [413, new QuerentError('too_large', 'body: the extensions of a chunk are too long', { field: 'body' })]
    default:
      return [400, new QuerentError('invalid_argument', 'request: it is not HTTP/1.1', { field: 'request' })]
  }
}

export interface HttpOptions extends HttpSettings {
  /**
   * Contents of the token file, not yet checked: `{"<token>": "<viewer>"}`. Required if other machines can reach the server or if the
   * option to require a token is set. With tokens, requests without one are never treated as the local owner's.
   */
  readonly tokens: unknown
  /** Called with a line for the request log when a request is complete. */
  readonly note?: ((line: HttpRequestLine) => void) | undefined
  /** Number of days for which the request log may keep the texts of belief queries; absent: log lines contain no such texts. */
  readonly queryDays?: number | undefined
  /** Called with a report of each internal error. Default: prints it on standard error. */
  readonly log?: ((text: string) => void) | undefined
  readonly mcp?: McpHandler | undefined
  /** Function that starts a timer, used by streams. Default: the machine's timers. */
  readonly after?: After | undefined
}

const DEFAULT_HOST = '127.0.0.1'
const DEFAULT_PORT = 7411
const GRACE_MS = 3_000

/**
 * Serves HTTP until the signal is aborted; resolves when every connection is closed. `ready` is called with the server's address when it
 * accepts connections.
 */
export async function serveHttp(
  engine: Engine,
  catalog: Catalog,
  options: HttpOptions,
  signal: AbortSignal,
  ready: (url: string) => void,
): Promise<void> {
  const { host = DEFAULT_HOST, grace_ms: graceMs = GRACE_MS } = options
  const local = checkOptions(options)
  const bounds = boundsOf(options)
  const metrics = new Metrics(engine, cluster.worker?.id)
  const app = makeApp(engine, catalog, {
    authenticator: new Authenticator({ tokens: options.tokens, requireToken: options.require_token, local }),
    names: namesOf(local, options.allow_hosts ?? [], options.cors ?? []),
    mcp: options.mcp,
    requestId: randomUUID,
    ending: signal,
    after: options.after,
    timeoutMs: options.request_timeout_ms,
    maxBodyBytes: bounds.maxBodyBytes,
    observers: [metrics, ...(options.note === undefined ? [] : [logger(options.note)])],
    queryDays: options.queryDays,
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

/** Checks the options of the server. Returns whether only this machine can connect to it. Throws `invalid_argument`. */
function checkOptions(options: HttpOptions): boolean {
  const { host = DEFAULT_HOST, port = DEFAULT_PORT, socket, tokens } = options
  const { require_token: requireToken, request_timeout_ms: timeoutMs, grace_ms: graceMs } = options
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

function listen(server: Server, { host = DEFAULT_HOST, port = DEFAULT_PORT, socket }: HttpOptions): Promise<void> {
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

// Makes the HTTP server listen on a Unix socket instead of a port: only the user who owns the socket, and root, can connect.

/**
 * Maximum length of a Unix socket's path in bytes: the system's field `sun_path` has 108 bytes with the final NUL on Linux, 104 on macOS
 * and BSD.
 */
const MAX_PATH_BYTES = process.platform === 'linux' ? 107 : 103
const OWNER_ONLY = 0o600

/**
 * Makes the server listen on a Unix socket that has mode 0600 from the moment it exists. A socket file on which no process listens any more
 * is replaced; any other existing file is kept, and the call fails. Node removes the socket file when the server closes. `path`: absolute.
 * Throws `invalid_argument`, `io_failed`.
 */
export async function listenOnSocket(server: Server, path: string): Promise<void> {
  if (process.platform === 'win32') throw invalidArgument('--socket', path, 'a system with Unix sockets: use --port')
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw invalidArgument('--socket', path, `an absolute path of at most ${MAX_PATH_BYTES} bytes`)
  }
  await removeStale(path)
  const bound = Promise.withResolvers<void>()
  server.once('listening', bound.resolve)
  server.once('error', bound.reject)
  // The socket file is created during `listen` with the permissions that the umask allows; the umask is set so that nobody but the owner
  // can open the file even for a moment.
  const mask = process.umask(0o777 & ~OWNER_ONLY)
  try {
    server.listen(path)
  } finally {
    process.umask(mask)
  }
  try {
    await bound.promise
    chmodSync(path, OWNER_ONLY)
  } catch (cause) {
    throw ioFailed(path, cause)
  }
}

async function removeStale(path: string): Promise<void> {
  const there = lstatSync(path, { throwIfNoEntry: false })
  if (there === undefined) return
  if (!there.isSocket()) throw invalidArgument('--socket', path, 'a path that does not exist, or a socket')
  const code = await connectionError(path)
  if (code === null) throw invalidArgument('--socket', path, 'a socket that no other process listens on')
  if (code !== 'ECONNREFUSED' && code !== 'ENOENT') throw ioFailed(path, new Error(code))
  try {
    unlinkSync(path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw ioFailed(path, cause)
  }
}

/** Tries to connect to the Unix socket. Resolves to null if a process accepts the connection, otherwise to the error code. */
function connectionError(path: string): Promise<string | null> {
  return new Promise(resolve => {
    const probe = connect(path)
    probe.once('connect', () => {
      probe.destroy()
      resolve(null)
    })
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  })
}

function ioFailed(path: string, cause: unknown): QuerentError {
  const message = cause instanceof Error ? cause.message : String(cause)
  return new QuerentError('io_failed', `cannot listen on ${path}: ${message}`, { path, cause: message }, cause)
}

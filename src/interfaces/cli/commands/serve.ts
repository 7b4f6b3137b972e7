/** The commands `serve` and `mcp`, which run until they are stopped. No other command does background work. */
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../../base/canonical.ts'
import { jsonText } from '../../../base/printable.ts'
import { invalidArgument, QuerentError } from '../../../model/errors.ts'
import type { HttpRequestLine } from '../../../model/request-log.ts'
import { runOperation } from '../../../ops/catalog.ts'
import { add } from '../../../ops/query-ops.ts'
import type { CommonFlags } from '../flags.ts'
import { type Cli, type Io, type McpChoice, type ServeOptions, write, writeStyled } from '../io.ts'
import { withProgress } from '../progress.ts'
import { PLAIN_TEXT, rows, styleOf } from '../render/answer.ts'
import { addText } from '../render/page.ts'
import { assertExists, type Session, withSession } from '../session.ts'
import { print } from './print.ts'

// Serves one store on one port with several processes: the first process only starts the workers and replaces those that die. Each worker
// opens the store itself and sees what the others write; leases in the store decide which worker does background work.

/**
 * Message by which the first process asks a worker to end. A message rather than a signal, because the terminal may already have sent the
 * worker a signal, and a second signal would end it at once.
 */
const END = 'end'
/** Milliseconds before a worker that died is replaced; doubled with each further death, up to `MAX_PAUSE_MS`. */
const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 30_000
/**
 * If a worker that dies has lived at least this many milliseconds, the cause is taken to be a new one, and the pause before it is replaced
 * is the shortest again.
 */
const LONG_MS = 60_000

/**
 * Starts `count` worker processes and keeps them running; resolves to the exit code when all have ended. `listens` is called with the
 * address when the first worker accepts connections.
 */
async function runWorkers(cli: Cli, count: number, listens: (url: string) => void): Promise<number> {
  const { signal } = cli
  // Each worker accepts connections itself. If the first process distributed connections, those given to a worker that dies would never be
  // answered.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  // The first worker is started alone: it may have to create the store, and errors in the command line are then reported once rather than
  // by every worker.
  await cli.servers.relayFigures(signal)
  const first = cluster.fork()
  const isUp = await Promise.race([
    once(first, 'listening').then(([address]) => address as { address: string | null; port: number }),
    once(first, 'exit').then(([code]) => (code ?? 1) as number),
  ])
  if (typeof isUp === 'number') return isUp
  const host = isUp.address ?? '127.0.0.1'
  listens(`http://${host.includes(':') ? `[${host}]` : host}:${isUp.port}`)
  const endAll = (): void => {
    for (const worker of Object.values(cluster.workers ?? {})) if (worker?.isConnected()) worker.send(END)
  }
  signal.addEventListener('abort', endAll, { once: true })
  if (signal.aborted) endAll()
  await Promise.all([
    kept(cli, first),
    ...Array.from({ length: count - 1 }, () => (signal.aborted ? undefined : kept(cli, cluster.fork()))),
  ])
  return 0
}

/**
 * Signal by which a worker ends: aborted by a signal of the operating system, or by a message of the first process. Must be disposed of
 * when the worker has ended.
 */
class EndRequest implements Disposable {
  readonly #ended = new AbortController()
  readonly #listen = (message: unknown): void => {
    if (message === END) this.#ended.abort(new QuerentError('cancelled', 'stopped by the first process', {}))
  }
  readonly signal: AbortSignal

  constructor(signal: AbortSignal) {
    this.signal = AbortSignal.any([signal, this.#ended.signal])
    process.on('message', this.#listen)
  }

  /**
   * Disconnects the worker from the first process, since a connected worker never exits by itself. Done at the end, when the worker's exit
   * code is known.
   */
  [Symbol.dispose](): void {
    process.off('message', this.#listen)
    if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true
    if (process.connected) process.disconnect()
  }
}

/** Keeps one worker running: a worker that dies is replaced, until the server is stopped. */
async function kept({ io, signal }: Cli, worker: Worker): Promise<void> {
  let pause = FIRST_PAUSE_MS
  for (let current = worker; ; current = cluster.fork()) {
    if (signal.aborted && current.isConnected()) current.send(END)
    const started = performance.now()
    const [code, by] = (await once(current, 'exit')) as [number | null, string | null]
    if (signal.aborted) return
    if (performance.now() - started > LONG_MS) pause = FIRST_PAUSE_MS
    await write(io.stderr, `querent: worker ${current.id} ended (${by ?? `code ${code}`}); another in ${pause} ms\n`)
    await sleep(pause, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    pause = Math.min(MAX_PAUSE_MS, pause * 2)
  }
}

interface ServeFlags extends CommonFlags {
  readonly workers?: number
  readonly tokens?: string
  readonly log?: 'json' | 'text' | 'off'
  /** Number of days for which texts of queries may be kept in the request log. */
  readonly logQueries?: number
  /** Collection of the entries made from the files that the command adds before serving. */
  readonly collection?: string
  readonly open?: true
}

/** Maximum number of worker processes; more would be of no use on any machine. */
const MAX_WORKERS = 256

/** Runs the command `serve`. `settings`: those of the HTTP server; `paths`: files and folders to add before serving. */
export async function runServe(
  cli: Cli,
  flags: ServeFlags,
  settings: JsonObject,
  paths: readonly string[],
): Promise<void> {
  const { workers = 1 } = flags
  if (!Number.isInteger(workers) || workers < 1 || workers > MAX_WORKERS) {
    throw invalidArgument('--workers', workers, `a whole number from 1 to ${MAX_WORKERS}`)
  }
  if (workers > 1 && paths.length > 0) {
    throw invalidArgument('--workers', workers, '1 where paths are given: run `querent add` first, or serve with one')
  }
  if (paths.length === 0 && flags.collection !== undefined) {
    throw invalidArgument('--collection', flags.collection, 'paths to add to it')
  }
  await assertExists(cli, paths)
  cli.endsBySignal = true
  const listens = (url: string): void => {
    void write(cli.io.stderr, `querent listens on ${url}\n`)
    if (flags.open === true) void openBrowser(cli.io, url)
  }
  if (workers > 1 && cluster.isPrimary) cli.exitCode = await runWorkers(cli, workers, listens)
  else await serveHere(cli, paths, flags, settings, listens)
}

/** Serves HTTP in this process, which is either the only one or a worker; the address of workers is reported by the first process. */
async function serveHere(
  cli: Cli,
  paths: readonly string[],
  flags: ServeFlags,
  settings: JsonObject,
  listens: (url: string) => void,
): Promise<void> {
  const worker = cluster.worker?.id
  // The listener for the first process's request to end must be created before anything else, because the request may come at any moment.
  using request = worker === undefined ? undefined : new EndRequest(cli.signal)
  const tokens =
    flags.tokens === undefined ? undefined : await cli.servers.readTokens(cli.io.workingFolder, flags.tokens)
  const create = paths.length > 0 || isNamed(cli, flags)
  const { workers: processes, logQueries, log = logQueries === undefined ? 'off' : 'json' } = flags
  const session = { background: true, watchFiles: true, warm: true, create, processes }
  const noted = log === 'text' ? asText : jsonText
  const { socket } = settings
  const options: ServeOptions = {
    settings: { ...settings, ...(socket !== undefined && { socket: resolve(cli.io.workingFolder, String(socket)) }) },
    tokens,
    note: log === 'off' ? undefined : line => void write(cli.io.stderr, `${noted(line)}\n`),
    queryDays: logQueries,
  }
  const signal = request?.signal ?? cli.signal
  await withSession(cli, flags, session, async opened => {
    if (paths.length > 0) await addFiles(cli, opened, paths, flags.collection)
    const { engine, catalog } = opened
    await cli.servers.serveHttp(engine, catalog, options, signal, worker === undefined ? listens : () => {})
  })
}

export async function runMcp(cli: Cli, flags: McpFlags): Promise<void> {
  if (flags.listTools === true) return listTools(cli, flags)
  cli.endsBySignal = true
  const session = { background: true, watchFiles: true, warm: true, create: isNamed(cli, flags) }
  await withSession(cli, flags, session, ({ engine, catalog, context: { viewer } }) => {
    const options = { viewer, concise: flags.detail === 'concise', ...mcpChoice(flags) }
    return cli.servers.serveMcp(engine, catalog, options, cli.signal)
  })
}

interface McpFlags extends CommonFlags {
  readonly lens?: readonly string[]
  readonly tools?: readonly string[]
  readonly detail?: string
  readonly listTools?: true
}

/** Chosen lenses and tools from the flags. Names of tools may be given by repeating the option or separated by commas. */
function mcpChoice({ lens, tools }: McpFlags): McpChoice {
  const names = tools?.flatMap(text => text.split(',')).map(name => name.trim())
  return { lenses: lens, tools: names?.filter(name => name !== '') }
}

/** Prints the tools that an agent is offered, with the number of tokens that their descriptions take. */
async function listTools(cli: Cli, flags: McpFlags): Promise<void> {
  const tools = await withSession(cli, flags, {}, ({ engine, catalog }) =>
    cli.servers.listMcpTools(engine, catalog, mcpChoice(flags)),
  )
  const tokens = tools.reduce((sum, tool) => sum + tool.tokens, 0)
  const sum = () => `about ${tokens} tokens in all\n`
  const columns = ['tokens', 'tool=name', 'what for=description']
  await print(cli, flags, { lenses: flags.lens ?? [], tools, tokens }, rows('tools', columns, 'no tools', sum))
}

function asText(line: HttpRequestLine): string {
  const { at, method, operation, route, status, requester, duration_ms: ms, results, code, request_id: id } = line
  const ended = code ?? (results === null ? 'ok' : `${results} results`)
  const asked = line.query === undefined ? '' : ` ${JSON.stringify(line.query)} until ${line.keep_until}`
  return `${at} ${status} ${method} ${operation ?? route} ${requester || '-'} ${ms.toFixed(1)} ms, ${ended} (${id})${asked}`
}

/**
 * Whether the store's home (its folder) was named by flag or environment variable. Only then is a missing store created, because a client
 * program may start the server in any folder.
 */
function isNamed(cli: Cli, flags: CommonFlags): boolean {
  return flags.home !== undefined || Boolean(cli.io.env['QUERENT_HOME'])
}

/**
 * Opens the page in the user's browser. Never fails: if no browser can be opened, a line says so. On Linux the environment variable BROWSER
 * may name the browser.
 */
async function openBrowser(io: Io, url: string): Promise<void> {
  const failed = (): void => void write(io.stderr, `querent: no browser could be opened; the page is at ${url}\n`)
  try {
    const { default: open } = await import('open')
    // If the server listens on all addresses, the browser gets the loopback address.
    const opener = await open(url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:'))
    opener.once('exit', code => void (code !== 0 && failed()))
  } catch {
    failed()
  }
}

/**
 * Adds files to the store before serving. Messages go to standard error. Files that cannot be read are reported, and the server starts
 * nevertheless.
 */
async function addFiles(
  { io }: Cli,
  { engine, context }: Session,
  paths: readonly string[],
  collection: string | undefined,
): Promise<void> {
  const input = { paths: paths.map(path => resolve(io.workingFolder, path)), collection }
  const outcome = await withProgress(io, report => runOperation(add, engine, input, { ...context, report }))
  await writeStyled(io.stderr, addText(outcome, { ...PLAIN_TEXT, style: styleOf({ env: io.env, stdout: io.stderr }) }))
}

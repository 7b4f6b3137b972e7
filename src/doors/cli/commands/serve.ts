/** `serve` and `mcp`: the interfaces that stay open. They alone do background work. */

import cluster from 'node:cluster'
import { resolve } from 'node:path'
import { jsonText } from '../../../base/printable.ts'
import { invalidArgument } from '../../../model/errors.ts'
import type { HttpRequestLine, RequestLog } from '../../../model/request-log.ts'
import { openBrowser } from '../browser.ts'
import type { CommonFlags } from '../flags.ts'
import { write, writeJson } from '../io.ts'
import { rows } from '../render/answer.ts'
import type { Cli, McpChoice, ServeOptions } from '../run.ts'
import { withSession } from '../session.ts'
import { print } from './print.ts'
import { addFiles, mustBeThere } from './serve-files.ts'
import { WorkerSiblings } from './siblings.ts'
import { readTokens } from './token-file.ts'
import { EndRequest, runWorkers } from './workers.ts'

interface ServeFlags extends CommonFlags {
  readonly host: string
  readonly port: number
  readonly socket?: string
  readonly tokens?: string
  readonly requireToken?: true
  readonly allowHost?: readonly string[]
  readonly cors?: readonly string[]
  readonly workers: number
  /** Seconds. */
  readonly requestTimeout?: number
  readonly grace?: number
  readonly maxBody?: number
  /** Seconds. */
  readonly receiveTimeout?: number
  readonly maxConnections?: number
  /** Note requests on standard error, one line each. */
  readonly log?: 'json' | 'text' | 'off' | true
  /** Note the texts of queries too, to be kept so many days. */
  readonly logQueries?: number
  /** Of the paths. */
  readonly collection?: string
  readonly open?: true
}

/** More are no use on any machine. */
const MOST_WORKERS = 256

/** `paths`: added first. */
export async function runServe(cli: Cli, flags: ServeFlags, [paths]: readonly [readonly string[]]): Promise<void> {
  const { workers } = flags
  if (!Number.isInteger(workers) || workers < 1 || workers > MOST_WORKERS) {
    throw invalidArgument('--workers', workers, `a whole number from 1 to ${MOST_WORKERS}`)
  }
  if (workers > 1 && paths.length > 0) {
    throw invalidArgument('--workers', workers, '1 where paths are given: run `querent add` first, or serve with one')
  }
  if (paths.length === 0 && flags.collection !== undefined) {
    throw invalidArgument('--collection', flags.collection, 'paths whose entries are to be in it')
  }
  await mustBeThere(cli, paths)
  cli.endsBySignal = true
  const listens = (url: string): void => {
    void write(cli.io.stderr, `querent listens on ${url}\n`)
    if (flags.open === true) void openBrowser(cli.io, url)
  }
  if (workers > 1 && cluster.isPrimary) cli.exitCode = await runWorkers(cli, workers, listens)
  else await serveHere(cli, paths, flags, listens)
}

/** In this process: the only one, or a worker, whose address the first process reports. */
async function serveHere(
  cli: Cli,
  paths: readonly string[],
  flags: ServeFlags,
  listens: (url: string) => void,
): Promise<void> {
  const worker = cluster.worker?.id
  // First of all: the first process may say so at any moment.
  using request = worker === undefined ? undefined : new EndRequest(cli.signal)
  const tokens = flags.tokens === undefined ? undefined : await readTokens(cli.io.workingFolder, flags.tokens)
  const processes = flags.workers
  const create = paths.length > 0 || isNamed(cli, flags)
  const session = { background: true, warm: true, create, log: questionLog(cli, flags), processes }
  const options: ServeOptions = {
    host: flags.host,
    port: flags.port,
    tokens,
    requireToken: flags.requireToken,
    socket: flags.socket === undefined ? undefined : resolve(cli.io.workingFolder, flags.socket),
    hosts: flags.allowHost,
    origins: flags.cors,
    timeoutMs: milliseconds(flags.requestTimeout),
    graceMs: milliseconds(flags.grace),
    note: noteOf(cli, flags),
    worker,
    maxBodyBytes: flags.maxBody,
    receiveMs: milliseconds(flags.receiveTimeout),
    maxConnections: flags.maxConnections,
    siblings: worker === undefined ? undefined : new WorkerSiblings(),
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
  await withSession(
    cli,
    flags,
    { background: true, warm: true, create: isNamed(cli, flags) },
    ({ engine, catalog, context }) =>
      cli.servers.serveMcp(
        engine,
        catalog,
        { viewer: context.viewer, concise: flags.detail === 'concise', ...mcpChoice(flags) },
        cli.signal,
      ),
  )
}

interface McpFlags extends CommonFlags {
  readonly lens?: readonly string[]
  readonly tools?: readonly string[]
  readonly detail?: string
  readonly listTools?: true
}

/** Names of tools may be given one by one or with commas. */
function mcpChoice({ lens, tools }: McpFlags): McpChoice {
  const names = tools?.flatMap(text => text.split(',')).map(name => name.trim())
  return { lenses: lens, tools: names?.filter(name => name !== '') }
}

/** What an agent is offered, and what reading it costs the agent. */
async function listTools(cli: Cli, flags: McpFlags): Promise<void> {
  const tools = await withSession(cli, flags, {}, ({ engine, catalog }) =>
    cli.servers.listMcpTools(engine, catalog, mcpChoice(flags)),
  )
  const tokens = tools.reduce((sum, tool) => sum + tool.tokens, 0)
  const sum = () => `about ${tokens} tokens in all\n`
  const columns = ['tokens', 'tool=name', 'what for=description']
  await print(cli, flags, { lenses: flags.lens ?? [], tools, tokens }, rows('tools', columns, 'no tools', sum))
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000
}

/** A line for each request, whatever it asks. */
function noteOf(cli: Cli, { log = 'off' }: ServeFlags): ((line: HttpRequestLine) => void) | undefined {
  if (log === 'off') return undefined
  const form = log === 'text' ? asText : jsonText
  return line => void write(cli.io.stderr, `${form(line)}\n`)
}

function asText(line: HttpRequestLine): string {
  const { at, method, operation, route, status, requester, duration_ms: ms, results, code, request_id: id } = line
  const ended = code ?? (results === null ? 'ok' : `${results} results`)
  return `${at} ${status} ${method} ${operation ?? route} ${requester || '-'} ${ms.toFixed(1)} ms, ${ended} (${id})`
}

/** What the lens beliefs notes of questions: their texts, where the operator wants them. */
function questionLog(cli: Cli, { logQueries }: ServeFlags): RequestLog | undefined {
  if (logQueries === undefined) return undefined
  return {
    write: line => void writeJson(cli.io.stderr, line),
    queryDays: logQueries,
  }
}

/** A client starts servers in folders of its own choice: a store is made only where somebody named one. */
function isNamed(cli: Cli, flags: CommonFlags): boolean {
  return flags.home !== undefined || Boolean(cli.io.env['QUERENT_HOME'])
}

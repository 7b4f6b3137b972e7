/**
 * The process as the command line sees it: input and output streams, environment, signals, exit codes; and the object that every command
 * gets.
 */
import type { Readable, Writable } from 'node:stream'
import type { z } from 'zod'
import type { JsonObject } from '../../base/canonical.ts'
import { jsonText, printable, printableStyled } from '../../base/printable.ts'
import type { Engine } from '../../engine/engine.ts'
import { QuerentError } from '../../model/errors.ts'
import type { HttpRequestLine } from '../../model/request-log.ts'
import type { Viewer } from '../../model/viewer.ts'
import type { Catalog } from '../../ops/catalog.ts'

interface Terminal {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
}

/**
 * An output stream of the process. Everything is written to it by `write`, `writeStyled` or `writeJson`, which remove control characters,
 * so that no text can control the terminal.
 */
export type Output = Pick<Writable, 'destroyed' | 'destroy' | 'on' | 'off'> & Terminal

export interface Io {
  readonly stdin: Readable & Terminal
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
  readonly workingFolder: string
}

/**
 * Why a command was ended from outside. `interrupt`, `terminate`: by a signal. `pipe`: the reader of standard output closed it (`| head`),
 * which is no failure. `output`: standard output cannot be written, for example because the disk is full.
 */
export type Ending = 'interrupt' | 'terminate' | 'pipe' | 'output'

/** Listens for signals and for errors of standard output while a command runs, until `stop` is called. */
export class Endings {
  readonly #controller = new AbortController()
  readonly #io: Io
  readonly #onInterrupt = (): void => this.#end('interrupt')
  readonly #onTerminate = (): void => this.#end('terminate')
  readonly #onOutputError = (error: NodeJS.ErrnoException): void => {
    const isGone = error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED'
    if (!isGone) void write(this.#io.stderr, `querent: standard output: ${error.message}\n`)
    this.#end(isGone ? 'pipe' : 'output')
  }
  ending: Ending | null = null

  constructor(io: Io) {
    this.#io = io
    io.stdout.on('error', this.#onOutputError)
    process.on('SIGINT', this.#onInterrupt)
    process.on('SIGTERM', this.#onTerminate)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /**
   * Stops listening for signals. The listener for errors of standard output stays, because a late write to a closed pipe must not become an
   * unhandled error.
   */
  stop(): void {
    process.off('SIGINT', this.#onInterrupt)
    process.off('SIGTERM', this.#onTerminate)
  }

  #end(ending: Ending): void {
    // A second signal from the user ends the process at once, without waiting for the command to stop.
    const bySignal = ending === 'interrupt' || ending === 'terminate'
    if (this.ending !== null && bySignal) process.exit(exitCodeOf(this.ending))
    this.ending ??= ending
    this.#controller.abort(new QuerentError('cancelled', `stopped by ${ending}`, {}))
    this.#io.stdin.destroy() // ends a command that is waiting for standard input
    if (!bySignal) this.#io.stdout.destroy()
  }
}

export function exitCodeOf(ending: Ending): number {
  switch (ending) {
    case 'interrupt':
      return 130
    case 'terminate':
      return 143
    case 'pipe':
      return 0
    case 'output':
      return 1
  }
}

/**
 * Writes a text with its control characters made harmless, and waits while the reader is slower. Writes nothing once the reader has closed
 * the stream.
 */
export function write(output: Output, text: string): Promise<void> {
  return writeAsIs(output, printable(text))
}

/** Writes a text that contains this program's own style codes: these are kept, other control characters are made harmless. */
export function writeStyled(output: Output, text: string): Promise<void> {
  return writeAsIs(output, printableStyled(text, '\u001b'))
}

/** Writes a value as JSON, followed by a line feed. Control characters are escaped, so no character of the value is lost. */
export function writeJson(output: Output, value: unknown, indent?: number): Promise<void> {
  return writeAsIs(output, `${jsonText(value, indent)}\n`)
}

/**
 * The underlying stream, for libraries that draw on the terminal themselves; text passed to them must first be made harmless with
 * `printable`.
 */
export function streamOf(output: Output): Writable {
  return output as Writable
}

async function writeAsIs(output: Output, text: string): Promise<void> {
  const stream = streamOf(output)
  if (stream.destroyed || stream.write(text)) return
  await new Promise<void>(resolve => {
    const done = (): void => {
      for (const event of ['drain', 'close', 'error']) stream.off(event, done)
      resolve()
    }
    for (const event of ['drain', 'close', 'error']) stream.on(event, done)
  })
}

/**
 * Reads the whole text of a stream, such as piped input. Throws `invalid_argument` for bytes that are not UTF-8, `too_large` if there are
 * more than `limit` bytes.
 */
export async function readAll(stream: AsyncIterable<Uint8Array | string>, limit: number): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of stream) {
    const bytes = typeof part === 'string' ? Buffer.from(part) : part
    size += bytes.length
    if (size > limit) throw new QuerentError('too_large', `input: more than ${limit} bytes`, { field: 'input', limit })
    parts.push(bytes)
  }
  return decodeUtf8(Buffer.concat(parts), 'input')
}

/**
 * The lines of a stream without their line ends, each as soon as it is complete; a last line without a line end counts too. Does not use
 * Node's readline, which loses errors of the stream.
 */
export async function* linesOf(stream: AsyncIterable<Uint8Array | string>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let rest = ''
  for await (const part of stream) {
    rest += typeof part === 'string' ? part : decoder.decode(part, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  rest += decoder.decode()
  if (rest !== '') yield rest
}

/**
 * Decodes UTF-8; throws `invalid_argument` for invalid bytes, with `field` as the name of the input. `ignoreBOM`: keeps a byte order mark
 * as a character.
 */
export function decodeUtf8(bytes: Uint8Array, field: string, ignoreBOM = false): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM }).decode(bytes)
  } catch {
    throw new QuerentError('invalid_argument', `${field}: not UTF-8 text`, { field, expected: 'UTF-8 text' })
  }
}

export function processIo(): Io {
  const { stdin, stdout, stderr, env } = process
  return { stdin, stdout, stderr, env, workingFolder: process.cwd() }
}

// Asks the user at the terminal to confirm something; only a plain yes counts as confirmation.

export async function confirm({ stdin, stderr }: Io, question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline')
  const lines = createInterface({ input: stdin, output: streamOf(stderr) })
  const answer = await new Promise<string>(resolve => {
    lines.once('close', () => resolve(''))
    lines.question(`${printable(question)} [y/N] `, resolve)
  })
  lines.close()
  return /^y(es)?$/i.test(answer.trim())
}

// The object that every command gets: streams, servers, abort signal, and settings of the exit code and of error reports.

export interface Cli {
  readonly io: Io
  readonly servers: Servers
  /** Aborted when the command is to end: by SIGINT or SIGTERM, or because standard output can no longer be written. */
  readonly signal: AbortSignal
  /** Exit code of the process if the command ends without an error. */
  exitCode: number
  /** Exit code for a wrong command line or input: 2, except for commands whose contract has a single exit code for all failures. */
  usageExitCode: number
  /** Whether the command runs until a signal ends it, so that ending by a signal is a success. */
  endsBySignal: boolean
  /** How a failure is reported: as text on standard error, as JSON on standard output, or (`json-aside`) as JSON on standard error. */
  errors: 'text' | 'json' | 'json-aside'
}

/** With `--json`, makes the command print errors as JSON on standard error; otherwise they would go to standard output. */
export function errorsAside(cli: Cli): void {
  if (cli.errors === 'json') cli.errors = 'json-aside'
}

/** Runs a command of a group whose contract requires errors on standard error, as JSON too with `--json`. */
export function withErrorsAside(cli: Cli, body: () => Promise<void>): Promise<void> {
  errorsAside(cli)
  return body()
}

/**
 * The servers that commands can start. The command line does not import the modules of other interfaces; the program's main module passes
 * these functions in.
 */
export interface Servers {
  /** Schema of the HTTP server's settings, from which the flags of `serve` are made. */
  httpSettings(): Promise<z.ZodType>
  /** Serves HTTP until the signal is aborted; calls `ready` with the address when the server accepts connections. */
  serveHttp(
    engine: Engine,
    catalog: Catalog,
    options: ServeOptions,
    signal: AbortSignal,
    ready: (url: string) => void,
  ): Promise<void>
  /** Reads the JSON file of bearer tokens that the option `--tokens` names. */
  readTokens(workingFolder: string, path: string): Promise<unknown>
  /**
   * Called in the first of several processes on one port: collects metrics from the workers on request of one of them, until the signal is
   * aborted.
   */
  relayFigures(signal: AbortSignal): Promise<void>
  /** Serves MCP on standard input and output until the input ends or the signal is aborted. */
  serveMcp(engine: Engine, catalog: Catalog, options: McpOptions, signal: AbortSignal): Promise<void>
  /** The MCP tools of the chosen lenses, or the default tools if none are chosen. Throws `unknown_lens`. */
  listMcpTools(engine: Engine, catalog: Catalog, choice: McpChoice): Promise<readonly McpToolCost[]>
}

interface McpToolCost {
  readonly name: string
  readonly title: string
  readonly description: string
  /** Estimated number of tokens of the tool's description, which an agent has to read before it can use the tool. */
  readonly tokens: number
}

export interface ServeOptions {
  /** Settings of the HTTP server, in the form that the schema from `httpSettings` describes. */
  readonly settings: JsonObject
  /** Contents of the JSON file that the option `--tokens` names; checked by the server. */
  readonly tokens: unknown
  /** Called with a line for the request log when a request is complete; undefined: nothing is logged. */
  readonly note: ((line: HttpRequestLine) => void) | undefined
  /** Number of days for which the request log may keep the texts of belief queries; undefined: log lines contain no such texts. */
  readonly queryDays: number | undefined
}

/** Which MCP tools are offered, by lens and by name; if both are empty, the default tools. */
export interface McpChoice {
  readonly lenses?: readonly string[] | undefined
  readonly tools?: readonly string[] | undefined
}

interface McpOptions extends McpChoice {
  readonly viewer: Viewer
  readonly concise?: boolean | undefined
}

/** All exit codes of the program. They are part of its contract and are listed in docs/guide/cli.md. */
export const EXIT = { answered: 0, failed: 1, usage: 2, nothingRelevant: 3 } as const

/**
 * Converts anything that was thrown to a QuerentError. An error of another class is a bug of this program and is reported without its
 * stack.
 */
export function asQuerentError(error: unknown): QuerentError {
  if (error instanceof QuerentError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new QuerentError('internal', `internal error: ${message}`, {}, error)
}

export function exitCodeFor(error: QuerentError): number {
  return error.kind === 'usage' ? EXIT.usage : EXIT.failed
}

/** Codes of errors whose messages already name the wrong field and the expected value, so that no help text is added. */
const SAYS_ALL: ReadonlySet<string> = new Set(['invalid_argument', 'unknown_field', 'too_large', 'cancelled'])

/** A failure as text for the terminal: what is wrong, then what to do about it, unless the message already says that. */
export function failureText({ code, message, help }: QuerentError): string {
  const isSaid = SAYS_ALL.has(code) || message.includes('`querent ')
  return `querent: ${message}\n${isSaid ? '' : `  ${help}\n`}`
}

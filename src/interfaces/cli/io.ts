/** The process as the command line sees it: streams, environment, the signal that says stop, exit codes; and what every command gets. */
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

/** What is written comes through `write`, `writeStyled` or `writeJson`, so that no text commands the terminal. */
export type Output = Pick<Writable, 'destroyed' | 'destroy' | 'on' | 'off'> & Terminal

export interface Io {
  readonly stdin: Readable & Terminal
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
  readonly workingFolder: string
}

/**
 * Why a run was ended from outside. `pipe`: nobody reads standard output any more (`| head`), which is no failure;
 * `output`: it cannot be written (a full disk).
 */
export type Ending = 'interrupt' | 'terminate' | 'pipe' | 'output'

/** Listens for the end while one command runs; undone by `stop`. */
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

  /** The listener for a broken pipe stays: a late write must not become an unhandled error. */
  stop(): void {
    process.off('SIGINT', this.#onInterrupt)
    process.off('SIGTERM', this.#onTerminate)
  }

  #end(ending: Ending): void {
    // A second signal of the user means: at once.
    const bySignal = ending === 'interrupt' || ending === 'terminate'
    if (this.ending !== null && bySignal) process.exit(exitCodeOf(this.ending))
    this.ending ??= ending
    this.#controller.abort(new QuerentError('cancelled', `stopped by ${ending}`, {}))
    this.#io.stdin.destroy() // a command may be waiting for it
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

/** Writes as `printable`, and waits while the reader is slower than we are. Silent once the reader has gone. */
export function write(output: Output, text: string): Promise<void> {
  return writeAsIs(output, printable(text))
}

/** As `write`, of a text with codes of our own styles in it. */
export function writeStyled(output: Output, text: string): Promise<void> {
  return writeAsIs(output, printableStyled(text, '\u001b'))
}

/** As `write`, without loss: the value as JSON, then a line feed. */
export function writeJson(output: Output, value: unknown, indent?: number): Promise<void> {
  return writeAsIs(output, `${jsonText(value, indent)}\n`)
}

/** For libraries that draw on the terminal themselves: what they are given must be `printable`. */
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

/** The whole of a piped text. Throws `invalid_argument` for bytes that are not UTF-8, `too_large` above the limit. */
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

/** Lines without their ends, as they come; a last one without an end counts. Not readline: it loses stream errors. */
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

/** `ignoreBOM`: a byte order mark is kept. */
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

// Asks a person at the terminal; only a plain yes is one.

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

// What every command body gets.

export interface Cli {
  readonly io: Io
  readonly servers: Servers
  /** Aborted by SIGINT, SIGTERM and a broken pipe. */
  readonly signal: AbortSignal
  /** What the process ends with when nothing is thrown. */
  exitCode: number
  /** What it ends with when the command line or the input is wrong: 2, but for commands whose contract has one code for all. */
  usageExitCode: number
  /** Set by commands that run until a signal ends them: for those it is a good end. */
  endsBySignal: boolean
  /** How a failure is reported: to people, as JSON on standard output, or as JSON on standard error. */
  errors: 'text' | 'json' | 'json-aside'
}

/** For commands that report errors on standard error in either form. */
export function errorsAside(cli: Cli): void {
  if (cli.errors === 'json') cli.errors = 'json-aside'
}

/** As the form of a group's contract. */
export function withErrorsAside(cli: Cli, body: () => Promise<void>): Promise<void> {
  errorsAside(cli)
  return body()
}

/** The servers a command line can start. Interfaces do not import each other: whoever starts the process passes these. */
export interface Servers {
  /** Of `serve`: its flags are made of them. */
  httpSettings(): Promise<z.ZodType>
  /** Serves until the signal; calls `ready` with the address once it listens. */
  serveHttp(
    engine: Engine,
    catalog: Catalog,
    options: ServeOptions,
    signal: AbortSignal,
    ready: (url: string) => void,
  ): Promise<void>
  /** JSON of the file that `--tokens` names. */
  readTokens(workingFolder: string, path: string): Promise<unknown>
  /** In the first of several processes on one port: hands figures from one to the other, until the signal. */
  relayFigures(signal: AbortSignal): Promise<void>
  /** Serves on standard input and output until either ends. */
  serveMcp(engine: Engine, catalog: Catalog, options: McpOptions, signal: AbortSignal): Promise<void>
  /** The tools of a lens, or those that are there without one. Throws `unknown_lens`. */
  listMcpTools(engine: Engine, catalog: Catalog, choice: McpChoice): Promise<readonly McpToolCost[]>
}

interface McpToolCost {
  readonly name: string
  readonly title: string
  readonly description: string
  /** That an agent reads to know of the tool: an estimate. */
  readonly tokens: number
}

export interface ServeOptions {
  /** As `httpSettings` describes them. */
  readonly settings: JsonObject
  /** JSON of the file that `--tokens` names; checked by the server. */
  readonly tokens: unknown
  /** Gets a line when a request is over. */
  readonly note: ((line: HttpRequestLine) => void) | undefined
  /** Days for which the texts of queries of beliefs may be kept; undefined: lines have none. */
  readonly queryDays: number | undefined
}

/** Nothing: the default tools. */
export interface McpChoice {
  readonly lenses?: readonly string[] | undefined
  readonly tools?: readonly string[] | undefined
}

interface McpOptions extends McpChoice {
  readonly viewer: Viewer
  readonly concise?: boolean | undefined
}

/** Every exit code there is; part of the contract, listed in docs/guide/cli.md. */
export const EXIT = { answered: 0, failed: 1, usage: 2, nothingRelevant: 3 } as const

/** Anything thrown, as the one error class. What is not ours is a bug of ours, reported without its stack. */
export function asQuerentError(error: unknown): QuerentError {
  if (error instanceof QuerentError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new QuerentError('internal', `internal error: ${message}`, {}, error)
}

export function exitCodeFor(error: QuerentError): number {
  return error.kind === 'usage' ? EXIT.usage : EXIT.failed
}

/** Their messages name the field and what was expected: nothing is left to say. */
const SAYS_ALL: ReadonlySet<string> = new Set(['invalid_argument', 'unknown_field', 'too_large', 'cancelled'])

/** For people: what is wrong, then what to do, where the message does not say it itself. */
export function failureText({ code, message, help }: QuerentError): string {
  const isSaid = SAYS_ALL.has(code) || message.includes('`querent ')
  return `querent: ${message}\n${isSaid ? '' : `  ${help}\n`}`
}

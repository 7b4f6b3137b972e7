/** What every command body gets. */
import type { z } from 'zod'
import type { JsonObject } from '../../base/canonical.ts'
import type { Engine } from '../../engine/engine.ts'
import { QuerentError } from '../../model/errors.ts'
import type { HttpRequestLine } from '../../model/request-log.ts'
import type { Viewer } from '../../model/viewer.ts'
import type { Catalog } from '../../ops/catalog.ts'
import type { Io } from './io.ts'

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

/**
 * Makes each path of the lens `context` an operation of the engine: `/mind/concepts/create-many` becomes
 * `context.mind_concepts_create_many`.
 */
import type { z } from 'zod'
import { QuerentError } from '../../model/errors.ts'
import type { Operation } from '../../model/operation.ts'
import { LOCAL_OWNER, type Viewer } from '../../model/viewer.ts'
import type { LensHost } from '../lens.ts'
import type { NamedOperation } from '../lens-operation.ts'
import { queryOperations } from '../query-operations.ts'
import { FILE_HANDLERS, TEXT_HANDLERS } from './body.ts'
import { callHandler, type Emit, type Handler, type TypedHandler } from './call.ts'
import { type Envelope, envelopeOf, refusal } from './envelope.ts'
import { GRAPH_HANDLERS } from './graph.ts'
import { INDEX_HANDLER } from './indexing/index-run.ts'
import { CONCEPT_HANDLERS, EDGE_HANDLERS, PROVENANCE_HANDLERS } from './mind/mind.ts'
import { EXTRACT_HANDLER } from './mind/patch.ts'
import { QUERY_HANDLER } from './query/answer.ts'
import { contextQuestion, queryOfQuestion } from './query/request.ts'
import { SYMBOL_HANDLERS } from './symbols.ts'

const ALL = [
  QUERY_HANDLER,
  INDEX_HANDLER,
  EXTRACT_HANDLER,
  ...SYMBOL_HANDLERS,
  ...FILE_HANDLERS,
  ...TEXT_HANDLERS,
  ...CONCEPT_HANDLERS,
  ...EDGE_HANDLERS,
  ...PROVENANCE_HANDLERS,
  ...GRAPH_HANDLERS,
] as const

type KnownHandler = (typeof ALL)[number]

export const HANDLERS: ReadonlyMap<string, Handler> = new Map(ALL.map(handler => [handler.path, handler]))

/** The name of the operation for a path, computed as a TypeScript type. */
type NameOf<Path extends string> = Path extends `/context/${infer Rest}`
  ? `context.${Joined<Rest>}`
  : Path extends `/${infer Rest}`
    ? `context.${Joined<Rest>}`
    : never
type Joined<Path extends string> = Path extends `${infer Head}/${infer Tail}`
  ? `${Joined<Head>}_${Joined<Tail>}`
  : Path extends `${infer Head}-${infer Tail}`
    ? `${Head}_${Joined<Tail>}`
    : Path

type OperationOf<H> =
  H extends TypedHandler<infer Path, infer Params, infer Result>
    ? NamedOperation<NameOf<Path>, Params, z.ZodType<Envelope<z.output<Result>>>>
    : never

// The cast is safe: the names and schemas of these operations are those of the handlers.
const CALLS = [...HANDLERS.values()].map(operationOf) as unknown as readonly OperationOf<KnownHandler>[]

export const CONTEXT_OPERATIONS = [
  ...CALLS,
  ...queryOperations({
    name: 'context',
    input: contextQuestion,
    toQuery: (_, question) => queryOfQuestion(question),
  }),
] as const

/** Name of the operation for a path: `/context/query` becomes `context.query`. */
export function operationName(path: string): string {
  return `context.${path.replace(/^\/(?:context\/)?/, '').replace(/[^a-z0-9]+/g, '_')}`
}

function operationOf({ path, summary, effect, params, result }: Handler): Operation<LensHost> {
  return {
    name: operationName(path),
    summary,
    input: params,
    output: envelopeOf(result),
    effect: { kind: effect, idempotent: effect === 'read' || /\/(?:init|scan|extract)$/.test(path) },
    // The engine does not check the input by the schema: the handler does, and reports faults of parameters in the envelope.
    checksInput: true,
    // Parameters with which `querent context query` calls this path; calls of the path itself search by names and words by default
    // (CX-078).
    ...(path === '/context/query' && { preset: { mode: 'hybrid', rank: 'relevance', snippet: 'passage' } }),
    run: (host, given, { viewer, signal, report }) =>
      callHandler(HANDLERS, host, path, given, {
        viewer,
        signal,
        isWaitBounded: true,
        emit: ({ phase, current, total, message }) => report?.({ phase, done: current, total, current: message }),
      }),
  }
}

// The lens `context` as a library, for one viewer: `call(path, params, emit?)`, and `callText` with parameters as a command line gives them
// (CX-046), which is JSON, `@file`, or standard input.

export class Context {
  readonly #host: LensHost
  readonly #viewer: Viewer

  /** `host`: what the engine gives this lens, from `engine.host('context')`. */
  constructor(host: LensHost, viewer: Viewer = LOCAL_OWNER) {
    this.#host = host
    this.#viewer = viewer
  }

  /** Runs the call of a path and returns its envelope; never rejects, since errors are in the envelope. */
  call(path: string, params: unknown = null, emit?: Emit, signal?: AbortSignal): Promise<Envelope> {
    return callHandler(HANDLERS, this.#host, path, params, { viewer: this.#viewer, emit, signal })
  }

  /**
   * Runs the call of a path with parameters in the text form of the command line (JSON, `@file`, or standard input). Never rejects, since
   * errors are in the envelope.
   */
  callText(path: string, argument: string | undefined, input: CallInput, signal?: AbortSignal): Promise<Envelope> {
    const params = () => paramsOf(argument, input)
    return callHandler(HANDLERS, this.#host, path, params, { viewer: this.#viewer, signal })
  }
}

/** How the parameters of a call are read from a file or from standard input. */
export interface CallInput {
  /** The text of a file; undefined when there is no such file. */
  readFile(path: string): Promise<string | undefined>
  readStandardInput(): Promise<string>
}

/**
 * Reads the parameters that a command line argument gives: JSON, `@file`, or standard input. An empty text gives null. Throws `Refusal`
 * with `file_not_found`, `unreadable` or `invalid_json`.
 */
async function paramsOf(argument: string | undefined, input: CallInput): Promise<unknown> {
  if (argument === undefined || argument === '-') return parsed(await read(() => input.readStandardInput()))
  if (!argument.startsWith('@')) return parsed(argument)
  const path = argument.slice(1)
  const text = await read(() => input.readFile(path))
  if (text === undefined) throw refusal('params', 'file_not_found', `there is no file ${path}`)
  return parsed(text)
}

/** Reads a text from a source; bytes that cannot be decoded as text are reported as invalid JSON. */
async function read<T>(source: () => Promise<T>): Promise<T> {
  try {
    return await source()
  } catch (error) {
    const isNoText = error instanceof QuerentError && error.code === 'invalid_argument'
    throw refusal('params', isNoText ? 'invalid_json' : 'unreadable', messageOf(error))
  }
}

function parsed(text: string): unknown {
  if (text.trim() === '') return null
  try {
    return JSON.parse(text)
  } catch (error) {
    throw refusal('params', 'invalid_json', messageOf(error))
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

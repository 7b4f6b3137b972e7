/** Runs an MCP tool and makes its result. An error becomes a result that tells an agent what it can do about it. */
import {
  type CallToolResult,
  fromJsonSchema,
  type JsonSchemaType,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { JsonObject } from '../../base/canonical.ts'
import { printable } from '../../base/printable.ts'
import { withValue } from '../../base/record.ts'
import type { Engine } from '../../engine/engine.ts'
import { unread } from '../../engine/run-operation.ts'
import type { CallContext, Progress } from '../../model/operation.ts'
import { unknownField } from '../../model/parse-input.ts'
import { reportedError } from '../../model/reported-error.ts'
import type { Viewer } from '../../model/viewer.ts'
import { bugReport } from '../../ops/admin-ops.ts'
import { runOperation } from '../../ops/catalog.ts'
import { failure, resultOf, takeRoom } from './answer.ts'
import { isObject } from './brief.ts'
import { describeTool, type Tool } from './tools.ts'

// Options of an MCP server: its viewer, the default form of answers, and where internal errors are reported.

export interface ServerOptions {
  readonly viewer: Viewer
  /** Lens of queries that name none; undefined: the engine's default. */
  readonly lens: string | undefined
  /** Whether answers are in concise form if a call does not choose a form. Default: false. */
  readonly concise?: boolean | undefined
  /** Whether requests count against the viewer's rate limits: true over HTTP, false over standard input. */
  readonly remote?: boolean | undefined
  /** Called with a report of each internal error. Default: prints it on standard error. */
  readonly log?: ((text: string) => void) | undefined
}

/**
 * The MCP protocol error for what was thrown, with the code and details of the QuerentError; for requests whose result cannot express an
 * error. A protocol error is returned unchanged.
 */
export function protocolError(thrown: unknown, viewer: Viewer): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown
  const error = reportedError(thrown, viewer)
  const isTheirs = error.kind === 'usage' || error.kind === 'not_found'
  const code = isTheirs ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError
  return new ProtocolError(code, error.message, error.toJSON())
}

/**
 * Logs an error that is a bug of this program, with the request's id and the client's trace id if there is one. The client learns only that
 * there was an internal error. `asked`: name of the tool, or of the resource or prompt that was requested.
 */
export function reportBug(thrown: unknown, asked: string, { mcpReq }: ServerContext, options: ServerOptions): void {
  // A protocol error is the client's mistake, not a bug of this program.
  if (thrown instanceof ProtocolError) return
  const trace = mcpReq._meta?.['traceparent']
  const where = typeof trace === 'string' ? `${asked}, trace ${trace.slice(0, 55)}` : asked
  const report = bugReport(thrown, `${mcpReq.id} (${where})`)
  if (report !== null) (options.log ?? toStderr)(report)
}

function toStderr(text: string): void {
  process.stderr.write(printable(text))
}

export function registerTool(server: McpServer, engine: Engine, tool: Tool, options: ServerOptions): void {
  const { name, inputSchema, ...described } = describeTool(tool)
  const config = { ...described, inputSchema: unchecked(inputSchema) }
  server.registerTool(name, config, async (args, context) => {
    try {
      return await answer(engine, tool, withLens(tool, args, options.lens), callOf(context, options), options.concise)
    } catch (thrown) {
      reportBug(thrown, tool.name, context, options)
      return failure(thrown, options.viewer)
    }
  })
}

async function answer(
  engine: Engine,
  tool: Tool,
  args: unknown,
  call: CallContext,
  concise: boolean | undefined,
): Promise<CallToolResult> {
  const { input, room } = readArguments(engine, tool, args, call, concise === true)
  const given = isObject(input)
    ? { ...tool.operation.preset, ...tool.preset, ...(room.concise && tool.briefly), ...input, ...owned(tool, args) }
    : input
  const run = async (more: JsonObject): Promise<JsonObject> =>
    wire(await runOperation(tool.operation, engine, isObject(given) ? withPage(tool, given, more) : given, call))
  return resultOf(tool, await run({}), room, limit => run({ limit }))
}

/**
 * The argument `max_tokens` if the operation has a field of that name: the operation then selects what fits, and the limit on the whole
 * result is enforced in addition.
 */
function owned({ ownsMaxTokens }: Tool, args: unknown): JsonObject {
  if (!ownsMaxTokens || !isObject(args) || args['max_tokens'] === undefined) return {}
  return { max_tokens: args['max_tokens'] }
}

function withPage({ answer }: Tool, input: JsonObject, { limit }: JsonObject): JsonObject {
  if (limit === undefined || answer.page === undefined) return input
  return withValue(input, answer.page.limit.split('.'), limit as number)
}

/**
 * Separates the arguments of a tool call into the operation's input and the limits on the answer, and rejects unknown fields if the
 * operation itself ignores these. A rejection is reported and counted against limits like any other rejection by the operation.
 */
function readArguments(
  engine: Engine,
  { operation, known }: Tool,
  args: unknown,
  call: CallContext,
  concise: boolean,
): ReturnType<typeof takeRoom> {
  try {
    const read = takeRoom(args, concise)
    const field = isObject(read.input)
      ? Object.keys(read.input).find(name => known?.includes(name) === false)
      : undefined
    if (field !== undefined) throw unknownField(operation.input, [field])
    return read
  } catch (thrown) {
    throw unread(operation, engine, thrown, call)
  }
}

/** Converts a result to plain JSON, which drops fields that are undefined; every result is an object. */
export function wire(result: unknown): JsonObject {
  return JSON.parse(JSON.stringify(result)) as JsonObject
}

function callOf(context: ServerContext, { viewer, remote }: ServerOptions): CallContext {
  return { viewer, remote, signal: context.mcpReq.signal, report: progressTo(context), shortCursors: true }
}

/**
 * A schema object for the SDK that accepts every value: the SDK only publishes the schema, and the operation itself checks its input, with
 * the same messages in every interface.
 */
function unchecked(schema: Tool['inputSchema']): ReturnType<typeof fromJsonSchema<unknown>> {
  // The cast is safe: `outline` made this object as a JSON Schema, and the two types differ only in readonly modifiers.
  return fromJsonSchema(schema as unknown as JsonSchemaType, ACCEPT)
}

const ACCEPT: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return input => ({ valid: true, data: input as T, errorMessage: undefined })
  },
}

function withLens(tool: Tool, args: unknown, lens: string | undefined): unknown {
  if (lens === undefined || tool.operation.name !== 'query' || typeof args !== 'object') return args
  return { lens, ...args }
}

/**
 * Returns a function that reports progress to the client; undefined if the client did not ask for progress. The reported value only
 * increases, over all phases of the work together.
 */
function progressTo({ mcpReq }: ServerContext): ((progress: Progress) => void) | undefined {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return undefined
  let phase = ''
  let before = 0
  let reported = -1
  return next => {
    if (next.phase !== phase) before = Math.max(0, reported)
    phase = next.phase
    const progress = before + next.done
    if (progress <= reported) return
    reported = progress
    const message = next.current === undefined ? next.phase : `${next.phase}: ${next.current}`
    const total = next.total === null ? {} : { total: before + next.total }
    // Errors of sending are ignored: a client that has gone needs no progress, and the call itself is ended by its signal.
    mcpReq
      .notify({ method: 'notifications/progress', params: { progressToken, progress, ...total, message } })
      .catch(() => {})
  }
}

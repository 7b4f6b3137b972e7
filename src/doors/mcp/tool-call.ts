/** A tool in, a result out: errors are results that an agent can act on. */
import {
  fromJsonSchema,
  type JsonSchemaType,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { JsonObject } from '../../base/canonical.ts'
import { unread } from '../../engine/admission.ts'
import type { Engine } from '../../engine/engine.ts'
import type { CallContext } from '../../model/operation.ts'
import { runOperation } from '../../ops/catalog.ts'
import { fit } from './answer/fit.ts'
import { isObject, withValueAt } from './answer/paths.ts'
import { answered, failure } from './answer/result.ts'
import { takeRoom } from './answer/room.ts'
import { wire } from './answer/wire.ts'
import { refuseUnknown } from './known-fields.ts'
import { progressTo } from './progress.ts'
import { reportBug } from './report-bug.ts'
import type { ServerOptions } from './server-options.ts'
import type { Tool } from './tools/tools.ts'

export function registerTool(server: McpServer, engine: Engine, tool: Tool, options: ServerOptions): void {
  const { kind, idempotent } = tool.operation.effect
  const config = {
    title: tool.title,
    description: tool.description,
    inputSchema: unchecked(tool.inputSchema),
    outputSchema: unchecked(tool.outputSchema),
    annotations: {
      readOnlyHint: tool.readOnly,
      destructiveHint: kind === 'destroy',
      idempotentHint: idempotent,
      openWorldHint: false,
    },
  }
  server.registerTool(tool.name, config, async (args, context) => {
    try {
      return answered(tool, await answer(engine, tool, withLens(tool, args, options.lens), callOf(context, options)))
    } catch (thrown) {
      reportBug(thrown, tool.name, context, options)
      return failure(thrown, options.viewer)
    }
  })
}

/** The operation's answer, within the room that the client gives it. */
async function answer(engine: Engine, tool: Tool, args: unknown, call: CallContext): Promise<JsonObject> {
  const run = async (input: unknown): Promise<JsonObject> =>
    wire(await runOperation(tool.operation, engine, input, call))
  const shape = tool.answer
  const asked = readArguments(engine, tool, args, call)
  if (shape === undefined || asked === null) return run(args)
  const { input, room } = asked
  return fit(await run(input), shape, room, limit => {
    const { page } = shape
    if (page === undefined || !isObject(input)) throw new Error('invariant broken: an answer without pages asked again')
    return run(withValueAt(input, page.limit, limit))
  })
}

/** Null: nothing in them is this door's. What it refuses is told, and costs, as whatever else the operation refuses. */
function readArguments(
  engine: Engine,
  { operation, known, answer: shape }: Tool,
  args: unknown,
  call: CallContext,
): ReturnType<typeof takeRoom> | null {
  try {
    if (known !== undefined) refuseUnknown(args, known)
    return shape === undefined ? null : takeRoom(args, shape)
  } catch (thrown) {
    throw unread(operation, engine, thrown, call)
  }
}

function callOf(context: ServerContext, { viewer, remote }: ServerOptions): CallContext {
  return { viewer, remote, signal: context.mcpReq.signal, report: progressTo(context) }
}

/** The operation checks its input itself, with the same messages on every door; the SDK only publishes the schema. */
function unchecked(schema: Tool['inputSchema']): ReturnType<typeof fromJsonSchema<unknown>> {
  // JsonObject is any JSON object, with readonly members; outline made it a JSON Schema.
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

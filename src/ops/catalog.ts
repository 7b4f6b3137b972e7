/**
 * All operations in one order: the engine's own, then each lens's. A door finds them here, and runs them here: access, the
 * check of the input (`admission.ts`) and the error for an unknown name are the same everywhere.
 */
import type { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'
import { nearNames } from '../base/near-names.ts'
import type { Engine } from '../engine/engine.ts'
import { QuerentError } from '../model/errors.ts'
import type { CallContext, Operation } from '../model/operation.ts'
import { backup, doctor, lenses, status } from './admin-ops.ts'
import { admit, placeFor, roomFor } from './admission.ts'
import { counted } from './counted-stream.ts'
import { get, list, put, remove, touch } from './entry-ops.ts'
import { add, exportAll, importAll } from './ingest-ops.ts'
import { explain, query, similar } from './query-ops.ts'
import { eachWithShortCursors, withShortCursors } from './short-cursors.ts'
import { suggest } from './suggest-op.ts'
import { watch } from './watch-op.ts'

export type EngineOperation = Operation<Engine>

/** Operations by name, in the order that listings show. */
export type Catalog = ReadonlyMap<string, EngineOperation>

const CORE: readonly EngineOperation[] = [
  query,
  explain,
  similar,
  watch,
  get,
  touch,
  list,
  suggest,
  put,
  add,
  remove,
  status,
  doctor,
  backup,
  exportAll,
  importAll,
  lenses,
]

export function makeCatalog(engine: Pick<Engine, 'lensOperations'>): Catalog {
  const ofLenses = engine.lensOperations.map(({ lens, operation }) => onHost(lens, operation))
  return new Map([...CORE, ...ofLenses].map(operation => [operation.name, operation]))
}

/** Other names that operations answer to; listings show the first one alone. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['enrich', 'c64.enrich'],
  ['remember', 'conversations.remember'],
  ['recall', 'conversations.query'],
])

/** The name that an operation is listed by. */
export function fullName(name: string): string {
  return ALIASES.get(name) ?? name
}

/** Throws `unknown_operation`, naming those that are spelled alike. */
export function findOperation(catalog: Catalog, name: string): EngineOperation {
  const operation = catalog.get(fullName(name))
  if (operation !== undefined) return operation
  const known = [...catalog.keys()]
  const near = nearNames(name, known)
  const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : ''
  throw new QuerentError('unknown_operation', `there is no operation ${JSON.stringify(name.slice(0, 80))}${hint}`, {
    operation: name.slice(0, 80),
    near,
    known,
  })
}

/**
 * Runs an operation on input that nobody has checked. `null` and absent input are an empty object. Output is not
 * checked: its type is the compiler's business, its schema is held to it by tests.
 */
export async function runOperation<Input extends z.ZodType, Output extends z.ZodType>(
  operation: Operation<Engine, Input, Output>,
  engine: Engine,
  input: unknown,
  context: CallContext,
): Promise<z.output<Output>> {
  const admitted = admit(operation, engine, input, context, 'whole')
  const room = roomFor(operation, engine, input, context)
  const free = room === null ? null : await room
  try {
    const output = await operation.run(engine, admitted.input, admitted.context)
    return context.shortCursors === true ? withShortCursors(operation, output, engine.cursors) : output
  } finally {
    free?.()
  }
}

/**
 * Runs the streamed form. What is wrong with the request is thrown at once, before anything is sent; `invalid_argument`
 * when there is no such form, `rate_limited` when a remote requester has too many under way.
 */
export function streamOperation(
  operation: EngineOperation,
  engine: Engine,
  input: unknown,
  context: CallContext,
): AsyncIterable<JsonObject> {
  const admitted = admit(operation, engine, input, context, 'streamed')
  const { stream } = operation
  if (stream === undefined) throw new Error('invariant broken: a stream that was let through and is none')
  const free = placeFor(operation, engine, input, context)
  const pieces = () => stream(engine, admitted.input, admitted.context)
  const open = () =>
    context.shortCursors === true ? eachWithShortCursors(operation, pieces(), engine.cursors) : pieces()
  return free === null ? open() : counted(open, context.signal, free)
}

/** `findOperation`, then `runOperation`. */
export async function callOperation(
  catalog: Catalog,
  engine: Engine,
  name: string,
  input: unknown,
  context: CallContext,
): Promise<unknown> {
  return runOperation(findOperation(catalog, name), engine, input, context)
}

function onHost(lens: string, operation: Engine['lensOperations'][number]['operation']): EngineOperation {
  const { stream, refusal, ...rest } = operation
  return {
    ...rest,
    run: (engine, input, context) => operation.run(engine.host(lens), input, context),
    ...(stream && { stream: (engine, input, context) => stream(engine.host(lens), input, context) }),
    ...(refusal && {
      refusal: (engine, error, input, context) => refusal(engine.host(lens), error, input, context),
    }),
  }
}

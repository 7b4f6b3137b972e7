/**
 * All operations in one order: the engine's own, then each lens's. A door finds them here, and runs them here: access,
 * the check of the input and the error for an unknown name are the same everywhere.
 */

import type { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'
import type { Engine } from '../engine/engine.ts'
import { QuerentError } from '../model/errors.ts'
import type { CallContext, Operation } from '../model/operation.ts'
import { parseInput } from '../model/parse-input.ts'
import { isOwner } from '../model/viewer.ts'
import { backup, doctor, lenses, status } from './admin-ops.ts'
import { counted } from './counted-stream.ts'
import { get, list, put, remove } from './entry-ops.ts'
import { add, exportAll, importAll } from './ingest-ops.ts'
import { nearNames } from './near-names.ts'
import { explain, query, similar } from './query-ops.ts'
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
  list,
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
const ALIASES: ReadonlyMap<string, string> = new Map([['enrich', 'c64.enrich']])

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
  return operation.run(engine, admitted.input, admitted.context)
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
  const open = () => stream(engine, admitted.input, admitted.context)
  return free === null ? open() : counted(open, context.signal, free)
}

/** Null: it needs none. Live queries, which can be gone on with, have room of their own. */
function placeFor(
  operation: EngineOperation,
  engine: Engine,
  input: unknown,
  context: CallContext,
): (() => void) | null {
  if (context.remote !== true || isOwner(context.viewer) || operation.resumeAt !== undefined) return null
  try {
    return engine.limits.stream(context.viewer.id)
  } catch (thrown) {
    throw refused(operation, engine, thrown, input, context)
  }
}

/** What a door answers when it could not even read the input, such as `too_large`: that costs a unit like any other refusal. */
export function unread(operation: EngineOperation, engine: Engine, thrown: unknown, context: CallContext): unknown {
  try {
    if (context.remote === true) engine.limits.charge(context.viewer.id, 1)
  } catch (limited) {
    return refused(operation, engine, limited, null, context)
  }
  return refused(operation, engine, thrown, null, context)
}

interface Admitted<Input extends z.ZodType> {
  readonly input: z.output<Input>
  readonly context: CallContext
}

/** Checks access, input and, of a remote requester, limits; throws before anything runs. */
function admit<Input extends z.ZodType, Output extends z.ZodType>(
  operation: Operation<Engine, Input, Output>,
  engine: Engine,
  input: unknown,
  context: CallContext,
  form: 'whole' | 'streamed',
): Admitted<Input> {
  try {
    mustBeThere(context)
    const parse = (): z.output<Input> => {
      // Before the input is looked at: an error about a field would say more than it should.
      mustBeAllowed(operation, context)
      if (form === 'streamed') mustBeStreamed(operation)
      return parseInput(operation.input, input ?? {})
    }
    if (context.remote !== true) return { input: parse(), context }
    const charge = (units: number, ...questions: readonly unknown[]): void => {
      engine.limits.charge(context.viewer.id, units)
      if (isOwner(context.viewer)) return
      for (const input of questions) engine.limits.ask(context.viewer.id, { operation: operation.name, input })
    }
    return { input: parsedAndPaid(operation, parse, charge), context: { ...context, charge } }
  } catch (thrown) {
    throw refused(operation, engine, thrown, input, context)
  }
}

function refused<Input extends z.ZodType, Output extends z.ZodType>(
  { refusal }: Operation<Engine, Input, Output>,
  engine: Engine,
  thrown: unknown,
  input: unknown,
  context: CallContext,
): unknown {
  return refusal === undefined || !(thrown instanceof QuerentError) ? thrown : refusal(engine, thrown, input, context)
}

/** What cannot be read, or is denied, costs one unit (BQ-186). Those who may ask nothing now are not told what is wrong with it. */
function parsedAndPaid<Input extends z.ZodType, Output extends z.ZodType>(
  operation: Operation<Engine, Input, Output>,
  parse: () => z.output<Input>,
  charge: (units: number, ...questions: readonly unknown[]) => void,
): z.output<Input> {
  let parsed: z.output<Input>
  try {
    parsed = parse()
  } catch (thrown) {
    charge(1)
    throw thrown
  }
  charge(operation.cost?.(parsed) ?? 1, ...questionsIn(operation, parsed))
  return parsed
}

function questionsIn<Input extends z.ZodType, Output extends z.ZodType>(
  { cost, questions }: Operation<Engine, Input, Output>,
  input: z.output<Input>,
): readonly unknown[] {
  return questions?.(input) ?? (cost === undefined ? [] : [input])
}

function mustBeStreamed({ name, stream }: Pick<EngineOperation, 'name' | 'stream'>): void {
  if (stream !== undefined) return
  throw new QuerentError('invalid_argument', `${name}: it has no streamed form`, { operation: name })
}

function mustBeAllowed({ name, effect }: Pick<EngineOperation, 'name' | 'effect'>, context: CallContext): void {
  if (effect.ownerOnly !== true || isOwner(context.viewer)) return
  throw new QuerentError('denied', `${name} is for the local owner only`, { operation: name })
}

function mustBeThere(context: CallContext): void {
  if (context.signal.aborted) throw new QuerentError('cancelled', 'the caller has gone', {})
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

/** Runs an operation for any interface: access checks, input checks and limits are the same for all of them. */
import type { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'
import { QuerentError } from '../model/errors.ts'
import type { CallContext, Operation } from '../model/operation.ts'
import { parseInput, parseWith } from '../model/parse-input.ts'
import { costOfText } from '../model/query-input.ts'
import { isOwner } from '../model/viewer.ts'
import { eachWithShortCursors, untilKept, withShortCursors, withWholeCursors } from './cursor-handles.ts'
import type { Engine } from './engine.ts'

export type EngineOperation = Operation<Engine>

/**
 * Runs an operation on unchecked input; `null` and missing input count as an empty object. The output is not checked at run time: the
 * compiler checks its type, and tests check it against its schema.
 */
export async function runOperation<Input extends z.ZodType, Output extends z.ZodType>(
  operation: Operation<Engine, Input, Output>,
  engine: Engine,
  input: unknown,
  context: CallContext,
): Promise<z.output<Output>> {
  if (context.shortCursors === true) await untilKept(operation, input, engine.cursors, context.signal)
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
 * Runs the streamed form of an operation, which returns its answer in pieces. Callers that send handles for cursors call `untilKept` first.
 * Errors in the request are thrown at once, before a piece is computed: `invalid_argument` if the operation has no streamed form, `rate_limited` if a remote requester has too many streams in
 * progress.
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

/** Turns an operation of a lens, which runs on the lens's host, into an operation that runs on the engine. */
export function onHost(lens: string, operation: Engine['lensOperations'][number]['operation']): EngineOperation {
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

/**
 * Wraps a streamed answer so that the requester's place in the limit on streams is given back (`free`) exactly once: when the stream ends,
 * fails or is abandoned, or when the signal is aborted.
 */
function counted<T>(open: () => AsyncIterable<T>, signal: AbortSignal, free: () => void): AsyncIterableIterator<T> {
  try {
    return new Counted(open()[Symbol.asyncIterator](), signal, free)
  } catch (thrown) {
    free()
    throw thrown
  }
}

class Counted<T> implements AsyncIterableIterator<T> {
  readonly #pieces: AsyncIterator<T>
  readonly #signal: AbortSignal
  readonly #free: () => void

  constructor(pieces: AsyncIterator<T>, signal: AbortSignal, free: () => void) {
    this.#pieces = pieces
    this.#signal = signal
    this.#free = free
    signal.addEventListener('abort', this.#end, { once: true })
    if (signal.aborted) this.#end()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<T>> {
    try {
      const result = await this.#pieces.next()
      if (result.done === true) this.#end()
      return result
    } catch (thrown) {
      this.#end()
      throw thrown
    }
  }

  async return(): Promise<IteratorResult<T>> {
    this.#end()
    return (await this.#pieces.return?.()) ?? { done: true, value: undefined }
  }

  readonly #end = (): void => {
    this.#signal.removeEventListener('abort', this.#end)
    this.#free()
  }
}

// Decides whether a request may run, from its viewer, its input and, for remote requesters, their limits. The rules are equal for all
// operations and interfaces; only the wording of a refusal depends on the operation.

interface Admitted<Input extends z.ZodType> {
  readonly input: z.output<Input>
  readonly context: CallContext
}

/** Checks the viewer's access to the operation, the input, and for a remote requester the limits; throws before the operation runs. */
function admit<Input extends z.ZodType, Output extends z.ZodType>(
  operation: Operation<Engine, Input, Output>,
  engine: Engine,
  input: unknown,
  context: CallContext,
  form: 'whole' | 'streamed',
): Admitted<Input> {
  try {
    assertExists(context)
    const parse = (): z.output<Input> => {
      // Access is checked before the input, because an error message about a field would reveal something to a viewer without access.
      assertAllowed(operation, context)
      if (form === 'streamed') assertStreamed(operation)
      return parsed(operation, withHandlesRead(operation, engine, input ?? {}, context))
    }
    if (context.remote !== true) return { input: parse(), context }
    const charge = (units: number, ...questions: readonly unknown[]): void => {
      const length = questions.reduce<number>((sum, question) => sum + costOfText(question), 0)
      engine.limits.charge(context.viewer.id, units + length)
      if (isOwner(context.viewer)) return
      for (const input of questions) engine.limits.ask(context.viewer.id, { operation: operation.name, input })
    }
    return { input: parsedAndPaid(operation, parse, charge), context: { ...context, charge } }
  } catch (thrown) {
    throw refused(operation, engine, thrown, input, context)
  }
}

function withHandlesRead(
  operation: Operation<Engine>,
  { cursors }: Engine,
  input: unknown,
  { shortCursors }: CallContext,
): unknown {
  return shortCursors === true ? withWholeCursors(operation, input, cursors) : input
}

function parsed<Input extends z.ZodType, Output extends z.ZodType>(
  operation: Operation<Engine, Input, Output>,
  input: unknown,
): z.output<Input> {
  if (operation.checksInput === true) return input as z.output<Input>
  const { invalid } = operation
  return invalid === undefined ? parseInput(operation.input, input) : parseWith(operation.input, input, invalid)
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

/**
 * Checks a remote request's input and charges its cost in units. Input that is invalid or not allowed costs one unit (BQ-186); a requester
 * without units left gets the error for the limit instead of the error in its input.
 */
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
  const questions = questionsIn(operation, parsed)
  // For queries, the charge already includes the length of the query text; for other read operations the length of all texts in the input
  // is added.
  const length = questions.length === 0 && operation.cost === undefined && isRead(operation) ? costOfText(parsed) : 0
  charge((operation.cost?.(parsed) ?? 1) + length, ...questions)
  return parsed
}

function isRead({ effect }: Pick<Operation<Engine>, 'effect'>): boolean {
  return effect.kind === 'read'
}

function questionsIn<Input extends z.ZodType, Output extends z.ZodType>(
  { cost, questions }: Operation<Engine, Input, Output>,
  input: z.output<Input>,
): readonly unknown[] {
  return questions?.(input) ?? (cost === undefined ? [] : [input])
}

function assertStreamed({ name, stream }: Pick<Operation<Engine>, 'name' | 'stream'>): void {
  if (stream !== undefined) return
  throw new QuerentError('invalid_argument', `${name}: it cannot be streamed`, { operation: name })
}

function assertAllowed({ name, effect }: Pick<Operation<Engine>, 'name' | 'effect'>, context: CallContext): void {
  if (effect.ownerOnly !== true || isOwner(context.viewer)) return
  throw new QuerentError('denied', `${name} is for the local owner only`, { operation: name })
}

function assertExists(context: CallContext): void {
  if (context.signal.aborted) throw new QuerentError('cancelled', 'the caller disconnected', {})
}

/**
 * Takes a place for a streamed answer in the remote requester's limit; null if the stream needs none. Live queries, which can be resumed,
 * are counted by a limit of their own.
 */
function placeFor(
  operation: Operation<Engine>,
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

/**
 * Reserves byte quota for what a remote viewer's request may write, before it runs, so that nothing is half-written; null if the request
 * needs none, like queries and deletions. The size of the input is reserved; data that the request replaces is not subtracted.
 */
function roomFor<Input extends z.ZodType, Output extends z.ZodType>(
  operation: Operation<Engine, Input, Output>,
  engine: Engine,
  input: unknown,
  context: CallContext,
): Promise<() => void> | null {
  if (context.remote !== true || isOwner(context.viewer)) return null
  if (operation.effect.kind !== 'write' || operation.cost !== undefined) return null
  return engine.limits.keep(context.viewer.id, bytesOfInput(input)).catch((thrown: unknown) => {
    throw refused(operation, engine, thrown, input, context)
  })
}

/**
 * Size in bytes that an input counts as: the UTF-8 bytes of all texts, including field names (because metadata is stored with its field
 * names), plus 8 for each number.
 */
function bytesOfInput(input: unknown): number {
  let bytes = 0
  // Uses a list instead of recursion, because input from outside may be nested deeper than the call stack allows.
  const left: unknown[] = [input]
  while (left.length > 0) {
    const value = left.pop()
    if (typeof value === 'string') bytes += Buffer.byteLength(value)
    else if (typeof value === 'number') bytes += 8
    else if (Array.isArray(value)) for (const item of value) left.push(item)
    else if (typeof value === 'object' && value !== null) {
      for (const [name, item] of Object.entries(value)) {
        bytes += Buffer.byteLength(name)
        left.push(item)
      }
    }
  }
  return bytes
}

/**
 * The error for a request whose input the interface could not even read, for example because it is `too_large`. The request costs a remote
 * requester one unit, like any other refused request.
 */
export function unread(operation: Operation<Engine>, engine: Engine, thrown: unknown, context: CallContext): unknown {
  try {
    if (context.remote === true) engine.limits.charge(context.viewer.id, 1)
  } catch (limited) {
    return refused(operation, engine, limited, null, context)
  }
  return refused(operation, engine, thrown, null, context)
}

/**
 * Converts an error that arose in the interface outside the operation, such as `deadline_exceeded`, to the form that the operation's
 * contract defines. Costs the requester no units.
 */
export function reportedByContract(
  operation: Operation<Engine>,
  engine: Engine,
  thrown: unknown,
  context: CallContext,
): unknown {
  return refused(operation, engine, thrown, null, context)
}

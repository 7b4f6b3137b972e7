/** How an operation is run: access, the check of its input (`admission.ts`) and limits are the same whoever calls it. */
import type { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'
import type { CallContext, Operation } from '../model/operation.ts'
import { admit, placeFor, roomFor } from './admission.ts'
import { eachWithShortCursors, withShortCursors } from './cursor-handles.ts'
import type { Engine } from './engine.ts'

export type EngineOperation = Operation<Engine>

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

/** The operation of a lens as one of the engine. */
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

/** `free`: gives the place back, once it ends, fails, or is left; a signal that is aborted ends it too. */
export function counted<T>(
  open: () => AsyncIterable<T>,
  signal: AbortSignal,
  free: () => void,
): AsyncIterableIterator<T> {
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

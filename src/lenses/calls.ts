/** The operations of the lenses as typed functions: `calls.beliefs.query({ semantic: 'ferries' })` runs the operation `beliefs.query`. */
import type { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'
import type { ReadonlyDeep } from '../base/readonly-deep.ts'
import type { CallContext, Operation } from '../model/operation.ts'
import { type CamelName, camelName } from './camel-name.ts'
import type { LensHost } from './lens.ts'
import type { NamedOperation } from './lens-operation.ts'
import type { BuiltInOperation } from './registry.ts'

/**
 * One function for each operation of the built-in lenses, found by the two parts of its name in camelCase: `federations.set_member` is
 * `calls.federations.setMember`.
 */
export type Calls = {
  readonly [Family in FamilyOf<BuiltInOperation['name']>]: {
    readonly [O in BuiltInOperation as O['name'] extends `${Family}.${infer Verb}` ? CamelName<Verb> : never]: CallOf<O>
  }
}

type FamilyOf<Name extends string> = Name extends `${infer Family}.${string}` ? Family : never

/**
 * Runs one operation and returns its result; rejects with the operation's error where it refuses the input. The requester is the one in
 * `context`, or else the viewer for whom the functions were made.
 */
export interface Call<Input, Output> {
  (
    ...given: Record<string, never> extends Input
      ? [input?: Input, context?: Partial<CallContext>]
      : [input: Input, context?: Partial<CallContext>]
  ): Promise<Output>
  /**
   * Runs an operation that has a streamed form, and yields its result in pieces. Throws `invalid_argument` for an operation without a
   * streamed form.
   */
  stream(input: Input, context?: Partial<CallContext>): AsyncIterable<JsonObject>
}

type CallOf<O> =
  O extends NamedOperation<string, infer Input, infer Output>
    ? Call<ReadonlyDeep<Given<Input>>, ReadonlyDeep<z.output<Output>>>
    : never

/** Input type of an operation. Where a schema preprocesses its input, zod knows only the output type, so the output type is used. */
type Given<Input extends z.ZodType> = unknown extends z.input<Input> ? z.output<Input> : z.input<Input>

export interface Caller {
  run(operation: Operation<LensHost>, input: unknown, context: Partial<CallContext>): Promise<unknown>
  stream(operation: Operation<LensHost>, input: unknown, context: Partial<CallContext>): AsyncIterable<JsonObject>
}

/**
 * Typed functions for the operations of one lens, by the second part of their names. A call without input counts as one with an empty
 * object.
 */
export function callsOf(
  operations: readonly Operation<LensHost>[],
  family: string,
  { run, stream }: Caller,
): Readonly<Record<string, Call<unknown, unknown>>> {
  const own = operations.filter(({ name }) => name.startsWith(`${family}.`))
  const calls = own.map(operation => {
    const call = (input: unknown = {}, context: Partial<CallContext> = {}) => run(operation, input, context)
    const streamed = (input: unknown, context: Partial<CallContext> = {}) => stream(operation, input, context)
    return [camelName(operation.name.slice(family.length + 1)), Object.assign(call, { stream: streamed })] as const
  })
  return Object.fromEntries(calls)
}

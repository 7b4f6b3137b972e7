/** What every operation of the lens does around its own work: who asks, and one family of errors. */
import type { z } from 'zod'
import { QuerentError } from '../../../model/errors.ts'
import type { CallContext, Operation } from '../../../model/operation.ts'
import { parseInput } from '../../../model/parse-input.ts'
import { AGENTS } from '../../../store/core-tables.ts'
import type { LensHost } from '../../lens.ts'
import { countersOf } from '../counters.ts'
import type { BeliefsError } from '../errors.ts'
import type { Call } from '../query/call.ts'
import type { Asker } from '../schema/context.ts'
import type { Value } from '../schema/values.ts'
import { type BeliefsState, stateOf } from '../state.ts'
import { asBeliefsError } from './engine-errors.ts'

export interface BeliefsCall extends Call {
  readonly state: BeliefsState
  readonly host: LensHost
  readonly asker: Asker
  readonly context: CallContext
}

interface Definition<I extends z.ZodType, O extends z.ZodType>
  extends Omit<Operation<LensHost, I, O>, 'run' | 'cost' | 'questions'> {
  run(call: BeliefsCall, input: Value<I>): Promise<Value<O>> | Value<O>
  cost?(input: Value<I>): number
  questions?(input: Value<I>): readonly unknown[]
}

/** An operation whose input is checked by its schema before it runs, and whose answer has the type of its schema. */
export function operation<I extends z.ZodType, O extends z.ZodType>(given: Definition<I, O>): Operation<LensHost> {
  // The cast: nothing changes what it is given, so readonly lists and plain ones are the same.
  const { run, ...rest } = given as unknown as Definition<z.ZodType, z.ZodType>
  return { ...rest, run: (host, input, context) => inCall(host, context, call => run(call, input as never)) }
}

/** The input as the schema of the operation gives it. Throws what the lens reports of one that is wrong. */
export function checkedInput(
  operation: Operation<LensHost>,
  host: LensHost,
  given: unknown,
  context: CallContext,
): unknown {
  try {
    return parseInput(operation.input, given)
  } catch (thrown) {
    throw thrown instanceof QuerentError ? (operation.refusal?.(host, thrown, given, context) ?? thrown) : thrown
  }
}

/** Runs the work; whatever it fails with leaves as one of the seven codes (BQ-183). */
export async function inCall<T>(
  host: LensHost,
  context: CallContext,
  work: (call: BeliefsCall) => Promise<T> | T,
): Promise<T> {
  try {
    const { viewer, signal } = context
    const asker = askerOf(host, viewer.id)
    return await work({ state: stateOf(host), host, asker, context, requester: viewer.id, signal })
  } catch (thrown) {
    throw failureIn(host, thrown)
  }
}

/** What was thrown as an error of the lens, with an id of its own. `input`: of the request, where it was refused. */
export function failureIn(host: LensHost, thrown: unknown, input?: unknown): BeliefsError {
  const error = asBeliefsError(thrown, input)
  countersOf(host).countError(error.code)
  error.requestId = newRequestId(host)
  return error
}

const REQUEST_ID_BYTES = 12

export function newRequestId(host: LensHost): string {
  return Buffer.from(host.random(REQUEST_ID_BYTES)).toString('hex')
}

function askerOf({ store }: LensHost, id: string): Asker {
  const row = store.table(AGENTS).get({ id })
  return { id, trustGraph: (row?.['trust_graph'] as string | null | undefined) ?? null }
}

/** What every operation of the lens does around its own work: who asks, and one family of errors. */
import type { z } from 'zod'
import type { CallContext } from '../../../model/operation.ts'
import { AGENTS } from '../../../store/core-tables.ts'
import type { LensHost } from '../../lens.ts'
import type { NamedOperation } from '../../lens-operation.ts'
import { countersOf } from '../counters.ts'
import type { BeliefsError } from '../errors.ts'
import type { Call } from '../query/call.ts'
import type { Requester } from '../schema/context.ts'
import type { Value } from '../schema/values.ts'
import { type BeliefsState, stateOf } from '../state.ts'
import { BODY_LIMIT } from './cost.ts'
import { asBeliefsError } from './engine-errors.ts'

export interface BeliefsCall extends Call {
  readonly state: BeliefsState
  readonly host: LensHost
  readonly agent: Requester
  readonly context: CallContext
}

interface Definition<N extends string, I extends z.ZodType, O extends z.ZodType>
  extends Omit<NamedOperation<N, I, O>, 'run' | 'cost' | 'questions'> {
  run(call: BeliefsCall, input: Value<I>): Promise<Value<O>> | Value<O>
  cost?(input: Value<I>): number
  questions?(input: Value<I>): readonly unknown[]
}

/** An operation whose input is checked by its schema before it runs, and whose answer has the type of its schema. */
export function operation<const N extends string, I extends z.ZodType, O extends z.ZodType>(
  given: Definition<N, I, O>,
): NamedOperation<N, I, O> {
  // The cast: nothing changes what it is given, so readonly lists and plain ones are the same.
  const { run, ...rest } = given as unknown as Omit<NamedOperation<N, I, O>, 'run'> & Pick<Definition<N, I, O>, 'run'>
  return {
    ...rest,
    run: (host, input, context) => inCall(host, context, call => run(call, input as never) as Promise<z.output<O>>),
  }
}

/** A read that carries a question. */
export function question<const N extends string, I extends z.ZodType, O extends z.ZodType>(
  given: Omit<Definition<N, I, O>, 'effect' | 'bodyLimit'>,
): NamedOperation<N, I, O> {
  return operation({ ...given, effect: { kind: 'read', idempotent: true }, bodyLimit: BODY_LIMIT })
}

/** Runs the work; whatever it fails with leaves as one of the seven codes (BQ-183). */
export async function inCall<T>(
  host: LensHost,
  context: CallContext,
  work: (call: BeliefsCall) => Promise<T> | T,
): Promise<T> {
  try {
    const { viewer, signal } = context
    const agent = requesterWith(host, viewer.id)
    return await work({ state: stateOf(host), host, agent, context, requester: viewer.id, signal })
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

function requesterWith({ store }: LensHost, id: string): Requester {
  const row = store.table(AGENTS).get({ id })
  return { id, trustGraph: (row?.['trust_graph'] as string | null | undefined) ?? null }
}

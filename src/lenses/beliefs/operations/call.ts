/** What every operation of the lens does around its own work: who asks, and one family of errors. */
import type { CallContext } from '../../../model/operation.ts'
import { AGENTS } from '../../../store/core-tables.ts'
import type { LensHost } from '../../lens.ts'
import type { Asker } from '../check/checked.ts'
import { countersOf } from '../counters.ts'
import type { BeliefsError } from '../errors.ts'
import type { Call } from '../query/call.ts'
import { type BeliefsState, stateOf } from '../state.ts'
import { asBeliefsError } from './engine-errors.ts'

export interface BeliefsCall extends Call {
  readonly state: BeliefsState
  readonly host: LensHost
  readonly asker: Asker
  readonly context: CallContext
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

/** What was thrown as an error of the lens, with an id of its own. */
export function failureIn(host: LensHost, thrown: unknown): BeliefsError {
  const error = asBeliefsError(thrown)
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

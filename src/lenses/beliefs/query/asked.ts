/** A query at one moment, for answers that are read off it other than as a page. */
import type { ShowView } from '../access/show.ts'
import type { CheckedWarning } from '../schema/context.ts'
import type { CheckedQuery } from '../schema/query.ts'
import type { BeliefsState } from '../state.ts'
import { TimeLimit } from '../time-limit.ts'
import type { Call } from './call.ts'
import { evaluate } from './evaluate.ts'
import type { Evaluation } from './evaluation.ts'
import { embedText } from './understand.ts'

/** `read` is given all that matches; what it returns is as of that moment. Paging is the caller's. */
export async function asked<T>(
  state: BeliefsState,
  query: CheckedQuery,
  { requester, signal, machineTime }: Call,
  read: (evaluation: Evaluation, warnings: readonly CheckedWarning[]) => T,
): Promise<T> {
  state.load()
  const time = new TimeLimit(query.options.timeoutMs, signal, machineTime)
  const embedded = await embedText(state, query.semantic, signal, time)
  const asOf = state.host.clock.now()
  const body = (view: ShowView): T => {
    time.check()
    return read(evaluate(state, view, query, embedded, asOf), [...query.warnings, ...embedded.warnings])
  }
  return state.look(requester, body, time)
}

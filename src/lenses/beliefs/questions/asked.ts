/** A query at one moment, for answers that are read off it other than as a page. */
import type { ShowView } from '../access/show.ts'
import type { CheckedQuery, CheckedWarning } from '../check/checked.ts'
import type { Call } from '../query/call.ts'
import { Evaluation } from '../query/evaluation.ts'
import { embedText, understand } from '../query/understand.ts'
import type { BeliefsState } from '../state.ts'
import { TimeLimit } from '../time-limit.ts'

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
    const understood = understand(state, embedded, query.semantic, view.requester.sight)
    const evaluation = new Evaluation(state, view, { ...query, scope: query.options.scope }, understood, asOf)
    return read(evaluation, [...query.warnings, ...embedded.warnings])
  }
  return state.look(requester, body, time)
}

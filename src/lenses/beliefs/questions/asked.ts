/** A query at one moment, for answers that are read off it other than as a page. */
import type { CheckedQuery, CheckedWarning } from '../check/checked.ts'
import type { Call } from '../query/call.ts'
import { Evaluation } from '../query/evaluation.ts'
import { embedText, understand } from '../query/understand.ts'
import type { BeliefsState } from '../state.ts'

/** `read` is given all that matches; what it returns is as of that moment. Paging is the caller's. */
export async function asked<T>(
  state: BeliefsState,
  query: CheckedQuery,
  { requester, signal }: Call,
  read: (evaluation: Evaluation, warnings: readonly CheckedWarning[]) => T,
): Promise<T> {
  const embedded = await embedText(state, query.semantic, signal)
  const asOf = state.host.clock.now()
  return state.look(requester, view => {
    const understood = understand(state, embedded, query.semantic, view.requester.sight)
    const evaluation = new Evaluation(state, view, { ...query, scope: query.options.scope }, understood, asOf)
    return read(evaluation, [...query.warnings, ...embedded.warnings])
  })
}

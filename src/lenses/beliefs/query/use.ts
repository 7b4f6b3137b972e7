/** That beliefs of an agent were shown to somebody who trusts it: what keeps an edge from decaying (BQ-072). */
import type { Instant } from '../../../base/clock.ts'
import { QuerentError } from '../../../model/errors.ts'
import type { BeliefsState } from '../state.ts'
import { readEdge, TOUCH_EVERY_MS, touchEdges } from '../trust/edges.ts'

/** A question should not wait for the writers of other processes. */
const WAIT_MS = 20

/** One small write, where some edge was not used lately. What cannot be written now is not counted. */
export function noteUse(
  { host: { store } }: BeliefsState,
  requester: string,
  holders: readonly string[],
  now: Instant,
): void {
  const due = holders.filter(holder => {
    const edge = holder === requester ? null : readEdge(store, requester, holder)
    return edge !== null && now - edge.lastUsed >= TOUCH_EVERY_MS
  })
  if (due.length === 0) return
  try {
    store.write(now, writer => touchEdges(writer, requester, due, now), WAIT_MS)
  } catch (error) {
    if (!(error instanceof QuerentError)) throw error
  }
}

/** What of an order the pages before have not shown. */
import type { Ranked } from '../model/candidate.ts'
import type { QueryContext } from './context.ts'
import { behind } from './order.ts'
import { hasCaps } from './page-bounds.ts'
import type { Plan } from './stage.ts'

export function waitingOf(ranked: readonly Ranked[], plan: Plan, context: QueryContext): readonly Ranked[] {
  const { after, diversity } = plan.query
  if (after === null || (plan.mode === 'list' && !hasCaps(plan.query))) return ranked
  // A spread order is not by score: there the number shown is the place.
  if (diversity < 1 && plan.mode !== 'list') return ranked.slice(after.rank)
  return behind(ranked, after, keys => context.reader.identities(keys))
}

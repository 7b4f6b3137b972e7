/** What of an order the pages before have not shown. */
import type { Ranked } from '../model/candidate.ts'
import type { Position } from '../model/query.ts'
import type { QueryContext } from './context.ts'
import { behind } from './order.ts'
import { hasCaps } from './page-bounds.ts'
import { wasShown } from './shown.ts'
import type { Plan } from './stage.ts'

export function waitingOf(ranked: readonly Ranked[], plan: Plan, context: QueryContext): readonly Ranked[] {
  const { after } = plan.query
  return after === null ? ranked : unshown(behindPage(ranked, after, plan, context), after, context)
}

function behindPage(
  ranked: readonly Ranked[],
  after: Position,
  { mode, query }: Plan,
  context: QueryContext,
): readonly Ranked[] {
  if (mode === 'list' && !hasCaps(query)) return ranked
  // A spread order is not by score: there the number shown is the place.
  if (query.diversity < 1 && mode !== 'list') return ranked.slice(after.rank)
  return behind(ranked, after, keys => context.reader.identities(keys))
}

/** Where others have written meanwhile, what was shown may stand lower now. */
function unshown(ranked: readonly Ranked[], after: Position, { reader, secret }: QueryContext): readonly Ranked[] {
  const isShown = wasShown(after.shown, secret)
  const shown = new Set(
    reader
      .identities(ranked.map(({ entry }) => entry))
      .filter(isShown)
      .map(({ key }) => key),
  )
  return shown.size === 0 ? ranked : ranked.filter(({ entry }) => !shown.has(entry))
}

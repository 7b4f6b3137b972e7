/** What of an order that is found again the pages before have not shown. */
import { type ItemKey, itemKey, type Ranked } from '../model/candidate.ts'
import type { Position } from '../model/query.ts'
import { stillVisible } from './access.ts'
import type { QueryContext } from './context.ts'
import { orderLost } from './cursor.ts'
import { behind, placesOf } from './order.ts'
import { isReadOn } from './page-bounds.ts'
import { forgotten, wasShown } from './shown.ts'
import type { Plan } from './stage.ts'

/** Throws `cursor_expired` where the order is seen not to be the one that they were pages of. */
export function waitingOf(ranked: readonly Ranked[], plan: Plan, context: QueryContext): readonly Ranked[] {
  const { after } = plan.query
  if (after === null) return ranked
  const waiting = behindPage(ranked, after, plan, context)
  const shown = shownOf(ranked, after, context)
  if (isByPlace(plan)) {
    const accounted = new Set([...shown, ...waiting.map(itemKey)])
    mustAllBeShown(
      ranked.filter(one => !accounted.has(itemKey(one))),
      forgotten(after),
      context,
    )
  }
  return shown.size === 0 ? waiting : waiting.filter(one => !shown.has(itemKey(one)))
}

function behindPage(ranked: readonly Ranked[], after: Position, plan: Plan, context: QueryContext): readonly Ranked[] {
  if (isReadOn(plan)) return ranked
  if (!isByPlace(plan)) return ranked.slice(after.rank)
  return behind(ranked, after, context)
}

/** A spread order is not by score: there the number shown is the place. */
function isByPlace(plan: Plan): boolean {
  return plan.query.diversity >= 1 || isReadOn(plan)
}

/** Where some were used meanwhile, what was shown may stand lower now. */
function shownOf(ranked: readonly Ranked[], after: Position, context: QueryContext): ReadonlySet<ItemKey> {
  const [isShown, place] = [wasShown(after.shown, context.secret), placesOf(ranked, context)]
  return new Set(ranked.filter(one => isShown(place(one))).map(itemKey))
}

/**
 * What has risen to before the place where the page ended, as use makes it rise in some lenses, would never be shown. Of what
 * stands there and is not known to have been shown, `count` were.
 */
function mustAllBeShown(before: readonly Ranked[], count: number, context: QueryContext): void {
  if (before.length <= count) return
  const sight = context.look()
  const entries = context.reader.entries([...new Set(before.map(({ entry }) => entry))])
  const visible = new Set(entries.filter(entry => stillVisible(entry, sight)).map(({ key }) => key))
  if (before.filter(({ entry }) => visible.has(entry)).length > count) throw orderLost()
}

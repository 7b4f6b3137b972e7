/** What of an order that is found again the pages before have not shown. */
import type { Ranked } from '../model/candidate.ts'
import type { EntryKey } from '../model/entry.ts'
import type { Position } from '../model/query.ts'
import { stillVisible } from './access.ts'
import type { QueryContext } from './context.ts'
import { orderLost } from './cursor.ts'
import { behind } from './order.ts'
import { hasCaps } from './page-bounds.ts'
import { forgotten, wasShown } from './shown.ts'
import type { Plan } from './stage.ts'

/** Throws `cursor_expired` where the order is seen not to be the one that they were pages of. */
export function waitingOf(ranked: readonly Ranked[], plan: Plan, context: QueryContext): readonly Ranked[] {
  const { after } = plan.query
  if (after === null) return ranked
  const waiting = behindPage(ranked, after, plan, context)
  const shown = shownOf(ranked, after, context)
  if (isByPlace(plan)) {
    const accounted = new Set([...shown, ...keysOf(waiting)])
    mustAllBeShown(
      keysOf(ranked).filter(entry => !accounted.has(entry)),
      forgotten(after),
      context,
    )
  }
  return shown.size === 0 ? waiting : waiting.filter(({ entry }) => !shown.has(entry))
}

function behindPage(ranked: readonly Ranked[], after: Position, plan: Plan, context: QueryContext): readonly Ranked[] {
  const { mode, query } = plan
  if (mode === 'list' && !hasCaps(query)) return ranked
  if (!isByPlace(plan)) return ranked.slice(after.rank)
  return behind(ranked, after, keys => context.reader.identities(keys))
}

/** A spread order is not by score: there the number shown is the place. */
function isByPlace({ mode, query }: Plan): boolean {
  return query.diversity >= 1 || mode === 'list'
}

/** Where some were used meanwhile, what was shown may stand lower now. */
function shownOf(ranked: readonly Ranked[], after: Position, { reader, secret }: QueryContext): ReadonlySet<EntryKey> {
  const identities = reader.identities(keysOf(ranked))
  return new Set(identities.filter(wasShown(after.shown, secret)).map(({ key }) => key))
}

/**
 * What has risen to before the place where the page ended, as use makes it rise in some lenses, would never be shown. Of what
 * stands there and is not known to have been shown, `count` were.
 */
function mustAllBeShown(before: readonly EntryKey[], count: number, context: QueryContext): void {
  if (before.length <= count) return
  const sight = context.look()
  const visible = context.reader.entries(before).filter(entry => stillVisible(entry, sight))
  if (visible.length > count) throw orderLost()
}

function keysOf(ranked: readonly Ranked[]): EntryKey[] {
  return ranked.map(({ entry }) => entry)
}

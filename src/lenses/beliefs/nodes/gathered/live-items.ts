/** What was gathered, as items of a live query. */
import type { LiveItem } from '../../../../model/live.ts'
import type { ShowView } from '../../access/show.ts'
import { itemOf, saidBy, type UnratedItem } from '../../live/items.ts'
import type { BeliefSource } from '../../model.ts'
import type { CheckedOptions } from '../../schema/query.ts'
import type { Guest } from '../guest.ts'
import type { GatheredOrder } from './gathered-order.ts'
import { showingGathered } from './show-gathered.ts'

/** The beginning of the order, as far as the question goes. */
export function gatheredItems(
  { world, picks }: GatheredOrder,
  home: ShowView,
  options: CheckedOptions,
): readonly Omit<LiveItem, 'standing'>[] {
  const scores = new Map(
    picks.slice(options.offset, options.offset + options.limit).map(({ scored }) => [scored.entry, scored.final]),
  )
  return world.state.look(home.requester.id, view =>
    showingGathered(world, home, view, options)
      .current([...scores.keys()])
      .map((shown, at) => {
        const guest = world.guests.get(shown.entry)
        const item = guest === undefined ? itemOf(shown, home) : guestItem(guest)
        return { ...item, score: scores.get(shown.entry) as number, rank: at + 1 }
      }),
  )
}

/** A belief of another node, as long as it is the same one there. */
function guestItem({ node, source, belief }: Guest): UnratedItem {
  return {
    ...saidBy(belief),
    key: JSON.stringify([MARK, source.kind, source.id, node, belief.id]),
    since: Date.parse(belief.created_at),
  }
}

const MARK = 'node'
const PARTS = 5

/** Where an item of that key came from; null: from this node's own store, whose keys have two parts. */
export function guestOfKey(key: string): (BeliefSource & { readonly node: string }) | null {
  const parts = JSON.parse(key) as readonly string[]
  if (parts.length !== PARTS) return null
  const [, kind, id, node] = parts as [string, BeliefSource['kind'], string | null, string]
  return { kind, id, node }
}

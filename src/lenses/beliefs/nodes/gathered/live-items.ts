/** What was gathered, as items of a live query. */
import type { LiveItem } from '../../../../model/live.ts'
import type { ShowView } from '../../access/show.ts'
import { itemOf, saidBy, type UnratedItem } from '../../live/items.ts'
import { textOfTrust } from '../../live/trust-basis.ts'
import type { BeliefSource } from '../../model.ts'
import type { ScoredBelief } from '../../ranking/scored.ts'
import { trustFound } from '../../ranking/trust-found.ts'
import type { CheckedOptions } from '../../schema/query.ts'
import type { Guest } from '../guest.ts'
import type { GatheredOrder } from './gathered-order.ts'
import { showingGathered } from './show-gathered.ts'

/** The beginning of the order, as far as the question goes. What the score of this node's own rests on is left to its store: the empty text. */
export function gatheredItems(
  { world, picks, evaluation }: GatheredOrder,
  home: ShowView,
  options: CheckedOptions,
): readonly LiveItem[] {
  const first = new Map(
    picks.slice(options.offset, options.offset + options.limit).map(({ scored }) => [scored.entry, scored]),
  )
  return world.state.look(home.requester.id, view =>
    showingGathered(world, home, view, options)
      .current([...first.keys()])
      .map((shown, at) => {
        const guest = world.guests.get(shown.entry)
        const scored = first.get(shown.entry) as ScoredBelief
        const item = guest === undefined ? itemOf(shown, home) : guestItem(guest)
        const standing = guest === undefined ? '' : textOfTrust(trustFound(evaluation, scored).trust)
        return { ...item, score: scored.final, rank: at + 1, standing }
      }),
  )
}

function guestItem(guest: Guest): UnratedItem {
  const { belief } = guest
  return { ...saidBy(belief), key: keyOfGuest(guest), since: Date.parse(belief.created_at) }
}

/** The same as long as it is the same version of the belief. */
export function keyOfGuest({ node, source, belief }: Guest): string {
  return JSON.stringify([MARK, source.kind, source.id, node, belief.id])
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

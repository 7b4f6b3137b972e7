/** What stands in a gathered order as it is shown, also as items of a live query: this node's own from its store as it is now, guests as they came. */
import type { EntryKey } from '../../../../model/entry.ts'
import type { LiveItem } from '../../../../model/live.ts'
import { trustedAsGuest } from '../../access/row-origins.ts'
import type { ShownBelief, ShowView } from '../../access/show.ts'
import { chainInTime, type Showing, showingOf } from '../../answer/show-page.ts'
import { itemOf, saidBy, type UnratedItem } from '../../live/items.ts'
import { textOfTrust } from '../../live/trust-basis.ts'
import type { BeliefSource } from '../../model.ts'
import type { ScoredBelief } from '../../ranking/scored.ts'
import { trustFound } from '../../ranking/trust-found.ts'
import type { CheckedOptions } from '../../schema/query.ts'
import type { Guest } from '../guest.ts'
import type { GatheredOrder } from './gathered-order.ts'
import { type GatheredWorld, guestVersion } from './gathered-world.ts'

/** `home`: as memberships and beliefs of this node stand now; `view`: of the gathered world. */
export function showingGathered(
  { guests, homeKeys }: GatheredWorld,
  home: ShowView,
  view: ShowView,
  options: CheckedOptions,
): Showing {
  const own = showingOf(home, options)
  const guestAt = (entry: EntryKey): Guest | undefined => guests.get(entry)
  const isLetIn = ({ source }: Guest) =>
    source.kind !== 'federated' || home.requester.federations.includes(source.id as string)
  const homeKey = (entry: EntryKey) => homeKeys.get(entry) as EntryKey
  return {
    view,
    current: keys => {
      const shown = new Map(own.current(keys.flatMap(key => homeKeys.get(key) ?? [])).map(one => [one.entry, one]))
      return keys.flatMap((entry): readonly ShownBelief[] => {
        const guest = guestAt(entry)
        if (guest !== undefined) return isLetIn(guest) ? [shownGuest(entry, guest)] : []
        const one = shown.get(homeKey(entry))
        return one === undefined ? [] : [{ ...one, entry }]
      })
    },
    isSeen: entry => {
      const guest = guestAt(entry)
      return guest === undefined ? own.isSeen(homeKey(entry)) : isLetIn(guest)
    },
    more: belief => {
      const guest = guestAt(belief.entry)
      if (guest === undefined) return own.more({ ...belief, entry: homeKey(belief.entry) })
      return {
        node: guest.node,
        ...throughNode(guest),
        ...(options.includeDerivation ? chainInTime(view, belief, options.maxDerivationDepth) : {}),
      }
    },
  }
}

/** No agent is called so: who holds a guest is asked of the guest. */
const NOBODY = ''

function shownGuest(entry: EntryKey, guest: Guest): ShownBelief {
  const { belief, source } = guest
  return { entry, belief, version: guestVersion(guest, NOBODY), source, trustedAs: trustedAsGuest(guest) }
}

function throughNode({ source, memberCount }: Guest): {
  readonly federation_id?: string
  readonly member_count?: number
} {
  if (source.kind !== 'federated' || source.id === null) return {}
  return { federation_id: source.id, member_count: memberCount ?? 1 }
}

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

/** A belief of another node, through all its versions. */
function guestItem(guest: Guest): UnratedItem {
  const { belief } = guest
  return { ...saidBy(belief), key: keyOfGuest(guest), since: Date.parse(belief.created_at) }
}

/** The same for all versions of the belief. */
export function keyOfGuest({ node, source, chain }: Guest): string {
  return JSON.stringify([MARK, source.kind, source.id, node, chain])
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

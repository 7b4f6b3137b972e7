/** What stands in a gathered order as it is shown: this node's own from its store as it is now, guests as they came. */
import type { EntryKey } from '../../../../model/entry.ts'
import { trustedAsGuest } from '../../access/row-origins.ts'
import type { ShownBelief, ShowView } from '../../access/show.ts'
import { chainInTime, type Showing, showingOf } from '../../answer/show-page.ts'
import type { CheckedOptions } from '../../schema/query.ts'
import type { Guest } from '../guest.ts'
import type { GatheredWorld } from './gathered-world.ts'
import { guestVersion } from './guest-version.ts'

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

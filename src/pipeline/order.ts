/** Puts scored candidates in the one total order, reading ids only where equal scores must be told apart. */
import { byPlace, type Place, type Scored } from '../model/candidate.ts'
import type { EntryIdentity, EntryKey } from '../model/entry.ts'
import type { Position } from '../model/query.ts'

export type Identify = (keys: readonly EntryKey[]) => readonly EntryIdentity[]

/** What a candidate is ranked by. */
export function orderOf(scored: Scored): number {
  return scored.order ?? scored.score
}

/** The retrieval that brought it. */
export function roundOf({ round }: Scored): number {
  return round ?? 0
}

/** Best first. Entries that are gone by now and tie with others come last among them. */
export function inOrder(scored: readonly Scored[], identify: Identify): readonly Scored[] {
  const sorted = [...scored].sort(byOrder)
  const tied = sorted.filter((one, at) => {
    return isTie(one, sorted[at - 1]) || isTie(one, sorted[at + 1])
  })
  if (tied.length === 0) return sorted
  const place = placesOf(tied, identify)
  return sorted.sort((a, b) => byOrder(a, b) || byPlace(place(a), place(b)))
}

/** Those that stand strictly behind the position; `ranked` is in order. */
export function behind<T extends Scored>(ranked: readonly T[], after: Position, identify: Identify): readonly T[] {
  const distance = (one: T) => roundOf(one) - after.round || after.order - orderOf(one)
  const notBefore = ranked.filter(one => distance(one) >= 0)
  const tied = notBefore.filter(one => distance(one) === 0)
  if (tied.length === 0) return notBefore
  const place = placesOf(tied, identify)
  return notBefore.filter(one => distance(one) > 0 || byPlace(place(one), after) > 0)
}

/** Whole numbers: a fraction would be a new object at each comparison. */
function byOrder(a: Scored, b: Scored): number {
  if (roundOf(a) !== roundOf(b)) return roundOf(a) - roundOf(b)
  const first = orderOf(a)
  const second = orderOf(b)
  return first === second ? 0 : first < second ? 1 : -1
}

function isTie(one: Scored, other: Scored | undefined): boolean {
  return other !== undefined && byOrder(one, other) === 0
}

function placesOf(scored: readonly Scored[], identify: Identify): (one: Scored) => Place {
  const identities = new Map(identify(scored.map(one => one.entry)).map(identity => [identity.key, identity]))
  return one => {
    const { id, holder } = identities.get(one.entry) ?? GONE
    return { order: orderOf(one), id, holder }
  }
}

/** Behind every id there can be; it will not pass the second access check. */
const GONE = { id: '\u{10ffff}', holder: '' }

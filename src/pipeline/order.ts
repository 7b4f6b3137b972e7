/** Puts scored candidates in the one total order, reading ids only where equal scores must be told apart. */
import { byPlace, type Place, type Scored } from '../model/candidate.ts'
import type { Position } from '../model/query.ts'
import { stillVisible } from './access.ts'
import type { QueryContext } from './context.ts'
import { aroundDamage } from './many-rows.ts'

/** What a candidate is ranked by. */
export function orderOf(scored: Scored): number {
  return scored.order ?? scored.score
}

/** The retrieval that brought it. */
export function roundOf({ round }: Scored): number {
  return round ?? 0
}

/** Best first. Entries and passages that are gone or hidden by now and tie with others come last among them. */
export function inOrder(scored: readonly Scored[], context: Viewing): readonly Scored[] {
  const sorted = [...scored].sort(byOrder)
  const tied = sorted.filter((one, at) => {
    return isTie(one, sorted[at - 1]) || isTie(one, sorted[at + 1])
  })
  if (tied.length === 0) return sorted
  const place = placesOf(tied, context)
  return sorted.sort((a, b) => byOrder(a, b) || byPlace(place(a), place(b)))
}

/** The first `most` of that order, in no order: only what ties with the last of them is told apart. */
export function firstInOrder(scored: readonly Scored[], most: number, context: Viewing): readonly Scored[] {
  if (scored.length <= most) return scored
  const last = [...scored].sort(byOrder)[most - 1]
  if (last === undefined) return []
  const before = scored.filter(one => byOrder(one, last) < 0)
  const tied = scored.filter(one => byOrder(one, last) === 0)
  return [...before, ...inOrder(tied, context).slice(0, most - before.length)]
}

/** Those that stand strictly behind the position; `ranked` is in order. */
export function behind<T extends Scored>(ranked: readonly T[], after: Position, context: Viewing): readonly T[] {
  const distance = (one: T) =>
    roundOf(one) - after.round || after.order - orderOf(one) || (after.tie ?? 0) - (one.tie ?? 0)
  const notBefore = ranked.filter(one => distance(one) >= 0)
  const tied = notBefore.filter(one => distance(one) === 0)
  if (tied.length === 0) return notBefore
  const place = placesOf(tied, context)
  return notBefore.filter(one => distance(one) > 0 || byPlace(place(one), after) > 0)
}

/** Whole numbers: a fraction would be a new object at each comparison. */
function byOrder(a: Scored, b: Scored): number {
  if (roundOf(a) !== roundOf(b)) return roundOf(a) - roundOf(b)
  const first = orderOf(a)
  const second = orderOf(b)
  if (first !== second) return first < second ? 1 : -1
  return a.tie === b.tie ? 0 : (b.tie ?? 0) - (a.tie ?? 0)
}

function isTie(one: Scored, other: Scored | undefined): boolean {
  return other !== undefined && byOrder(one, other) === 0
}

/** What of a query's context the order of equal scores rests on: the store, and what the viewer may see now. */
export type Viewing = Pick<QueryContext, 'reader' | 'look'>

/**
 * The place of each of these in the order, by the names that it has now. What is hidden by now counts as gone, since which of them stand
 * among the first must not depend on it.
 */
export function placesOf(scored: readonly Scored[], context: Viewing): (one: Scored) => Place {
  const { reader } = context
  const accessScope = context.look()
  const entries = [...new Set(scored.map(({ entry }) => entry))]
  const visible = reader.identities(entries).filter(identity => stillVisible(identity, accessScope))
  const identities = new Map(visible.map(identity => [identity.key, identity]))
  const passages = scored.flatMap(({ entry, passage }) => (identities.has(entry) ? (passage ?? []) : []))
  const chunks = passages.length === 0 ? [] : aroundDamage(reader, () => reader.chunks(passages))
  const ordinals = new Map(chunks.map(({ key, ordinal }) => [key, ordinal]))
  return one => {
    const { id, holder } = identities.get(one.entry) ?? GONE
    const place: Place = { order: orderOf(one), id, holder, ...(one.tie !== undefined && { tie: one.tie }) }
    if (one.passage === undefined) return place
    return { ...place, passage: (ordinals.get(one.passage) ?? Number.MAX_SAFE_INTEGER - 1) + 1 }
  }
}

/** Behind every id there can be; it will not pass the second access check. */
const GONE = { id: '\u{10ffff}', holder: '' }

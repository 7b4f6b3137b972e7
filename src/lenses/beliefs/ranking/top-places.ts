import { TopK } from '../../../base/top-k.ts'

/** Places of the greatest numbers, and what none of the others is above. */
export function topPlaces(
  worth: ArrayLike<number>,
  asked: number,
): { readonly places: readonly number[]; readonly floor: number } {
  const top = new TopK<number>(asked, (a, b) => (worth[b] as number) - (worth[a] as number) || a - b)
  for (let place = 0; place < worth.length; place++) top.push(place)
  const places = top.sorted()
  const last = places.at(-1)
  const isAll = places.length === worth.length
  return { places, floor: isAll || last === undefined ? Number.NEGATIVE_INFINITY : (worth[last] as number) }
}

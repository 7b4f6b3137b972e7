/** What the explanations of a page rest on, read while its moment is fixed. */
import type { EntryKey } from '../../../model/entry.ts'
import type { Picked } from '../ranking/scored.ts'
import { type TrustFound, type TrustWorld, trustFound } from '../ranking/trust-found.ts'

export interface Ground {
  /** From 1, in the total order. */
  readonly rank: number
  readonly trust: TrustFound
}

/**
 * By entry. `ranks`: places in the total order of those that were chosen from its front; `passed`: what stands before the
 * page of that order.
 */
export function groundsOf(
  world: TrustWorld,
  picked: readonly Picked[],
  { passed, ranks }: { readonly passed: number; readonly ranks: ReadonlyMap<EntryKey, number> | null },
): ReadonlyMap<EntryKey, Ground> {
  return new Map(
    picked.map(({ scored }, at) => {
      const rank = ranks?.get(scored.entry) ?? passed + at + 1
      return [scored.entry, { rank, trust: trustFound(world, scored) }]
    }),
  )
}

/** What the explanations of a page rest on, read while its moment is fixed. */
import type { EntryKey } from '../../../model/entry.ts'
import type { CheckedOptions } from '../check/checked.ts'
import type { Evaluation } from '../query/evaluation.ts'
import { type Picked, POOL } from '../query/spread.ts'
import { type TrustFound, trustFound } from './trust.ts'

export interface Ground {
  /** From 1, in the total order. */
  readonly rank: number
  readonly trust: TrustFound
}

/** By entry. Where diversity chose the page, the places in the total order are looked up. */
export function groundsOf(
  evaluation: Evaluation,
  picked: readonly Picked[],
  { offset, diversity }: Pick<CheckedOptions, 'offset' | 'diversity'>,
): ReadonlyMap<EntryKey, Ground> {
  const order = diversity.enabled
    ? new Map(evaluation.best(POOL).map(({ entry }, at) => [entry, at + 1]))
    : new Map(picked.map(({ scored }, at) => [scored.entry, offset + at + 1]))
  return new Map(
    picked.map(({ scored }) => {
      return [scored.entry, { rank: order.get(scored.entry) as number, trust: trustFound(evaluation, scored) }]
    }),
  )
}

/** How questions by vector are narrowed. */
import type { Fields } from './item.ts'

/** `near`: to the part that the question lies in; `far`: to the one least like it. `random` has nothing to do with it. */
export type Narrowing = 'none' | 'random' | 'near' | 'far'

export interface Scenario {
  readonly name: string
  readonly narrowing: Narrowing
  /** Share of the rows that pass. */
  readonly share: number
  /** Every question has a filter that was not asked before, though the rows that pass are the same. */
  readonly isNew?: boolean
}

export const PARTS: readonly (readonly [field: keyof Fields, parts: number])[] = [
  ['half', 2],
  ['twentieth', 20],
  ['twohundredth', 200],
]

export const SCENARIOS: readonly Scenario[] = [
  { name: 'no filter', narrowing: 'none', share: 1 },
  ...(['random', 'near', 'far'] as const).flatMap(narrowing =>
    PARTS.map(([, parts]) => ({ name: `${narrowing}, ${100 / parts} %`, narrowing, share: 1 / parts })),
  ),
  { name: 'random, 5 %, not met before', narrowing: 'random', share: 0.05, isNew: true },
]

/**
 * How use lifts an entry for the viewer who used it: by at most a tenth, the more the oftener and the more recently.
 *
 *     memory = strength / (strength + 4) · 2^(-age / 30 days)          boost = 1 + 0.1·memory
 *
 * Worked: used 4 times, last 30 days ago: 0.5 · 0.5 = 0.25, so a relevance of 0.8 becomes 0.8 · 1.025 = 0.82.
 */
import type { Instant } from '../base/clock.ts'
import { decay, saturate } from '../math/decay.ts'
import type { AccessState } from '../model/entry.ts'
import { type Explanation, leaf, node } from '../model/explanation.ts'

/** The most that use can add, as a share of relevance. */
export const MEMORY_BOOST = 0.1
/** What one use adds to the strength. */
export const ACCESS_GAIN = 1

const HALF_STRENGTH = 4
const DAY_MS = 86_400_000
const HALF_LIFE_DAYS = 30

export interface Remembered {
  readonly state: AccessState
  readonly ageDays: number
  readonly recency: number
  /** 0 to 1. */
  readonly value: number
}

export function remember(state: AccessState, asOf: Instant): Remembered {
  const ageDays = Math.max(0, asOf - state.lastAccessed) / DAY_MS
  const recency = decay(ageDays, HALF_LIFE_DAYS)
  return { state, ageDays, recency, value: saturate(state.strength, HALF_STRENGTH) * recency }
}

export function memoryTree({ state, ageDays, recency }: Remembered): Explanation {
  const strength = leaf('strength', state.strength, timesUsed(state.count))
  const use = node('use', 'quotient', [strength, node('saturation', 'sum', [strength, leaf('half at', HALF_STRENGTH)])])
  const last = `last used ${Math.floor(ageDays)} days ago, half-life ${HALF_LIFE_DAYS} days`
  return node('memory', 'product', [use, leaf('recency', recency, last)])
}

export function timesUsed(count: number): string {
  return count === 1 ? 'used once' : `used ${count} times`
}

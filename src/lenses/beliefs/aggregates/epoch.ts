/** An epoch is a day in UTC: one answer a topic and one budget a member hold for it, and both begin anew together (BQ-105). */
import type { Instant } from '../../../base/clock.ts'
import { toIso } from '../../../model/instant.ts'
import { DAY_MS } from '../measures/decay.ts'

/** Days since 1970. */
export type Epoch = number

export function epochAt(now: Instant): Epoch {
  return Math.floor(now / DAY_MS)
}

/** When the next one begins. */
export function epochEnd(epoch: Epoch): Instant {
  return (epoch + 1) * DAY_MS
}

/** `2026-03-01`. */
export function epochName(epoch: Epoch): string {
  return toIso(epoch * DAY_MS).slice(0, 10)
}

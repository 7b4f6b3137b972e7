/** Finds the time that a question speaks of. The exact words come first; a library knows what else people write. */
import { exactTime } from './exact-time.ts'
import { libraryTimes } from './library-time.ts'
import type { FoundTime } from './period.ts'

/**
 * The leftmost of the exact words (CQ-088), unless they are only part of what was written: `the day before yesterday`,
 * `from 2024-01-05 to 2024-02-03`.
 */
export function findTime(text: string, now: number): FoundTime | null {
  const exact = exactTime(text, now)
  const others = libraryTimes(text, now)
  if (exact === null) return others[0] ?? null
  const end = exact.index + exact.length
  const whole = others.find(
    other =>
      other.index + other.length >= end &&
      (other.index < exact.index || (other.isRange && other.index <= exact.index && other.length > exact.length)),
  )
  return whole ?? exact
}

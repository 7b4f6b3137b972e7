/** Moments as callers write them, and as interfaces print them. */
import type { Instant } from '../base/clock.ts'
import { invalidArgument } from './errors.ts'
import { readDate } from './record-date.ts'

/**
 * Milliseconds, or ISO 8601 (without zone: UTC, so that it means the same on every machine), or a date (its first instant,
 * UTC). Fractions below a millisecond are cut.
 */
export function toInstant(value: string | number, field: string): Instant {
  const instant = typeof value === 'number' ? value : parseIso(value)
  if (!Number.isSafeInteger(instant) || Math.abs(instant) > 8.64e15) {
    throw invalidArgument(field, value, 'a date such as 2026-03-01, or a time such as 2026-03-01T12:00:00Z')
  }
  return instant
}

export function toIso(instant: Instant): string {
  return new Date(instant).toISOString()
}

/** Whether a text is an instant in the one form that `toIso` writes. */
export function isIso(text: string): boolean {
  if (!WRITTEN.test(text)) return false
  const instant = Date.parse(text)
  return Number.isFinite(instant) && toIso(instant) === text
}

/** Years of other lengths bear a sign. */
const WRITTEN = /^(?:\d{4}|[+-]\d{6})-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/**
 * `Date.parse` takes 31 February for 3 March, and a time without zone for the machine's: what was asked for must not become
 * something else.
 */
function parseIso(text: string): number {
  const day = text.slice(0, 10)
  const midnight = Date.parse(day)
  const exists = !Number.isNaN(midnight) && toIso(midnight).startsWith(day)
  if (!exists) return Number.NaN
  return text === day ? midnight : (readDate(text) ?? Number.NaN)
}

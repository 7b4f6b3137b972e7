/** Parses and prints times: the forms in which callers write them, and the form in which interfaces print them. */

import type { JsonObject } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import { invalidArgument } from './errors.ts'

// The date of a record that another program made, from its metadata: `date`, or else `analyzed_at`, as ISO 8601 or a number. A time without
// an offset is taken as UTC, so that the result does not depend on the machine's time zone.

/** Metadata keys that may hold a record's date, in the order in which they are tried; the first with a valid date is used. */
const DATE_KEYS = ['date', 'analyzed_at'] as const

/** A number above this is taken as milliseconds since 1970, others as seconds: in seconds it would be in the year 5138. */
const MAX_SECONDS = 1e11
const MAX_INSTANT = 8.64e15

/** Length of the day at the start of a written date, in characters, as in `2025-06-01`. */
const DAY_LENGTH = 10

/** Pattern of a date: a day, optionally with a time of day, optionally with an offset from UTC. */
const ISO = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i

/** Date of a record, from its metadata; null: the record has no valid date. */
export function recordDate(metadata: JsonObject): Instant | null {
  for (const key of DATE_KEYS) {
    const instant = readDate(metadata[key])
    if (instant !== null) return instant
  }
  return null
}

/**
 * The day of a record as shown to users: the first 10 characters of the date as written, or the UTC day of a number; null when the record
 * has neither.
 */
export function recordDay(metadata: JsonObject): string | null {
  const readable = DATE_KEYS.find(key => readDate(metadata[key]) !== null)
  const key = readable ?? DATE_KEYS.find(key => typeof metadata[key] === 'string' && metadata[key].trim() !== '')
  if (key === undefined) return null
  const value = metadata[key]
  if (typeof value === 'number') return isoDay(readDate(value) as Instant)
  return [...String(value).trim()].slice(0, DAY_LENGTH).join('')
}

/** Parses a date from a text or number; null for a value that is no date. Fractions of a millisecond are cut off. */
export function readDate(value: unknown): Instant | null {
  if (typeof value === 'number') return fromNumber(value)
  return typeof value === 'string' ? fromIso(value.trim()) : null
}

/** Whether a date is written without a time of day. */
export function isBareDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text.trim())
}

function fromNumber(value: number): Instant | null {
  const instant = Math.trunc(Math.abs(value) > MAX_SECONDS ? value : value * 1000)
  return Math.abs(instant) <= MAX_INSTANT ? instant : null
}

function fromIso(text: string): Instant | null {
  const [, day, time = '00:00', offset = 'Z'] = ISO.exec(text) ?? []
  if (day === undefined || !exists(day)) return null
  const instant = Date.parse(`${day}T${time.replace(',', '.')}${wholeOffset(offset)}`)
  return Number.isNaN(instant) ? null : instant
}

/** An offset such as `+0200` or `+02` in the form `+02:00`, which `Date.parse` requires. */
function wholeOffset(offset: string): string {
  if (/^z$/i.test(offset)) return 'Z'
  const digits = offset.slice(1).replace(':', '').padEnd(4, '0')
  return `${offset[0]}${digits.slice(0, 2)}:${digits.slice(2)}`
}

/** Whether the day exists in the calendar: `Date.parse` would read 31 February as 3 March. */
function exists(day: string): boolean {
  const midnight = Date.parse(day)
  return !Number.isNaN(midnight) && isoDay(midnight) === day
}

function isoDay(instant: Instant): string {
  return new Date(instant).toISOString().slice(0, 10)
}

/**
 * Parses a point in time: a number of milliseconds since 1970, ISO 8601 (without a zone: UTC, so that the result does not depend on the
 * machine), or a date alone (its first moment in UTC). Fractions of a millisecond are cut off.
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

/** Whether a text is a time in exactly the form that `toIso` writes. */
export function isIso(text: string): boolean {
  if (!WRITTEN.test(text)) return false
  const instant = Date.parse(text)
  return Number.isFinite(instant) && toIso(instant) === text
}

/** Pattern of a time as `toIso` writes it; years with more or fewer than four digits have a sign and six digits. */
const WRITTEN = /^(?:\d{4}|[+-]\d{6})-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Parses ISO 8601 strictly: `Date.parse` would read 31 February as 3 March, and a time without a zone as local to the machine. */
function parseIso(text: string): number {
  const day = text.slice(0, 10)
  const midnight = Date.parse(day)
  const exists = !Number.isNaN(midnight) && toIso(midnight).startsWith(day)
  if (!exists) return Number.NaN
  return text === day ? midnight : (readDate(text) ?? Number.NaN)
}

/** Moments as callers write them, and as interfaces print them. */

import type { JsonObject } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import { invalidArgument } from './errors.ts'

// The date a record says it is from, for records of other people's making: `date`, else `analyzed_at`. ISO 8601 or a
// number; what has no offset is UTC, so that an answer is the same in every time zone.

/** Looked at in this order; the first that can be read decides. */
const DATE_KEYS = ['date', 'analyzed_at'] as const

/** Above this a number counts milliseconds, not seconds: in seconds it would lie in the year 5138. */
const MAX_SECONDS = 1e11
const MAX_INSTANT = 8.64e15

/** Characters of a date that are its day. */
const DAY_LENGTH = 10

/** A day, then perhaps a time, then perhaps an offset. */
const ISO = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i

/** Null: the record is undated. */
export function recordDate(metadata: JsonObject): Instant | null {
  for (const key of DATE_KEYS) {
    const instant = readDate(metadata[key])
    if (instant !== null) return instant
  }
  return null
}

/** The day to show: as it is written, the UTC day of a number; null when there is neither. */
export function recordDay(metadata: JsonObject): string | null {
  const readable = DATE_KEYS.find(key => readDate(metadata[key]) !== null)
  const key = readable ?? DATE_KEYS.find(key => typeof metadata[key] === 'string' && metadata[key].trim() !== '')
  if (key === undefined) return null
  const value = metadata[key]
  if (typeof value === 'number') return isoDay(readDate(value) as Instant)
  return [...String(value).trim()].slice(0, DAY_LENGTH).join('')
}

/** Null for what is no date. Fractions below a millisecond are cut. */
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

/** `Date.parse` wants `+02:00`; others write `+0200` and `+02`. */
function wholeOffset(offset: string): string {
  if (/^z$/i.test(offset)) return 'Z'
  const digits = offset.slice(1).replace(':', '').padEnd(4, '0')
  return `${offset[0]}${digits.slice(0, 2)}:${digits.slice(2)}`
}

/** `Date.parse` takes 31 February for 3 March. */
function exists(day: string): boolean {
  const midnight = Date.parse(day)
  return !Number.isNaN(midnight) && isoDay(midnight) === day
}

function isoDay(instant: Instant): string {
  return new Date(instant).toISOString().slice(0, 10)
}

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

/** Moments as exports write them, with the zone they were written in. */
import type { Instant } from '../../../base/clock.ts'
import { instantIn, offsetAt, offsetOf, type Zone } from './zones.ts'

export interface Moment {
  readonly at: Instant
  /** Minutes ahead of UTC; null where neither the export nor the caller says. */
  readonly zone: number | null
}

/** In the year 9999: what is larger counts something smaller than milliseconds. */
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?\s*(Z|UTC|GMT|[+-]\d\d:?(?:\d\d)?)?$/i

/**
 * ISO 8601 (date alone: midnight), or seconds or milliseconds since 1970, as number or text. A time without a zone is one
 * of `zone`, or UTC. `Z` says when it was, not what a clock there showed (RFC 9557, 2.2). Null when it is none of these.
 */
export function momentOf(value: unknown, zone: Zone | null): Moment | null {
  if (typeof value === 'number') return momentOfNumber(value, zone)
  if (typeof value !== 'string' || value.length > 60) return null
  const text = value.trim()
  if (/^\d{9,13}(\.\d+)?$/.test(text)) return momentOfNumber(Number(text), zone)
  const match = ISO.exec(text)
  if (match === null) return null
  const [year, month, day, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(part => Number(part ?? 0))
  const ms = Math.trunc(Number(`0.${match[7] ?? 0}`) * 1000)
  const local = localTime(year as number, month as number, day as number, hour, minute, second, ms)
  if (local === null) return null
  if (match[8] === undefined) return momentIn(local, zone)
  const written = offsetOf(match[8])
  if (written === null) return null
  const at = local - written * 60_000
  return { at, zone: /[+-]/.test(match[8]) ? written : zone === null ? null : offsetAt(zone, at) }
}

/** A clock's time (as if it were UTC) in a zone, or in UTC where none is known. */
export function momentIn(local: Instant, zone: Zone | null): Moment {
  return zone === null ? { at: local, zone: null } : instantIn(zone, local)
}

/** Seconds when it would otherwise be a moment before March 1973. */
function momentOfNumber(value: number, zone: Zone | null): Moment | null {
  const at = Math.round(Math.abs(value) < 1e11 ? value * 1000 : value)
  if (!(Math.abs(at) <= LAST)) return null
  return { at, zone: zone === null ? null : offsetAt(zone, at) }
}

/** As if it were UTC; null when calendar or clock have no such time. */
export function localTime(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second = 0,
  ms = 0,
): Instant | null {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day || date.getUTCFullYear() !== year) return null
  if (hour > 24 || minute > 59 || second > 60 || (hour === 24 && minute + second > 0)) return null
  return date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000 + ms
}

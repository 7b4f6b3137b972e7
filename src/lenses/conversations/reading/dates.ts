/** Times as exports write them, the zones of their writers, and the days of a calendar. */
import type { Instant } from '../../../base/clock.ts'
import { Recent } from '../../../base/recent.ts'
import { invalidArgument } from '../../../model/errors.ts'
import { readDate } from '../../../model/record-date.ts'

const MINUTE_MS = 60_000
export const DAY_MS: number = 24 * 60 * MINUTE_MS
/** Minutes that ISO 8601 allows. */
const MAX_OFFSET = 24 * 60 - 1

/** Minutes ahead of UTC, at any time; or a name such as `Europe/Madrid`, which knows its summers. */
export type Zone = number | string

export interface Moment {
  readonly at: Instant
  /** Minutes ahead of UTC; null where neither the export nor the caller names them. */
  readonly zone: number | null
}

/** A day of the calendar, as its midnight in UTC whatever zone it is a day of. */
export type Day = Instant

/** The day on the clock of someone `zone` minutes ahead of UTC; null: in UTC. */
export function dayOf(at: Instant, zone: number | null): Day {
  return Math.floor((at + (zone ?? 0) * MINUTE_MS) / DAY_MS) * DAY_MS
}

export const ENGLISH_MONTHS: readonly string[] = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
]

/** `March 2025` */
export function monthText(day: Day): string {
  const date = new Date(day)
  return `${ENGLISH_MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`
}

/** `13 March 2025` */
export function dayText(day: Day): string {
  return `${new Date(day).getUTCDate()} ${monthText(day)}`
}

/** In the year 9999: what is larger counts something smaller than milliseconds. */
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
const ISO = /^(\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)?)\s*(Z|UTC|GMT|[+-]\d\d:?(?:\d\d)?)?$/i

/**
 * ISO 8601 (date alone: midnight), or seconds or milliseconds since 1970, as number or text. A time without a zone is one
 * of `zone`, or UTC. `Z` says when it was, not what a clock there showed (RFC 9557, 2.2). Null when it is none of these.
 */
export function momentOf(value: unknown, zone: Zone | null): Moment | null {
  if (typeof value === 'number') return momentOfNumber(value, zone)
  if (typeof value !== 'string' || value.length > 60) return null
  const text = value.trim()
  if (/^\d{9,13}(\.\d+)?$/.test(text)) return momentOfNumber(Number(text), zone)
  const [, clock, written] = ISO.exec(text) ?? []
  const local = readDate(clock)
  if (local === null) return null
  if (written === undefined) return momentIn(local, zone)
  const offset = offsetOf(written)
  if (offset === null) return null
  const at = local - offset * MINUTE_MS
  return { at, zone: /[+-]/.test(written) ? offset : offsetAt(zone, at) }
}

/** Seconds when it would otherwise be a moment before March 1973. */
function momentOfNumber(value: number, zone: Zone | null): Moment | null {
  const at = Math.round(Math.abs(value) < 1e11 ? value * 1000 : value)
  return Math.abs(at) <= LAST ? { at, zone: offsetAt(zone, at) } : null
}

/**
 * The moment at which clocks of that zone show `local` (written as if it were UTC); without a zone, that moment in UTC. Of an
 * hour that comes twice the first; within an hour that is left out, what the clocks would show had they not been changed.
 */
export function momentIn(local: Instant, zone: Zone | null): Moment {
  if (zone === null) return { at: local, zone: null }
  const before = offsetAt(zone, local - DAY_MS) ?? 0
  const after = offsetAt(zone, local + DAY_MS) ?? 0
  const [first, second] = [before, after].map(offset => ({ at: local - offset * MINUTE_MS, zone: offset })) as [
    { at: Instant; zone: number },
    { at: Instant; zone: number },
  ]
  return offsetAt(zone, first.at) !== before && offsetAt(zone, second.at) === after ? second : first
}

/** `+02:00`, `-0530`, `Z`, `UTC` in minutes; null when it is none of these. */
export function offsetOf(text: string): number | null {
  if (/^(Z|UTC|GMT)$/i.test(text)) return 0
  const [, sign, hours, minutes = 0] = /^(?:UTC|GMT)?([+-])(\d\d):?(\d\d)?$/i.exec(text) ?? []
  if (sign === undefined) return null
  const offset = Number(hours) * 60 + Number(minutes)
  return offset > MAX_OFFSET ? null : sign === '-' ? 0 - offset : offset
}

/** Throws `invalid_argument`. */
export function zoneOf(text: string): Zone {
  const offset = offsetOf(text)
  if (offset !== null) return offset
  if (formatOf(text) !== null) return text
  throw invalidArgument('zone', text, 'an offset such as +02:00, or a name such as Europe/Madrid')
}

/** Minutes ahead of UTC at that moment; null for no zone, and for a name that is not known here. */
export function offsetAt(zone: Zone | null, at: Instant): number | null {
  if (typeof zone !== 'string') return zone
  const shown = formatOf(zone)
    ?.formatToParts(at)
    .find(({ type }) => type === 'timeZoneName')?.value
  if (shown === undefined) return null
  const [, sign, hours = 0, minutes = 0, seconds = 0] = /([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(shown) ?? []
  const offset = Math.round(Number(hours) * 60 + Number(minutes) + Number(seconds) / 60)
  return sign === '-' ? 0 - offset : offset
}

/** Names come from exports too: no more are kept than there are zones. */
const FORMATS = new Recent<string, Intl.DateTimeFormat | null>(1_000)

function formatOf(timeZone: string): Intl.DateTimeFormat | null {
  return FORMATS.get(timeZone, () => {
    try {
      return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
    } catch {
      return null
    }
  })
}

/** How far a clock is ahead of UTC: as an export writes it, as a person says it, and by the name of a zone. */
import type { Instant } from '../../../base/clock.ts'
import { invalidArgument } from '../../../model/errors.ts'

const MINUTE_MS = 60_000
/** What ISO 8601 allows. */
const MAX_OFFSET = 24 * 60 - 1

/** Minutes ahead of UTC, at any time; or a name such as `Europe/Madrid`, which knows its summers. */
export type Zone = number | string

/** `+02:00`, `-0530`, `Z`, `UTC` in minutes; null when it is none of these. */
export function offsetOf(text: string): number | null {
  if (/^(Z|UTC|GMT)$/i.test(text)) return 0
  const match = /^(?:UTC|GMT)?([+-])(\d\d):?(\d\d)?$/i.exec(text)
  if (match === null) return null
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0)
  return minutes > MAX_OFFSET ? null : match[1] === '-' ? 0 - minutes : minutes
}

/** Throws `invalid_argument`. */
export function zoneOf(text: string): Zone {
  const offset = offsetOf(text)
  if (offset !== null) return offset
  if (formatOf(text) !== null) return text
  throw invalidArgument('zone', text, 'an offset such as +02:00, or a name such as Europe/Madrid')
}

/** Minutes ahead of UTC at that moment; null for a name that is not known here. */
export function offsetAt(zone: Zone, at: Instant): number | null {
  if (typeof zone === 'number') return zone
  const format = formatOf(zone)
  if (format === null) return null
  const part: Record<string, number> = {}
  for (const { type, value } of format.formatToParts(at)) part[type] = Number(value)
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part
  const shown = Date.UTC(year, month - 1, day, hour, minute, second)
  return Math.round((shown - at) / MINUTE_MS)
}

/**
 * The moment at which clocks of that zone show `local` (written as if it were UTC). Of an hour that comes twice the first;
 * within an hour that is left out, what the clocks would show had they not been changed.
 */
export function instantIn(zone: Zone, local: Instant): { readonly at: Instant; readonly zone: number } {
  const before = offsetAt(zone, local - 24 * 60 * MINUTE_MS) ?? 0
  const guess = local - before * MINUTE_MS
  if (offsetAt(zone, guess) === before) return { at: guess, zone: before }
  const after = offsetAt(zone, local + 24 * 60 * MINUTE_MS) ?? 0
  const at = local - after * MINUTE_MS
  return offsetAt(zone, at) === after ? { at, zone: after } : { at: guess, zone: before }
}

const formats = new Map<string, Intl.DateTimeFormat | null>()

function formatOf(zone: string): Intl.DateTimeFormat | null {
  const known = formats.get(zone)
  if (known !== undefined) return known
  const made = makeFormat(zone)
  // Names come from exports too: no more are kept than there are zones.
  if (formats.size < 1_000) formats.set(zone, made)
  return made
}

function makeFormat(zone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return null
  }
}

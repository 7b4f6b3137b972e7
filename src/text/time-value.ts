/** Times as queries write them: dates, instants, ages, words such as `today`. Calendar days are those of UTC. */
import type { Instant } from '../base/clock.ts'

/** A period from `start` (included) to `end` (excluded); for an instant or an age, both are equal. */
export interface TimeSpan {
  readonly start: Instant
  readonly end: Instant
}

const DAY_MS = 24 * 60 * 60 * 1000

/** Lengths of time units in ms; a month counts as 30 days, a year as 365 days. */
const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60 * 1000,
  h: 60 * 60 * 1000,
  d: DAY_MS,
  w: 7 * DAY_MS,
  mo: 30 * DAY_MS,
  y: 365 * DAY_MS,
}

const DATE = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?$/
const INSTANT = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/
const AGE = /^(\d{1,9})(s|m|h|d|w|mo|y)$/

/**
 * Parses a time: a date `2026`, `2026-03` or `2026-03-01`; an instant `2026-03-01T12:00:00Z` (a time zone is required); an age before
 * `now`, such as `90s`, `30m`, `24h`, `7d`, `2w`, `6mo`, `1y`; `now`, `today`, `yesterday`. Null for other texts.
 */
export function parseTimeSpan(text: string, now: Instant): TimeSpan | null {
  const word = text.toLowerCase()
  const today = now - (((now % DAY_MS) + DAY_MS) % DAY_MS)
  if (word === 'now') return point(now)
  if (word === 'today') return { start: today, end: today + DAY_MS }
  if (word === 'yesterday') return { start: today - DAY_MS, end: today }
  return parseAge(word, now) ?? parseDate(text) ?? parseInstant(text)
}

/** Whether the text is an age such as `7d`, which counts back from now; used alone as a value, it means "since then". */
export function isAge(text: string): boolean {
  return AGE.test(text.toLowerCase())
}

function parseAge(text: string, now: Instant): TimeSpan | null {
  const match = AGE.exec(text)
  if (match === null) return null
  return point(now - Number(match[1]) * (UNIT_MS[match[2] as string] as number))
}

function parseDate(text: string): TimeSpan | null {
  const match = DATE.exec(text)
  if (match === null) return null
  const [year, month, day] = match.slice(1).map(part => (part === undefined ? null : Number(part)))
  if (month === undefined || day === undefined || year === undefined || year === null) return null
  const start = utc(year, month ?? 1, day ?? 1)
  if (start === null) return null
  if (month === null) return { start, end: utc(year + 1, 1, 1) ?? Number.MAX_SAFE_INTEGER }
  if (day !== null) return { start, end: start + DAY_MS }
  const next = month === 12 ? utc(year + 1, 1, 1) : utc(year, month + 1, 1)
  return { start, end: next ?? Number.MAX_SAFE_INTEGER }
}

function parseInstant(text: string): TimeSpan | null {
  const match = INSTANT.exec(text)
  if (match === null || parseDate(match[1] as string) === null) return null
  const instant = Date.parse(text)
  return Number.isNaN(instant) ? null : point(instant)
}

/** The first instant of a calendar day in UTC; null when the calendar has no such day, such as 30 February. */
function utc(year: number, month: number, day: number): Instant | null {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : null
}

function point(instant: Instant): TimeSpan {
  return { start: instant, end: instant }
}

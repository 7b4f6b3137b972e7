/** Stretches of time in whole Unix seconds, both ends included; calendar units are UTC, weeks begin on Monday. */

export interface Period {
  readonly start: number
  readonly end: number
}

/** A period that a text names, and where it stands there in UTF-16 units. */
export interface FoundTime {
  readonly period: Period
  readonly index: number
  readonly length: number
}

export type Unit = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year'

export const MINUTE = 60
export const HOUR = 3_600
export const DAY = 86_400

/** Rolling months and years are as long as here, whatever the calendar says (CQ-085). */
export const SECONDS: Readonly<Record<Unit, number>> = {
  minute: MINUTE,
  hour: HOUR,
  day: DAY,
  week: 7 * DAY,
  month: 30 * DAY,
  year: 365 * DAY,
}

/** The last `count` units up to now; not before 1970. */
export function rolling(count: number, unit: Unit, now: number): Period {
  return { start: Math.min(now, Math.max(0, now - count * SECONDS[unit])), end: now }
}

/** The calendar unit that holds a moment, or one `offset` units later. */
export function calendar(unit: Unit, at: number, offset = 0): Period {
  const start = startOf(unit, at, offset)
  return { start, end: startOf(unit, at, offset + 1) - 1 }
}

function startOf(unit: Unit, at: number, offset: number): number {
  const date = new Date(at * 1_000)
  if (unit === 'year') return utc(date.getUTCFullYear() + offset, 0)
  if (unit === 'month') return utc(date.getUTCFullYear(), date.getUTCMonth() + offset)
  const length = SECONDS[unit]
  // 1970-01-01 was a Thursday: three days into its week.
  const shift = unit === 'week' ? 3 * DAY : 0
  return Math.floor((at + shift) / length) * length - shift + offset * length
}

/** Midnight of a day; months and days may run over. `Date.UTC` would take the year 24 for 1924. */
export function utc(year: number, month: number, day = 1): number {
  return new Date(0).setUTCFullYear(year, month, day) / 1_000
}

/** The period that `2024`, `2024-05` or `2024-05-17` names; null for a day or month that does not exist. */
export function dated(text: string): Period | null {
  const match = /^(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?$/.exec(text)
  if (match === null) return null
  const [, year = '', month, day] = match
  const start = utc(Number(year), Number(month ?? 1) - 1, Number(day ?? 1))
  const unit = day !== undefined ? 'day' : month !== undefined ? 'month' : 'year'
  const exists = new Date(start * 1_000).toISOString().startsWith(text)
  return exists ? calendar(unit, start) : null
}

/** How a question stands to a period: inside it, or on one side of it. */
export type Relation = 'within' | 'since' | 'after' | 'before' | 'until'

/** CQ-087. A range that would begin in the future ends where it begins, so that it is one at all. */
export function related(relation: Relation, { start, end }: Period, now: number): Period {
  const range = {
    within: { start, end },
    since: { start, end: now },
    after: { start: end + 1, end: now },
    before: { start: Math.min(0, start - 1), end: start - 1 },
    until: { start: Math.min(0, end), end },
  }[relation]
  return range.start > now || range.end < range.start ? { start: range.start, end: range.start } : range
}

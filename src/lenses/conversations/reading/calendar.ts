/** Days, weeks, months and years, counted on the calendar of whoever wrote. */
import type { Instant } from '../../../base/clock.ts'

export const DAY_MS: number = 24 * 60 * 60 * 1000

/** A day of the calendar, as its midnight in UTC whatever zone it is a day of. */
export type Day = Instant

/** The day on the clock of someone `zone` minutes ahead of UTC; null: in UTC. */
export function dayOf(at: Instant, zone: number | null): Day {
  return Math.floor((at + (zone ?? 0) * 60_000) / DAY_MS) * DAY_MS
}

/** 0 is Sunday. */
export function weekdayOf(day: Day): number {
  return new Date(day).getUTCDay()
}

/** The last such weekday before the day, never the day itself. */
export function weekdayBefore(day: Day, weekday: number): Day {
  return day - (((weekdayOf(day) - weekday + 6) % 7) + 1) * DAY_MS
}

/** The first such weekday after the day, never the day itself. */
export function weekdayAfter(day: Day, weekday: number): Day {
  return day + (((weekday - weekdayOf(day) + 6) % 7) + 1) * DAY_MS
}

/** The first day of the month that many months later. */
export function monthLater(day: Day, months: number): Day {
  const date = new Date(day)
  return firstOf(date.getUTCFullYear(), date.getUTCMonth() + months)
}

/** The first day of the year that many years later. */
export function yearLater(day: Day, years: number): Day {
  return firstOf(new Date(day).getUTCFullYear() + years, 0)
}

/** The first day of a month (0 is January) of the day's year. */
export function monthOfYear(day: Day, month: number): Day {
  return firstOf(new Date(day).getUTCFullYear(), month)
}

function firstOf(year: number, month: number): Day {
  const date = new Date(0)
  date.setUTCFullYear(year, month, 1)
  return date.getTime()
}

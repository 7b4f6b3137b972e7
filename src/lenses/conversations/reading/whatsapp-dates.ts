/** Dates as WhatsApp writes them: in the order of the telephone's region, which the file does not name. */
import type { Instant } from '../../../base/clock.ts'
import { localTime } from './instants.ts'

/** Which comes first, day or month. Years are last, or first with four digits, and then the month follows. */
export type DateOrder = 'day-first' | 'month-first'

/** The parts of a date and a time, as they stand in the line. */
export interface WrittenTime {
  readonly parts: readonly [number, number, number]
  readonly isYearFirst: boolean
  readonly hour: number
  readonly minute: number
  readonly second: number
  /** Of a clock of twelve hours, which begins at 12, or at 0 as in Japan. */
  readonly half: 'am' | 'pm' | null
}

export interface DecidedOrder {
  readonly order: DateOrder
  /** Why it is not certain; null when it is, or when both orders say the same. */
  readonly doubt: string | null
}

/** As if it were UTC; null when there is no such time. */
export function localOf(time: WrittenTime, order: DateOrder): Instant | null {
  const { parts, isYearFirst, minute, second, half } = time
  const [a, b, c] = parts
  const [year, month, day] = isYearFirst ? [a, b, c] : order === 'day-first' ? [c, b, a] : [c, a, b]
  if (half !== null && time.hour > 12) return null
  const hour = half === null ? time.hour : (time.hour % 12) + (half === 'pm' ? 12 : 0)
  return localTime(year < 100 ? 2000 + year : year, month, day, hour, minute, second)
}

/**
 * The order for a whole file: numbers above 12 are days; where there are none, that order in which fewer messages come
 * before the one above them. Where that says nothing either, day first, unless the clock has twelve hours and the numbers
 * no zeros in front, as they are written in the United States.
 */
export function decideOrder(times: readonly WrittenTime[], arePadded: boolean): DecidedOrder {
  const open = times.filter(({ isYearFirst }) => !isYearFirst)
  const dayFirst = open.filter(({ parts }) => parts[0] > 12 && parts[1] <= 12).length
  const monthFirst = open.filter(({ parts }) => parts[1] > 12 && parts[0] <= 12).length
  if (dayFirst > 0 && monthFirst > 0) {
    const order = dayFirst >= monthFirst ? 'day-first' : 'month-first'
    return { order, doubt: `some of its dates are written day first, others month first; ${order} was taken` }
  }
  if (dayFirst > 0) return { order: 'day-first', doubt: null }
  if (monthFirst > 0) return { order: 'month-first', doubt: null }
  if (open.every(({ parts }) => parts[0] === parts[1])) return { order: 'day-first', doubt: null }
  const [stepsBack, otherStepsBack] = [backwards(open, 'day-first'), backwards(open, 'month-first')]
  if (stepsBack < otherStepsBack) return { order: 'day-first', doubt: null }
  if (otherStepsBack < stepsBack) return { order: 'month-first', doubt: null }
  const order = !arePadded && open.every(({ half }) => half !== null) ? 'month-first' : 'day-first'
  return { order, doubt: `its dates can be read day first or month first; ${order} was taken` }
}

function backwards(times: readonly WrittenTime[], order: DateOrder): number {
  let count = 0
  let last = Number.NEGATIVE_INFINITY
  for (const time of times) {
    const at = localOf(time, order)
    if (at === null) continue
    if (at < last) count++
    last = at
  }
  return count
}

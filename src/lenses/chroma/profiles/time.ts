/** Finds the time that a question speaks of. The exact words come first; a library knows what else people write. */

import { casual as english } from 'chrono-node/en'
import { casual as spanish } from 'chrono-node/es'
import { languagesOfQuestion } from '../../../text/language.ts'
import {
  BEGIN,
  calendar,
  DAY,
  exactTime,
  type FoundTime,
  type Period,
  RELATION,
  related,
  relationOf,
  type Unit,
  utc,
} from './exact-time.ts'

/**
 * The leftmost of the exact words (CQ-088), unless they are only part of what was written: `the day before yesterday`,
 * `from 2024-01-05 to 2024-02-03`.
 */
export function findTime(text: string, now: number): FoundTime | null {
  const exact = exactTime(text, now)
  const others = libraryTimes(text, now)
  if (exact === null) return others[0] ?? null
  const end = exact.index + exact.length
  const whole = others.find(
    other =>
      other.index + other.length >= end &&
      (other.index < exact.index || (other.isRange && other.index <= exact.index && other.length > exact.length)),
  )
  return whole ?? exact
}

// What else people write about time (`since last Tuesday`, `from 3 to 5 March 2024`, `el 5 de mayo de 2023`), read by
// chrono-node. It finds dates in much that is none (`sat`, `may`, `at 5`), so only some of what it finds counts.

type Result = ReturnType<typeof english.parse>[number]
type Components = Result['start']

export interface LibraryTime extends FoundTime {
  /** It has two ends of its own: `from 3 to 5 March 2024`. */
  readonly isRange: boolean
}

/** Longer questions are read to here, in UTF-16 units: the library's time grows with the text. */
const MAX_LENGTH = 2_000

const BEFORE = new RegExp(
  `${BEGIN}(?:(?<relation>${RELATION.replaceAll(' ', '\\s+')})\\s+)?(?:(?<article>the|el|la)\\s+)?$`,
  'iu',
)
const MODIFIED = /^(?:last|past|previous|this|the|on|in)\s/i
const ROLLING = /^(?:the\s+)?(?:last|past|previous)\s/i
const SPANISH_PAST = /^\s+pasad[oa](?!\p{L})/iu

/** Everything found that counts, in order of place; of those that begin at one place the longest first. */
export function libraryTimes(text: string, now: number): readonly LibraryTime[] {
  const head = text.slice(0, MAX_LENGTH)
  const { narrow, placeOf } = narrowed(head)
  // The library must not ask the machine what zone it stands in: zone 0, and components instead of dates.
  const reference = { instant: new Date(now * 1_000), timezone: 0 }
  const found = inOrder(narrow).flatMap(library =>
    library.parse(narrow, reference).flatMap(result => understood(result, narrow, now) ?? []),
  )
  return found
    .map(({ index, length, ...time }) => {
      const start = placeOf(index)
      return { ...time, index: start, length: placeOf(index + length) - start }
    })
    .sort((a, b) => a.index - b.index || b.length - a.length)
}

/**
 * With one blank for every run of white space: behind a number the library takes a time that grows with the cube of the run
 * (500 blanks: six seconds). `placeOf` gives the place in the text of a place in it; of a run's blank, where the run begins.
 */
function narrowed(text: string): { readonly narrow: string; placeOf(at: number): number } {
  const runs = [...text.matchAll(/\s{2,}/g)].map(({ index, 0: run }) => ({
    end: index + run.length,
    more: run.length - 1,
  }))
  const placeOf = (at: number): number => {
    let place = at
    for (const { end, more } of runs) {
      if (place + more < end) break
      place += more
    }
    return place
  }
  return { narrow: text.replace(/\s+/g, ' '), placeOf }
}

/** 10/12/2024 is October in one language and December in the other: the question's own goes first. */
function inOrder(text: string): readonly (typeof english | typeof spanish)[] {
  const [best] = languagesOfQuestion(text.match(/[\p{L}\p{M}]+/gu) ?? [])
  return best === 'es' ? [spanish, english] : [english, spanish]
}

function understood(result: Result, text: string, now: number): LibraryTime | null {
  const before = BEFORE.exec(text.slice(0, result.index))
  const { relation, article } = before?.groups ?? {}
  const isIntroduced = relation !== undefined || article !== undefined || MODIFIED.test(result.text)
  if (!isTime(result, isIntroduced)) return null
  const end = result.index + result.text.length
  const past = SPANISH_PAST.exec(text.slice(end))?.[0] ?? ''
  const period = periodOf(result, now, past !== '')
  if (period === null) return null
  const index = before?.index ?? result.index
  const isRange = result.end !== null && result.end !== undefined
  const length = end + past.length - index
  return { period: related(relationOf(relation), period, now), index, length, isRange }
}

/** A whole date speaks for itself; a weekday, a month, a date in figures with points need a word beside them. */
function isTime({ start, text }: Result, isIntroduced: boolean): boolean {
  if (start.isCertain('second')) return false
  if (isRelative(start)) return true
  if (start.isCertain('year')) {
    // The Spanish reader takes `mar 5` for March 2005.
    const hasYear = /\d{4}|\d[/-]\d+[/-]\d/.test(text)
    return hasYear && (isIntroduced || !/^[\d.]+$/.test(text))
  }
  if (!isIntroduced) return false
  if (start.isCertain('month')) return /\p{L}{4}|\bmay\b/iu.test(text)
  // `sat` and `sun` are other things too.
  return start.isCertain('weekday') && /\p{L}{5}/u.test(text)
}

function isRelative(parts: Components): boolean {
  const tags = parts.tags()
  return ['result/relativeDate', 'casualReference/tonight'].some(tag => tags.has(tag))
}

/** Null for `within 3 days` and the like: the store holds what has been, dates ahead must be named. */
function periodOf({ start, end, text }: Result, now: number, isPast: boolean): Period | null {
  const first = unitPeriod(start, now, isPast)
  if (!isRelative(start)) return { start: first.start, end: Math.max(first.end, end ? unitPeriod(end, now).end : 0) }
  if (first.start > now) return null
  return ROLLING.test(text) ? { start: first.start, end: now } : first
}

/** The smallest unit that was named; without a year, the last one that has begun. */
function unitPeriod(parts: Components, now: number, isPast = false): Period {
  const part = (name: 'year' | 'month' | 'day'): number => parts.get(name) ?? 1
  const at = (year: number): number => utc(year, part('month') - 1, part('day'))
  const start = at(part('year'))
  if (parts.isCertain('year')) return calendar(namedUnit(parts), start)
  if (parts.isCertain('weekday') && !parts.isCertain('day')) {
    return calendar('day', start > now || (isPast && start + DAY > now) ? start - 7 * DAY : start)
  }
  return calendar(namedUnit(parts), start > now ? at(part('year') - 1) : start)
}

function namedUnit(parts: Components): Unit {
  if (parts.isCertain('day') || parts.isCertain('weekday')) return 'day'
  return parts.isCertain('month') ? 'month' : 'year'
}

/** The third field of a knowledge-patch question: from when on entries count (CQ-110). */
import { calendar, dated, SECONDS } from './time/period.ts'
import { unitOf } from './time/words.ts'

type Fault = (field: string, expected: string, value: string) => Error

const EXPECTED =
  'a past time: YYYY, YYYY-MM, YYYY-MM-DD, an ISO date-time, "N days ago", now, today, yesterday or Unix seconds'

const DATE_TIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)\s*(Z|[+-](?:0\d|1[0-4]):?[0-5]\d)?$/i
const AGO = /^(\d{1,9})\s+(hours?|days?|weeks?|months?|years?)\s+ago$/i

/** Unix seconds. Throws what `fault` makes for anything unreadable, impossible or in the future. */
export function cutoffOf(text: string, now: number, fault: Fault): number {
  const cutoff = text === '' ? now - SECONDS.year : read(text, now)
  if (cutoff === null || !Number.isSafeInteger(cutoff) || cutoff > now) throw fault('cutoff', EXPECTED, text)
  return cutoff
}

function read(text: string, now: number): number | null {
  const word = text.toLowerCase()
  if (word === 'now') return now
  if (word === 'today') return calendar('day', now).start
  if (word === 'yesterday') return calendar('day', now, -1).start
  if (/^\d{9,11}$/.test(text)) return Number(text)
  const [, count, unit] = AGO.exec(text) ?? []
  if (count !== undefined && unit !== undefined) return now - Number(count) * SECONDS[unitOf(unit)]
  return dated(text)?.start ?? dateTime(text)
}

function dateTime(text: string): number | null {
  const [, day = '', time = '', zone = 'Z'] = DATE_TIME.exec(text) ?? []
  // `Date.parse` takes 30 February for 1 March.
  if (dated(day) === null) return null
  const at = Date.parse(`${day}T${time}${zone.toUpperCase()}`)
  return Number.isNaN(at) ? null : Math.floor(at / 1_000)
}

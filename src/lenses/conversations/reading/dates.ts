/** Parses times as exports write them, and time zones; computes calendar days; and resolves relative dates such as "last weekend". */
import type { Instant } from '../../../base/clock.ts'
import { Recent } from '../../../base/recent.ts'
import { invalidArgument } from '../../../model/errors.ts'
import { readDate } from '../../../model/instant.ts'
import type { Conversation, Message } from '../model.ts'

const MINUTE_MS = 60_000
export const DAY_MS: number = 24 * 60 * MINUTE_MS
/** Largest time zone offset that ISO 8601 allows, in minutes. */
const MAX_OFFSET = 24 * 60 - 1

/** A time zone: a fixed offset from UTC in minutes, or a name such as `Europe/Madrid`, which includes daylight saving time. */
export type Zone = number | string

export interface Moment {
  readonly at: Instant
  /** Offset of the local clock from UTC in minutes; null where neither the export nor the caller gives a time zone. */
  readonly zone: number | null
}

/** A calendar day, represented by its midnight in UTC, whatever time zone the day belongs to. */
export type Day = Instant

/** The calendar day at a moment on a clock that is `zone` minutes ahead of UTC; with `zone` null, on a clock in UTC. */
export function dayOf(at: Instant, zone: number | null): Day {
  return Math.floor((at + (zone ?? 0) * MINUTE_MS) / DAY_MS) * DAY_MS
}

const ENGLISH_MONTHS: readonly string[] = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
]

/** Writes a month as text: `March 2025`. */
function monthText(day: Day): string {
  const date = new Date(day)
  return `${ENGLISH_MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`
}

/** Writes a day as text: `13 March 2025`. */
export function dayText(day: Day): string {
  return `${new Date(day).getUTCDate()} ${monthText(day)}`
}

/** End of the year 9999 in milliseconds since 1970; a larger number must be in a unit smaller than milliseconds. */
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
const ISO = /^(\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)?)\s*(Z|UTC|GMT|[+-]\d\d:?(?:\d\d)?)?$/i

/**
 * Parses a time from an export: ISO 8601 (a date alone means midnight), or seconds or milliseconds since 1970, as a number or text. A time
 * without a zone is taken in `zone`, or else in UTC; `Z` gives the moment, not the local time of the writer (RFC 9557, 2.2). Null for any
 * other value.
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

/** Numbers below this are seconds since 1970; as milliseconds they would be before March 1973. */
function momentOfNumber(value: number, zone: Zone | null): Moment | null {
  const at = Math.round(Math.abs(value) < 1e11 ? value * 1000 : value)
  return Math.abs(at) <= LAST ? { at, zone: offsetAt(zone, at) } : null
}

/**
 * The moment at which clocks of the zone show the time `local` (given as if it were UTC); without a zone, that moment in UTC. Of an hour
 * that occurs twice, the first is taken; a time in a skipped hour is computed as if the clocks had not been changed.
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

/** Offset in minutes from a text such as `+02:00`, `-0530`, `Z` or `UTC`; null for other texts. */
export function offsetOf(text: string): number | null {
  if (/^(Z|UTC|GMT)$/i.test(text)) return 0
  const [, sign, hours, minutes = 0] = /^(?:UTC|GMT)?([+-])(\d\d):?(\d\d)?$/i.exec(text) ?? []
  if (sign === undefined) return null
  const offset = Number(hours) * 60 + Number(minutes)
  return offset > MAX_OFFSET ? null : sign === '-' ? 0 - offset : offset
}

/** Parses a time zone: an offset such as `+02:00`, or a name such as `Europe/Madrid`. Throws `invalid_argument`. */
export function zoneOf(text: string): Zone {
  const offset = offsetOf(text)
  if (offset !== null) return offset
  if (formatOf(text) !== null) return text
  throw invalidArgument('zone', text, 'an offset such as +02:00, or a name such as Europe/Madrid')
}

/** Offset of a time zone from UTC at a moment, in minutes; null where no zone is given or its name is unknown. */
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

/** Cached date formatters by the name of the time zone. Their number is limited, since exports may contain any number of invalid names. */
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

// Relative dates in messages, in English and Spanish. Phrases such as "last weekend" are resolved to dates, so that a message is found by
// its date, and readable without its neighbours. Only the message's own text is used, and dates that include their year are left alone.
// chrono-node does not suffice: of the test's 70 expressions it resolves 44 correctly (few of the Spanish ones), it finds 20 dates in 30
// expressions that contain none, and it does not support weeks or weekends.

type Language = 'en' | 'es'
type Words = Readonly<Record<Language, readonly string[]>>

/**
 * Kind of period that a relative date denotes. `day` of the result is any day of a `week`, the first day (Saturday) of a `weekend`, and the
 * first day of a `month` or `year`.
 */
type Kind = 'day' | 'week' | 'weekend' | 'month' | 'year'
type Meaning = { readonly kind: Kind; readonly day: Day }
type Groups = Readonly<Record<string, string | undefined>>

interface Rule {
  readonly pattern: RegExp
  /**
   * Date that the matched words mean. `day`: the day on which they were written; `text` and `at`: the whole message and the offset of the
   * words. Null: the words are no date after all.
   */
  meaning(words: Groups, day: Day, text: string, at: number): Meaning | null
}

const MONTHS: Words = {
  en: ENGLISH_MONTHS,
  es: 'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre'.split(' '),
}
/** Names of weekdays in English and Spanish, from Sunday. */
const WEEKDAYS: Words = {
  en: 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' '),
  es: 'domingo lunes martes miércoles jueves viernes sábado'.split(' '),
}

/**
 * The relative dates in a text, resolved to dates such as `13 March 2025`, `week of 7 March 2025`, `weekend of 8 March 2025`, `February
 * 2025` or `2024`; in the order of the text, without duplicates. `day`: the day on which the text was written, on the writer's clock.
 */
export function relativeDates(written: string, day: Day): readonly string[] {
  const text = written.normalize('NFC')
  const found: { readonly date: string; readonly start: number }[] = []
  const covered = new Uint8Array(text.length)
  for (const { pattern, meaning } of RULES) {
    for (const match of text.matchAll(pattern)) {
      const start = match.index
      const end = start + match[0].length
      // Text already matched by a rule is skipped. Rules for longer expressions come first, so that "the day before yesterday" is not read
      // as "yesterday".
      if (covered.subarray(start, end).includes(1)) continue
      const meant = meaning(match.groups ?? {}, day, text, start)
      if (meant === null) continue
      covered.fill(1, start, end)
      found.push({ date: textOf(meant), start })
    }
  }
  return [...new Set(found.sort((a, b) => a.start - b.start).map(({ date }) => date))]
}

function textOf({ kind, day }: Meaning): string {
  if (kind === 'year') return String(new Date(day).getUTCFullYear())
  if (kind === 'month') return monthText(day)
  return `${kind === 'day' ? '' : `${kind} of `}${dayText(day)}`
}

/**
 * The resolved relative dates of each message of a conversation. They are relative to the day of the message on the writer's clock; for a
 * message without a time, to the day of the first message of its session that has a time. A message has no dates where no message of its
 * session has a time.
 */
export function resolvedDates({ messages }: Pick<Conversation, 'messages'>): readonly (readonly string[])[] {
  const sessions = new Map<string, Day>()
  for (const { session, at, zone } of messages) {
    if (at !== null && !sessions.has(session)) sessions.set(session, dayOf(at, zone))
  }
  return messages.map(({ text, session, at, zone }: Message) => {
    const day = at === null ? sessions.get(session) : dayOf(at, zone)
    return day === undefined ? [] : relativeDates(text, day)
  })
}

/** Makes a pattern that matches whole words, with any white space between them; `\b` would work for English letters only. */
function words(pattern: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}_])(?:${pattern.replaceAll(' ', '\\s+')})(?![\\p{L}\\p{N}_])`, 'giu')
}

const SATURDAY = 6

/**
 * The period `count` days, weeks, months or years after the day (before it where `count` is negative); for a weekend, always the last one
 * before the day.
 */
function later(kind: Kind, day: Day, count: number): Meaning {
  const date = new Date(day)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  if (kind === 'month') return { kind, day: firstDay(year, month + count) }
  if (kind === 'year') return { kind, day: firstDay(year + count, 0) }
  if (kind === 'weekend') return { kind, day: weekdayBefore(day, SATURDAY) }
  return { kind, day: day + count * (kind === 'week' ? 7 : 1) * DAY_MS }
}

/** The first day of a month. `Date.UTC` is not used, because it reads the years 0 to 99 as 1900 to 1999. */
function firstDay(year: number, month: number): Day {
  return new Date(0).setUTCFullYear(year, month, 1)
}

/** The last day before the given one that is this weekday (0: Sunday); never the given day itself. */
function weekdayBefore(day: Day, weekday: number): Day {
  return day - (((new Date(day).getUTCDay() - weekday + 6) % 7) + 1) * DAY_MS
}

/** The first day after the given one that is this weekday (0: Sunday); never the given day itself. */
function weekdayAfter(day: Day, weekday: number): Day {
  return weekdayBefore(day + 8 * DAY_MS, weekday)
}

function span(pattern: string, kind: Kind, count: number): Rule {
  return { pattern: words(pattern), meaning: (_, day) => later(kind, day, count) }
}

/** Words for small numbers in English and Spanish; the first list is for 1. */
const COUNTS = [
  ...['a an one un una uno', 'two couple dos par', 'three few tres unos unas pocos pocas', 'four cuatro', 'five cinco'],
  ...['six seis', 'seven siete', 'eight ocho', 'nine nueve', 'ten diez'],
].map(names => names.split(' '))
const UNITS: Readonly<Record<string, Kind>> = {
  ...{ day: 'day', week: 'week', month: 'month', year: 'year' },
  ...{ día: 'day', dia: 'day', semana: 'week', mes: 'month', año: 'year' },
}

function ago(pattern: string): Rule {
  return {
    pattern: words(pattern),
    meaning: ({ count = '', unit = '' }, day) => {
      const number = Number(count) || COUNTS.findIndex(names => names.includes(count.toLowerCase())) + 1
      const kind = UNITS[unit.toLowerCase()] as Kind
      const meant = later(kind, day, -number)
      return new Date(meant.day).getUTCFullYear() < 1 ? null : meant
    },
  }
}

/**
 * How an expression with a weekday is resolved, counted from the day on which it was written. `before` and `after`: the last or next such
 * day. `near`: the next such day, or the day of writing itself. `open`: `after` where the sentence has a verb in the future tense, else
 * `before`.
 */
type Direction = 'before' | 'after' | 'near' | 'open'

function weekday(language: Language, pattern: string, direction: Direction): Rule {
  return {
    pattern: words(pattern.replace('WEEKDAY', `(?<weekday>${withPlainVowels(WEEKDAYS[language])})`)),
    meaning: ({ weekday = '' }, day, text, at) => {
      const number = placeIn(WEEKDAYS[language], weekday)
      const isAfter = direction === 'after' || (direction === 'open' && isOfTheFuture(text, at))
      if (direction === 'near') return { kind: 'day', day: weekdayAfter(day - DAY_MS, number) }
      return { kind: 'day', day: isAfter ? weekdayAfter(day, number) : weekdayBefore(day, number) }
    },
  }
}

/** Rule for an expression with the name of a month. `years`: the number of years from the writing year to the year of the month. */
function inMonth(language: Language, pattern: string, years = 0): Rule {
  return {
    pattern: words(
      pattern.replace('MONTH', `(?<month>${MONTHS[language].join('|').replace('septiembre', 'sep?tiembre')})`),
    ),
    meaning: ({ month = '' }, day) => {
      const number = placeIn(MONTHS[language], month.replace(/^setiembre$/i, 'septiembre'))
      return { kind: 'month', day: firstDay(new Date(day).getUTCFullYear() + years, number) }
    },
  }
}

function withPlainVowels(names: readonly string[]): string {
  return names.join('|').replace('é', '[ée]').replace('á', '[áa]')
}

const SAME_LETTERS = new Intl.Collator('en', { sensitivity: 'base' })

/** Index in the list of the entry that equals the word, ignoring letter case and accents. */
function placeIn(list: readonly string[], word: string): number {
  return list.findIndex(one => SAME_LETTERS.compare(one, word) === 0)
}

const FUTURE = words(
  `will|won['’]t|shall|going to|gonna|let['’]s|see you|plan(?:s|ning)? to|(?:we|i|you|he|she|they|it)['’]ll|` +
    'voy a|vas a|va a|vamos a|vais a|van a|nos vemos|quedamos|[a-zñ]+(?:ré|rás|rá|remos|réis|rán)',
)

/** Number of characters before and after a weekday's name in which a verb in the future tense is searched, within the sentence. */
const NEAR = 300

function isOfTheFuture(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - NEAR), at).split(/[.!?\n]/)
  const after = text.slice(at, at + NEAR).split(/[.!?\n]/)
  return `${before.at(-1)}${after[0]}`.search(FUTURE) >= 0
}

const COUNT = String.raw`\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten`
const CUENTA = String.raw`\d{1,4}|una?|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez`
/** Words that, before "mañana", make it mean "morning" instead of "tomorrow". */
const MORNING = 'la|las|una|cada|toda|media|buena|esa|aquella|otra|misma|ninguna|alguna|primera'
/** Pattern after the name of a month or weekday that refuses a match when a day or year number follows: a full date is not relative. */
const NO_NUMBER = String.raw`(?!,?\s+(?:the\s+|of\s+|de\s+|del\s+)?\d)`
/**
 * Words before a number that make it part of a larger quantity, so that the expression is not resolved: "half a year ago", "twenty-two days
 * ago", "a year and two months ago".
 */
const PART = String.raw`(?<!\d[.,]|(?:half|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)[\s-]{1,3}|(?:days?|weeks?|months?|years?|hundred|thousand)\s{1,3}and\s{1,3})`
/**
 * Words after a unit of time that make its number part of a larger quantity, so that the expression is not resolved: "hace un año y medio".
 */
const PARTE = String.raw`(?!\s+y\s+(?:medi[oa]|(?:${CUENTA})\s+(?:d[íi]as?|semanas?|mes(?:es)?|años?))(?!\p{L}))`
const UNIT = '(?<unit>day|week|month|year)s?'
const UNIDAD = String.raw`(?<unit>d[íi]a|semana|mes|año)(?:s|es)?(?!\p{L})${PARTE}`

/**
 * Rules that recognise relative dates. Rules for longer expressions come first, because text matched by one rule is skipped by later ones.
 */
const RULES: readonly Rule[] = [
  inMonth('en', 'in MONTH,? (?:of )?last year', -1),
  inMonth('en', 'in MONTH,? (?:of )?this year'),
  inMonth('en', 'in MONTH,? (?:of )?next year', 1),
  inMonth('es', 'en MONTH,? del (?:año pasado|pasado año)', -1),
  inMonth('es', 'en MONTH,? de este año'),
  inMonth('es', 'en MONTH,? del (?:año que viene|pr[óo]ximo año|año pr[óo]ximo)', 1),
  span('(?:the )?day before yesterday|anteayer|antes de ayer|antier', 'day', -2),
  span('(?:the )?day after tomorrow|pasado mañana', 'day', 2),
  span('yesterday|last night|anoche|ayer', 'day', -1),
  span('today|tonight|this morning|esta noche|esta mañana', 'day', 0),
  span(String.raw`hoy(?<!hoy\s{1,3}por\s{1,3}hoy)(?! en d[íi]a| por hoy)`, 'day', 0),
  span(String.raw`tomorrow|(?<!(?<![\p{L}])(?:${MORNING})\s+)mañana`, 'day', 1),
  span('last weekend|(?:el )?(?:fin de semana|finde) pasado|(?:el )?pasado (?:fin de semana|finde)', 'weekend', -1),
  span('last week|(?:la )?semana pasada|(?:la )?pasada semana', 'week', -1),
  span('next week|(?:la )?semana que viene|(?:la )?pr[óo]xima semana|(?:la )?semana pr[óo]xima', 'week', 1),
  span('last month|(?:el )?mes pasado|(?:el )?pasado mes', 'month', -1),
  span('this month|este mes', 'month', 0),
  span('next month|(?:el )?mes que viene|(?:el )?pr[óo]ximo mes', 'month', 1),
  span('last year|(?:el )?año pasado|(?:el )?pasado año', 'year', -1),
  span('this year|este año', 'year', 0),
  span('next year|(?:el )?año que viene|(?:el )?pr[óo]ximo año', 'year', 1),
  ago(String.raw`(?:an?\s+)?(?<count>couple|few)(?:\s+of)?\s+${UNIT}\s+ago`),
  ago(String.raw`${PART}(?<count>${COUNT})\s+${UNIT}\s+ago`),
  ago(String.raw`hace\s+(?:un\s+)?(?<count>par)\s+de\s+${UNIDAD}`),
  ago(String.raw`hace\s+(?:unos\s+|unas\s+)?(?<count>pocos|pocas)\s+${UNIDAD}`),
  ago(String.raw`hace\s+(?<count>${CUENTA}|unos|unas)\s+${UNIDAD}`),
  weekday('en', 'last WEEKDAY', 'before'),
  weekday('en', 'next WEEKDAY', 'after'),
  weekday('en', 'this WEEKDAY', 'near'),
  weekday('en', `on WEEKDAY${NO_NUMBER}`, 'open'),
  weekday('es', String.raw`(?:el\s+)?WEEKDAY\s+pasado`, 'before'),
  weekday('es', String.raw`(?:el\s+)?pasado\s+WEEKDAY`, 'before'),
  weekday('es', String.raw`(?:el\s+)?WEEKDAY\s+(?:que\s+viene|pr[óo]ximo)`, 'after'),
  weekday('es', String.raw`(?:el\s+)?pr[óo]ximo\s+WEEKDAY`, 'after'),
  weekday('es', 'este WEEKDAY', 'near'),
  weekday('es', `el WEEKDAY${NO_NUMBER}`, 'open'),
  inMonth('en', `in MONTH${NO_NUMBER}`),
  inMonth('es', `en MONTH${NO_NUMBER}`),
]

/** Names of months that are not also ordinary words; other names ("may", "march") count as a month only next to a number. */
const CLEAR_MONTHS = [...MONTHS.en, ...MONTHS.es].filter(month => month !== 'March' && month !== 'May')

const TIME = new RegExp(
  [
    String.raw`\b(?:${CLEAR_MONTHS.join('|')})\b`,
    String.raw`\b\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:March|May)\b|\b(?:March|May) \d`,
    String.raw`(?<!\p{L})(?:${WEEKDAYS.en.join('s?|')}s?|${withPlainVowels(WEEKDAYS.es)})(?!\p{L})`,
    String.raw`\b(?:19|20)\d\d\b|\b\d{1,2}[/.]\d{1,2}[/.]\d{2,4}\b`,
    String.raw`\b\d{1,2}(?::\d\d| ?[ap]\.?m\b| o'clock)`,
    String.raw`\b(?:yesterday|today|tonight|tomorrow|(?:last|next|this) (?:night|morning|week|weekend|month|year|spring|summer|autumn|fall|winter))\b`,
    String.raw`\b(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|few|couple of|several) (?:minute|hour|day|night|week|month|year)s?\b`,
    String.raw`(?<!\p{L})(?:ayer|anteayer|anoche|hoy|(?:semana|mes|año) (?:pasad[ao]|que viene)|este (?:mes|año)|a las? (?:\d|una|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce))(?!\p{L})`,
    String.raw`(?<!\p{L})(?:\d+|una?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|unos|unas|varios|varias) (?:minuto|hora|d[íi]a|noche|semana|mes|año)(?:e?s)?(?!\p{L})`,
  ].join('|'),
  'iu',
)

/** Whether a text names a time: a date, a month, a weekday, a year, an hour, or words such as yesterday. */
export function saysTime(text: string): boolean {
  return TIME.test(text)
}

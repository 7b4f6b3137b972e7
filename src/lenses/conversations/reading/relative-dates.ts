/**
 * Words such as "last weekend", resolved to dates: they make a message found by its date, and read where its neighbours
 * are not shown. Only what the message itself says, in English and Spanish; what names its year already is left alone.
 */
import {
  DAY_MS,
  type Day,
  monthLater,
  monthOfYear,
  weekdayAfter,
  weekdayBefore,
  weekdayOf,
  yearLater,
} from './calendar.ts'
import { type DateLanguage, MONTHS, numberOf, placeIn, WEEKDAYS } from './date-words.ts'

/** `week`: the week that the day is in; `weekend`: the one that begins on it; month and year by their first day. */
export type DateKind = 'day' | 'week' | 'weekend' | 'month' | 'year'

export interface RelativeDate {
  readonly kind: DateKind
  readonly day: Day
  /** The words in the text that say it. */
  readonly said: string
  /** `13 March 2025`, `week of 7 March 2025`, `weekend of 8 March 2025`, `February 2025`, `2024`. */
  readonly text: string
}

type Meaning = { readonly kind: DateKind; readonly day: Day }
type Words = Readonly<Record<string, string | undefined>>

interface Rule {
  readonly pattern: RegExp
  /** `text` and `at`: the whole message and where the words begin in it. Null: they mean no date after all. */
  meaning(words: Words, day: Day, text: string, at: number): Meaning | null
}

/** In order of the text, each date once. `day`: when the message was written, on its writer's clock. */
export function relativeDates(written: string, day: Day): readonly RelativeDate[] {
  const text = written.normalize('NFC')
  const found: (RelativeDate & { readonly start: number })[] = []
  const covered = new Uint8Array(text.length)
  for (const { pattern, meaning } of RULES) {
    for (const match of text.matchAll(pattern)) {
      const start = match.index
      const end = start + match[0].length
      // Rules for longer expressions come first: "the day before yesterday" is not "yesterday".
      if (covered.subarray(start, end).includes(1)) continue
      const meant = meaning(match.groups ?? {}, day, text, start)
      if (meant === null) continue
      covered.fill(1, start, end)
      found.push({ ...meant, said: match[0], text: dateText(meant, 'en'), start })
    }
  }
  const ordered = found.sort((a, b) => a.start - b.start).map(({ start, ...date }) => date)
  const seen = new Set<string>()
  return ordered.filter(({ text }) => !seen.has(text) && seen.add(text))
}

export function dateText({ kind, day }: Meaning, language: DateLanguage): string {
  const date = new Date(day)
  const year = date.getUTCFullYear()
  const month = MONTHS[language][date.getUTCMonth()] as string
  const of = language === 'es' ? ' de ' : ' '
  if (kind === 'year') return String(year)
  if (kind === 'month') return `${month}${of}${year}`
  const shown = `${date.getUTCDate()}${of}${month}${of}${year}`
  if (kind === 'day') return shown
  if (language === 'es') return `${kind === 'week' ? 'semana' : 'fin de semana'} del ${shown}`
  return `${kind} of ${shown}`
}

/** Whole words, any blank between them; `\b` knows no letters but those of English. */
function words(pattern: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}_])(?:${pattern.replaceAll(' ', '\\s+')})(?![\\p{L}\\p{N}_])`, 'giu')
}

function onDay(pattern: string, days: number): Rule {
  return { pattern: words(pattern), meaning: (_, day) => ({ kind: 'day', day: day + days * DAY_MS }) }
}

function span(pattern: string, kind: DateKind, count: number): Rule {
  return { pattern: words(pattern), meaning: (_, day) => later(kind, day, count) }
}

/** So many weeks, months or years later. */
function later(kind: DateKind, day: Day, count: number): Meaning {
  if (kind === 'month') return { kind, day: monthLater(day, count) }
  if (kind === 'year') return { kind, day: yearLater(day, count) }
  return { kind, day: day + count * (kind === 'week' ? 7 : 1) * DAY_MS }
}

const UNITS: Readonly<Record<string, DateKind>> = {
  ...{ day: 'day', week: 'week', month: 'month', year: 'year' },
  ...{ día: 'day', dia: 'day', semana: 'week', mes: 'month', año: 'year' },
}

function ago(pattern: string): Rule {
  return {
    pattern: words(pattern),
    meaning: ({ count = '', unit = '' }, day) => {
      const number = numberOf(count)
      const kind = UNITS[unit.toLowerCase()]
      const meant = number === null || kind === undefined ? null : later(kind, day, -number)
      return meant === null || new Date(meant.day).getUTCFullYear() < 1 ? null : meant
    },
  }
}

type Direction = 'before' | 'after' | 'near' | 'open'

function weekday(language: DateLanguage, pattern: string, direction: Direction): Rule {
  const any = language === 'en' ? WEEKDAYS.en.join('|') : 'domingo|lunes|martes|mi[ée]rcoles|jueves|viernes|s[áa]bado'
  return {
    pattern: words(pattern.replace('WEEKDAY', `(?<weekday>${any})`)),
    meaning: ({ weekday = '' }, day, text, at) => {
      const number = placeIn(WEEKDAYS[language], weekday)
      const isAfter = direction === 'after' || (direction === 'open' && isOfTheFuture(text, at))
      if (direction === 'near' && weekdayOf(day) === number) return { kind: 'day', day }
      const meant = isAfter || direction === 'near' ? weekdayAfter(day, number) : weekdayBefore(day, number)
      return { kind: 'day', day: meant }
    },
  }
}

const FUTURE = words(
  `will|won['’]t|shall|going to|gonna|let['’]s|see you|plan(?:s|ning)? to|(?:we|i|you|he|she|they|it)['’]ll|` +
    'voy a|vas a|va a|vamos a|vais a|van a|nos vemos|quedamos|[a-zñ]+(?:ré|rás|rá|remos|réis|rán)',
)

/** What is looked at of a long sentence, in front of a weekday and behind. */
const NEAR = 300

/** "on Friday" is behind or ahead: ahead where the sentence speaks of what will be. */
function isOfTheFuture(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - NEAR), at)
  const start = Math.max(...['.', '!', '?', '\n'].map(sign => before.lastIndexOf(sign))) + 1
  const after = text.slice(at, at + NEAR)
  const end = after.search(/[.!?\n]/)
  FUTURE.lastIndex = 0
  return FUTURE.test(before.slice(start) + (end < 0 ? after : after.slice(0, end)))
}

/** `years`: from the day's year to that of the month. */
function inMonth(language: DateLanguage, pattern: string, years = 0): Rule {
  const any = language === 'en' ? MONTHS.en.join('|') : `${MONTHS.es.join('|')}|setiembre`
  return {
    pattern: words(pattern.replace('MONTH', `(?<month>${any})`)),
    meaning: ({ month = '' }, day) => {
      return { kind: 'month', day: monthOfYear(yearLater(day, years), placeIn(MONTHS[language], month)) }
    },
  }
}

const SATURDAY = 6

function weekend(pattern: string): Rule {
  return {
    pattern: words(pattern),
    meaning: (_, day) => ({ kind: 'weekend', day: weekdayBefore(day, SATURDAY) }),
  }
}

const COUNT = String.raw`\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten`
const CUENTA = String.raw`\d{1,4}|una?|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez`
/** Before "mañana" they make it the morning. */
const MORNING = 'la|las|una|cada|toda|media|buena|esa|aquella|otra|misma|ninguna|alguna|primera'
/** A date that goes on to name its day or its year is not relative. */
const NO_NUMBER = String.raw`(?!,?\s+(?:the\s+|of\s+|de\s+|del\s+)?\d)`

/** In front of a count it makes it part of a larger one: "half a year ago", "twenty-two days ago", "a year and two months ago". */
const PART = String.raw`(?<!\d[.,]|(?:half|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)[\s-]{1,3}|(?:days?|weeks?|months?|years?|hundred|thousand)\s{1,3}and\s{1,3})`
/** Behind a unit it does the same: "hace un año y medio". */
const PARTE = String.raw`(?!\s+y\s+(?:medi[oa]|(?:${CUENTA})\s+(?:d[íi]as?|semanas?|mes(?:es)?|años?))(?!\p{L}))`

const RULES: readonly Rule[] = [
  inMonth('en', 'in MONTH,? (?:of )?last year', -1),
  inMonth('en', 'in MONTH,? (?:of )?this year'),
  inMonth('en', 'in MONTH,? (?:of )?next year', 1),
  onDay('(?:the )?day before yesterday', -2),
  onDay('(?:the )?day after tomorrow', 2),
  onDay('yesterday|last night', -1),
  onDay('today|tonight|this morning', 0),
  onDay('tomorrow', 1),
  weekend('last weekend'),
  span('last week', 'week', -1),
  span('next week', 'week', 1),
  span('last month', 'month', -1),
  span('this month', 'month', 0),
  span('next month', 'month', 1),
  span('last year', 'year', -1),
  span('this year', 'year', 0),
  span('next year', 'year', 1),
  ago(String.raw`(?:an?\s+)?(?<count>couple|few)(?:\s+of)?\s+(?<unit>day|week|month|year)s?\s+ago`),
  ago(String.raw`${PART}(?<count>${COUNT})\s+(?<unit>day|week|month|year)s?\s+ago`),
  weekday('en', String.raw`last\s+WEEKDAY`, 'before'),
  weekday('en', String.raw`next\s+WEEKDAY`, 'after'),
  weekday('en', String.raw`this\s+WEEKDAY`, 'near'),
  weekday('en', String.raw`on\s+WEEKDAY${NO_NUMBER}`, 'open'),
  inMonth('en', String.raw`in\s+MONTH${NO_NUMBER}`),

  inMonth('es', 'en MONTH,? del (?:año pasado|pasado año)', -1),
  inMonth('es', 'en MONTH,? de este año'),
  inMonth('es', 'en MONTH,? del (?:año que viene|pr[óo]ximo año|año pr[óo]ximo)', 1),
  onDay('anteayer|antes de ayer|antier', -2),
  onDay('pasado mañana', 2),
  onDay('anoche|ayer', -1),
  onDay(String.raw`hoy(?<!hoy\s{1,3}por\s{1,3}hoy)(?! en d[íi]a| por hoy)|esta noche|esta mañana`, 0),
  onDay(String.raw`(?<!(?<![\p{L}])(?:${MORNING})\s+)mañana`, 1),
  weekend('(?:el )?(?:fin de semana|finde) pasado|(?:el )?pasado (?:fin de semana|finde)'),
  span('(?:la )?semana pasada|(?:la )?pasada semana', 'week', -1),
  span('(?:la )?semana que viene|(?:la )?pr[óo]xima semana|(?:la )?semana pr[óo]xima', 'week', 1),
  span('(?:el )?mes pasado|(?:el )?pasado mes', 'month', -1),
  span('este mes', 'month', 0),
  span('(?:el )?mes que viene|(?:el )?pr[óo]ximo mes', 'month', 1),
  span('(?:el )?año pasado|(?:el )?pasado año', 'year', -1),
  span('este año', 'year', 0),
  span('(?:el )?año que viene|(?:el )?pr[óo]ximo año', 'year', 1),
  ago(String.raw`hace\s+(?:un\s+)?(?<count>par)\s+de\s+(?<unit>d[íi]a|semana|mes|año)(?:s|es)?(?!\p{L})${PARTE}`),
  ago(
    String.raw`hace\s+(?:unos\s+|unas\s+)?(?<count>pocos|pocas)\s+(?<unit>d[íi]a|semana|mes|año)(?:s|es)?(?!\p{L})${PARTE}`,
  ),
  ago(String.raw`hace\s+(?<count>${CUENTA}|unos|unas)\s+(?<unit>d[íi]a|semana|mes|año)(?:s|es)?(?!\p{L})${PARTE}`),
  weekday('es', String.raw`(?:el\s+)?WEEKDAY\s+pasado`, 'before'),
  weekday('es', String.raw`(?:el\s+)?pasado\s+WEEKDAY`, 'before'),
  weekday('es', String.raw`(?:el\s+)?WEEKDAY\s+(?:que\s+viene|pr[óo]ximo)`, 'after'),
  weekday('es', String.raw`(?:el\s+)?pr[óo]ximo\s+WEEKDAY`, 'after'),
  weekday('es', String.raw`este\s+WEEKDAY`, 'near'),
  weekday('es', String.raw`el\s+WEEKDAY${NO_NUMBER}`, 'open'),
  inMonth('es', String.raw`en\s+MONTH${NO_NUMBER}`),
]

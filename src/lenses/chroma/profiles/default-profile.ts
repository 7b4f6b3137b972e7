/**
 * The built-in query profile, which reads plain English or Spanish without a model or network. It takes from the text one period, one
 * number of results, and every assigned hashtag among the other words.
 */

import type { EffectiveQuery, MetadataFilters, QueryParams, ResultRow } from '../model.ts'
import { type ParseContext, QueryProfile } from './query-profile.ts'

export class DefaultQueryProfile extends QueryProfile {
  override parseInput(text: string, context: ParseContext): QueryParams {
    const { hashtags, k, temporalRange } = readQuestion(text, context)
    return {
      hashtags,
      ...(k !== null && { k }),
      ...(temporalRange !== null && { temporalRange }),
    }
  }
}

interface Question {
  /**
   * Assigned hashtags that the text names, in the order in which they occur in the text; words of the period and of the number of results
   * are not read as hashtags.
   */
  readonly hashtags: readonly string[]
  readonly k: number | null
  readonly temporalRange: readonly [number, number] | null
}

/** Reads a text by the grammar of the built-in profile, without running a query; for profiles that extend this grammar (CQ-084). */
export function readQuestion(text: string, context: Pick<ParseContext, 'now' | 'tagsIn'>): Question {
  const time = findTime(text, context.now)
  const timeless = blanked(text, time)
  const count = findCount(timeless)
  return {
    hashtags: context.tagsIn(blanked(timeless, count)),
    k: count?.k ?? null,
    temporalRange: time && [time.period.start, time.period.end],
  }
}

function blanked(text: string, found: { readonly index: number; readonly length: number } | null): string {
  if (found === null) return text
  const { index, length } = found
  return text.slice(0, index) + ' '.repeat(length) + text.slice(index + length)
}

interface FoundCount {
  /** Number of results that the text asks for, 1 to 1000; null when it names none, so that the configured number applies. */
  readonly k: number | null
  readonly index: number
  readonly length: number
}

/** The first expression in the text that gives a number of results ("top 5"); of several that begin at one place, the longest. */
export function findCount(text: string): FoundCount | null {
  const matches = COUNTS.map(expression => expression.exec(text)).filter(match => match !== null)
  const [first] = matches.sort((a, b) => a.index - b.index || b[0].length - a[0].length)
  if (first === undefined) return null
  const n = numberOf(first.groups?.['n'] ?? '0')
  return { k: n === 0 ? null : Math.min(n, MAX_K), index: first.index, length: first[0].length }
}

// Query profile for code: `language:python kind:function symbol:retry recent async backoff`. Each `name:value` becomes a metadata filter,
// the other words are read as plain language. Entries whose label contains the requested words come first, and the number of entries per
// file is limited.

export interface CodeSearchOptions {
  /** Largest number of entries with an equal file path (`metadata.path`) in an answer; default 3. */
  readonly perFile?: number | undefined
}

/** Names that may be written before the colon (`lang:python`), and the metadata field that each filters by. */
const FIELDS: Readonly<Record<string, string>> = {
  language: 'language',
  lang: 'language',
  kind: 'kind',
  symbol: 'symbol',
  path: 'path',
}

const FIELD = /(?<!\S)(language|lang|kind|symbol|path):("[^"]*"|\S+)/gi

export class CodeSearchQueryProfile extends QueryProfile {
  readonly #perFile: number

  constructor(options: CodeSearchOptions = {}) {
    super()
    this.#perFile = options.perFile ?? 3
  }

  override parseInput(text: string, context: ParseContext): QueryParams {
    const filters: Record<string, MetadataFilters[string]> = {}
    const rest = text.replace(FIELD, (_, name: string, value: string) => {
      const field = FIELDS[name.toLowerCase()] as string
      const bare = value.replaceAll('"', '')
      // A path needs to match only in part; the other fields must match exactly.
      filters[field] = field === 'path' ? { $contains: bare } : bare
      return ' '
    })
    const { hashtags, k, temporalRange } = readQuestion(rest, context)
    return {
      hashtags,
      ...(k !== null && { k }),
      ...(temporalRange !== null && { temporalRange }),
      ...(Object.keys(filters).length > 0 && { metadataFilters: filters }),
    }
  }

  /**
   * The share of the query's hashtags that occur as words in the node's label; hashtags that were added to complete the set are not
   * counted. The label `retryAsync` has the words "retry" and "async".
   */
  override customScoring(entry: ResultRow, query: EffectiveQuery): number {
    const added = new Set(query.completed_hashtags)
    const asked = query.hashtags.filter(hashtag => !added.has(hashtag)).map(hashtag => hashtag.slice(1))
    const words = wordsOf(entry.label)
    return asked.length === 0 ? 0 : asked.filter(word => words.has(word)).length / asked.length
  }

  override postProcess(rows: ResultRow[]): ResultRow[] {
    const perFile = new Map<string, number>()
    return rows.filter(row => {
      const path = row.metadata?.['path']
      if (typeof path !== 'string') return true
      const before = perFile.get(path) ?? 0
      perFile.set(path, before + 1)
      return before < this.#perFile
    })
  }
}

/** The words of a label in lower case: each identifier as a whole, and the parts of its camelCase or snake_case name. */
function wordsOf(label: string): ReadonlySet<string> {
  const identifiers = label.match(/[\p{L}\p{N}_$]+/gu) ?? []
  const parts = identifiers.flatMap(name => name.match(/\p{Lu}?[\p{Ll}\p{N}]+|\p{Lu}+(?!\p{Ll})/gu) ?? [])
  return new Set([...identifiers, ...parts].map(word => word.toLowerCase()))
}

// Finds periods in texts by expressions of time, with the meanings that the lens `chroma` defines (CQ-085 to CQ-087), in English and
// Spanish.

export interface Period {
  readonly start: number
  readonly end: number
}

/** A period that a text names, and where the expression is in the text (in UTF-16 units). */
interface FoundTime {
  readonly period: Period
  readonly index: number
  readonly length: number
}

type Unit = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year'

const MINUTE = 60
const HOUR = 3_600
const DAY = 86_400

/**
 * Length of each unit of time in seconds, for periods such as "the last 3 months": months and years have a fixed length that does not
 * depend on the calendar (CQ-085).
 */
export const SECONDS: Readonly<Record<Unit, number>> = {
  minute: MINUTE,
  hour: HOUR,
  day: DAY,
  week: 7 * DAY,
  month: 30 * DAY,
  year: 365 * DAY,
}

/** The period of the last `count` units before `now`, in Unix seconds; it does not begin before 1970. */
function rolling(count: number, unit: Unit, now: number): Period {
  return { start: Math.min(now, Math.max(0, now - count * SECONDS[unit])), end: now }
}

/** The calendar unit (day, week, month ...) that contains the time `at`, or the one `offset` units later. */
export function calendar(unit: Unit, at: number, offset = 0): Period {
  const start = startOf(unit, at, offset)
  return { start, end: startOf(unit, at, offset + 1) - 1 }
}

function startOf(unit: Unit, at: number, offset: number): number {
  const date = new Date(at * 1_000)
  if (unit === 'year') return utc(date.getUTCFullYear() + offset, 0)
  if (unit === 'month') return utc(date.getUTCFullYear(), date.getUTCMonth() + offset)
  const length = SECONDS[unit]
  // 1970-01-01 was a Thursday, three days after the Monday on which its week began.
  const shift = unit === 'week' ? 3 * DAY : 0
  return Math.floor((at + shift) / length) * length - shift + offset * length
}

/**
 * Midnight UTC of a day, in Unix seconds; a month or day out of range is carried over. `Date.UTC` is not used, because it reads the year 24
 * as 1924.
 */
function utc(year: number, month: number, day = 1): number {
  return new Date(0).setUTCFullYear(year, month, day) / 1_000
}

/** The calendar period that `2024`, `2024-05` or `2024-05-17` names; null for a day or month that does not exist. */
export function dated(text: string): Period | null {
  const match = /^(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?$/.exec(text)
  if (match === null) return null
  const [, year = '', month, day] = match
  const start = utc(Number(year), Number(month ?? 1) - 1, Number(day ?? 1))
  const unit = day !== undefined ? 'day' : month !== undefined ? 'month' : 'year'
  const exists = new Date(start * 1_000).toISOString().startsWith(text)
  return exists ? calendar(unit, start) : null
}

/** Whether the text asks for times within a period, or for the times before or after it. */
type Relation = 'within' | 'since' | 'after' | 'before' | 'until'

/**
 * The range of time that a relation and a period mean together, such as "since" and "last month" (CQ-087). A range that would begin in the
 * future ends at its own start, so that the end is never before the start.
 */
function related(relation: Relation, { start, end }: Period, now: number): Period {
  const range = {
    within: { start, end },
    since: { start, end: now },
    after: { start: end + 1, end: now },
    before: { start: Math.min(0, start - 1), end: start - 1 },
    until: { start: Math.min(0, end), end },
  }[relation]
  return range.start > now || range.end < range.start ? { start: range.start, end: range.start } : range
}

/**
 * Pattern for the place where an expression of time may begin: not inside a word, hashtag, hyphenated name or number, so neither in `3.12`
 * nor in `1,000`.
 */
const BEGIN = '(?<![\\p{L}\\p{N}_#-]|\\p{N}[.,](?=\\p{N}))'
const END = '(?![\\p{L}\\p{N}_]|[-.]\\p{N}|-\\p{L}|,\\p{N}{3}(?!\\p{N}))'

const NUMBERS: Readonly<Record<string, number>> = {
  ...{ one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9, ten: 10 },
  ...{ eleven: 11, twelve: 12, fifteen: 15, twenty: 20, thirty: 30, fifty: 50 },
  ...{ un: 1, una: 1, uno: 1, dos: 2, tres: 3, cuatro: 4, cinco: 5, seis: 6, siete: 7, ocho: 8, nueve: 9, diez: 10 },
  ...{ doce: 12, quince: 15, veinte: 20, treinta: 30, cincuenta: 50, cien: 100 },
}

/** Pattern of a number: digits, or one of the number words of `NUMBERS`. */
const NUMBER: string = `\\d+|${Object.keys(NUMBERS).join('|')}`

function numberOf(text: string): number {
  return NUMBERS[text.toLowerCase()] ?? Number(text)
}

const ENGLISH_UNIT = 'minutes?|hours?|days?|weeks?|months?|years?'
const SPANISH_UNIT = 'minutos?|horas?|d[ií]as?|semanas?|mes(?:es)?|años?'

export function unitOf(word: string): Unit {
  const [, unit] = UNITS.find(([start]) => word.toLowerCase().startsWith(start)) as readonly [string, Unit]
  return unit
}

const UNITS: readonly (readonly [string, Unit])[] = [
  ['minut', 'minute'],
  ['h', 'hour'],
  ['d', 'day'],
  ['week', 'week'],
  ['semana', 'week'],
  ['m', 'month'],
  ['y', 'year'],
  ['a', 'year'],
]

const RELATIONS: readonly (readonly [Relation, string])[] = [
  ['since', 'since|desde|a partir del?'],
  ['after', 'after|despu[eé]s del?'],
  ['before', 'before|antes del?'],
  ['until', 'until|till|hasta'],
  ['within', 'in|from|during|on|of|en|del?|durante'],
]

/** Pattern of the words that may precede a period, such as "since". Where one phrase begins with another, the longer one comes first. */
const RELATION: string = RELATIONS.map(([, words]) => words).join('|')

function relationOf(words: string | undefined): Relation {
  if (words === undefined) return 'within'
  const plain = words.toLowerCase().replace(/\s+/g, ' ')
  return RELATIONS.find(([, pattern]) => new RegExp(`^(?:${pattern})$`).test(plain))?.[0] ?? 'within'
}

/**
 * Finds the periods that a text names, in whole Unix seconds with both ends included. Calendar units are those of UTC; weeks begin on
 * Monday.
 */

type Groups = Readonly<Record<string, string | undefined>>

interface TimeWords {
  /** Regular expression of one expression of time, with the named groups `n` (number) and `unit` where it has them. */
  readonly pattern: string
  readonly period: (groups: Groups, now: number) => Period | null
}

const N = `(?<n>${NUMBER})`
const unitIn = ({ unit = '' }: Groups) => unitOf(unit)
const countIn = ({ n = '1' }: Groups) => numberOf(n)

const recent = (_: Groups, now: number) => rolling(7, 'day', now)
const lastFew = (groups: Groups, now: number) => rolling(countIn(groups), unitIn(groups), now)
const previous = (groups: Groups, now: number) => calendar(unitIn(groups), now, -1)
const current = (groups: Groups, now: number) => ({ start: calendar(unitIn(groups), now).start, end: now })
const ago = (groups: Groups, now: number) => calendarAgo(countIn(groups), groups, now)
const daysAgo = (days: number) => (_: Groups, now: number) => calendar('day', now, -days)

const WORDS: readonly TimeWords[] = [
  { pattern: 'recent(?:ly)?', period: recent },
  { pattern: `(?:last|past)\\s+${N}\\s+(?<unit>${ENGLISH_UNIT})`, period: lastFew },
  { pattern: `past\\s+(?<unit>${ENGLISH_UNIT})`, period: lastFew },
  { pattern: 'last\\s+(?<unit>hour|day)', period: lastFew },
  { pattern: 'last\\s+(?<unit>week|month|year)', period: previous },
  { pattern: 'this\\s+(?<unit>week|month|year)', period: current },
  { pattern: 'today', period: (_, now) => ({ start: calendar('day', now).start, end: now }) },
  { pattern: 'yesterday', period: daysAgo(1) },
  { pattern: `(?:(?<n>${NUMBER})|an?)\\s+(?<unit>${ENGLISH_UNIT})\\s+ago`, period: ago },

  { pattern: 'recientes?|recientemente', period: recent },
  { pattern: `(?:últim|ultim|pasad)[oa]s\\s+${N}\\s+(?<unit>${SPANISH_UNIT})`, period: lastFew },
  { pattern: `${N}\\s+(?:últim|ultim)[oa]s\\s+(?<unit>${SPANISH_UNIT})`, period: lastFew },
  { pattern: '(?:últim|ultim)[oa]\\s+(?<unit>hora|d[ií]a|semana|mes|año)', period: lastFew },
  { pattern: '(?<unit>semana|mes|año)\\s+pasad[oa]', period: previous },
  { pattern: 'pasad[oa]\\s+(?<unit>semana|mes|año)', period: previous },
  { pattern: 'est[ae]\\s+(?<unit>semana|mes|año)', period: current },
  { pattern: 'hoy', period: (_, now) => ({ start: calendar('day', now).start, end: now }) },
  // The Spanish "antes de ayer" (the day before yesterday) must precede the row for "ayer", or it would be read as "before yesterday".
  { pattern: 'anteayer|antier|antes\\s+de\\s+ayer', period: daysAgo(2) },
  { pattern: 'ayer', period: daysAgo(1) },
  { pattern: `hace\\s+${N}\\s+(?<unit>${SPANISH_UNIT})`, period: ago },
]

const ARTICLE = '(?:(?:the|el|la|los|las)\\s+)?'
const DATE = '\\d{4}(?:-\\d{2}(?:-\\d{2})?)?'

/** A date counts only after a word such as "since" or "in": a number such as 2024 alone may mean anything. */
const DATED = new RegExp(
  `${BEGIN}(?<relation>in|from|during|since|after|before|until|a\\s+partir\\s+del?|despu[eé]s\\s+del?|antes\\s+del?|` +
    `desde|hasta|durante|en|del?)\\s+(?:(?:el|la)\\s+)?(?<date>${DATE})${END}`,
  'giu',
)

const COMPILED = WORDS.map(({ pattern, period }) => ({
  period,
  expression: new RegExp(`${BEGIN}(?:(?<relation>${spaced(RELATION)})\\s+)?${ARTICLE}(?:${pattern})${END}`, 'iu'),
}))

/** The first period that the text names; of several expressions that begin at one place, the longest (CQ-088). */
export function findTime(text: string, now: number): FoundTime | null {
  const found = [...COMPILED.flatMap(words => wordsIn(text, words, now)), ...datesIn(text, now)]
  return found.sort((a, b) => a.index - b.index || b.length - a.length)[0] ?? null
}

function wordsIn(text: string, { expression, period }: (typeof COMPILED)[number], now: number): FoundTime[] {
  const match = expression.exec(text)
  const groups = match?.groups ?? {}
  const meant = match && period(groups, now)
  if (!meant) return []
  const relation = relationOf(groups['relation'])
  // "From last month" means last month only. "Since this week" keeps its open end, because the current week has not ended.
  return [{ period: related(relation, meant, now), index: match.index, length: match[0].length }]
}

/** Periods from the dates in the text; days and months that do not exist are skipped. */
function datesIn(text: string, now: number): FoundTime[] {
  for (const match of text.matchAll(DATED)) {
    const { relation, date = '' } = match.groups as Groups
    const period = dated(date)
    if (period === null) continue
    return [{ period: related(relationOf(relation), period, now), index: match.index, length: match[0].length }]
  }
  return []
}

/**
 * The calendar unit that contains the time `count` units before now: "three days ago" is that whole day, "an hour ago" that whole hour.
 * Null where it lies before 1970.
 */
function calendarAgo(count: number, groups: Groups, now: number): Period | null {
  const period = calendar(unitIn(groups), now, -count)
  return Number.isFinite(period.start) && period.start >= 0 ? period : null
}

function spaced(pattern: string): string {
  return pattern.replaceAll(' ', '\\s+')
}

const MAX_K = 1_000

const THINGS =
  'results?|entry|entries|documents?|docs?|nodes?|items?|hits?|match(?:es)?|snippets?|' +
  'resultados?|entradas?|documentos?|notas?|nodos?|elementos?|coincidencias?|fragmentos?'

const COUNTS: readonly RegExp[] = [
  `(?:top|first|limit)\\s+(?<n>\\d+)`,
  `(?<n>\\d+)\\s+(?:${THINGS})`,
  // Only in phrases such as this may the number be written as a word, because they are unambiguous. In other texts, `two items` may be the
  // subject of the query.
  `top\\s+(?<n>${NUMBER})`,
  `(?<n>${NUMBER})\\s+(?:results|entries|resultados|entradas)`,
  `(?:(?:los|las)\\s+)?(?<n>${NUMBER})\\s+primer[oa]s`,
  `(?:(?:los|las)\\s+)?primer[oa]s\\s+(?<n>${NUMBER})`,
  `l[ií]mite\\s+(?<n>\\d+)`,
].map(pattern => new RegExp(`${BEGIN}(?:${pattern})${END}`, 'iu'))

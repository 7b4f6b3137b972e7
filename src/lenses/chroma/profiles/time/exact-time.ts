/** The time words with a meaning of their own in this lens (CQ-085 to CQ-087), and the same in Spanish. */
import { calendar, dated, type FoundTime, type Period, related, rolling } from './period.ts'
import { BEGIN, END, ENGLISH_UNIT, NUMBER, numberOf, RELATION, relationOf, SPANISH_UNIT, unitOf } from './words.ts'

type Groups = Readonly<Record<string, string | undefined>>

interface TimeWords {
  /** With `{n}` and `{unit}` as named groups where it has them. */
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
  // Before the next row, which would read it as the time before yesterday.
  { pattern: 'anteayer|antier|antes\\s+de\\s+ayer', period: daysAgo(2) },
  { pattern: 'ayer', period: daysAgo(1) },
  { pattern: `hace\\s+${N}\\s+(?<unit>${SPANISH_UNIT})`, period: ago },
]

const ARTICLE = '(?:(?:the|el|la|los|las)\\s+)?'
const DATE = '\\d{4}(?:-\\d{2}(?:-\\d{2})?)?'

/** Dates need a word before them: a bare 2024 may be anything. */
const DATED = new RegExp(
  `${BEGIN}(?<relation>in|from|during|since|after|before|until|a\\s+partir\\s+del?|despu[eé]s\\s+del?|antes\\s+del?|` +
    `desde|hasta|durante|en|del?)\\s+(?:(?:el|la)\\s+)?(?<date>${DATE})${END}`,
  'giu',
)

const COMPILED = WORDS.map(({ pattern, period }) => ({
  period,
  expression: new RegExp(`${BEGIN}(?:(?<relation>${spaced(RELATION)})\\s+)?${ARTICLE}(?:${pattern})${END}`, 'iu'),
}))

/** The leftmost; of those that begin at one place the longest. */
export function exactTime(text: string, now: number): FoundTime | null {
  const found = [...COMPILED.flatMap(words => wordsIn(text, words, now)), ...datesIn(text, now)]
  return found.sort((a, b) => a.index - b.index || b.length - a.length)[0] ?? null
}

function wordsIn(text: string, { expression, period }: (typeof COMPILED)[number], now: number): FoundTime[] {
  const match = expression.exec(text)
  const groups = match?.groups ?? {}
  const meant = match && period(groups, now)
  if (!meant) return []
  const relation = relationOf(groups['relation'])
  // `from last month` is last month; what is open at its end stays so: `since this week`.
  return [{ period: related(relation, meant, now), index: match.index, length: match[0].length }]
}

/** Days and months that do not exist are passed over. */
function datesIn(text: string, now: number): FoundTime[] {
  for (const match of text.matchAll(DATED)) {
    const { relation, date = '' } = match.groups as Groups
    const period = dated(date)
    if (period === null) continue
    return [{ period: related(relationOf(relation), period, now), index: match.index, length: match[0].length }]
  }
  return []
}

/** The unit of the calendar that holds the moment so many units ago: three days ago is a day, an hour ago an hour. */
function calendarAgo(count: number, groups: Groups, now: number): Period | null {
  const period = calendar(unitIn(groups), now, -count)
  return Number.isFinite(period.start) && period.start >= 0 ? period : null
}

function spaced(pattern: string): string {
  return pattern.replaceAll(' ', '\\s+')
}

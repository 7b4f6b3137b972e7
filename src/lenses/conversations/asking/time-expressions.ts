/** Whether a message says a time: a date, a month, a weekday, a year, an hour, or words that stand for one. English and Spanish. */
import { MONTHS, WEEKDAYS } from '../reading/date-words.ts'

/** `dates`: what its relative dates stand for; null where it has none. */
export function saysTime(text: string, dates: string | null): boolean {
  return dates !== null || TIME.test(text)
}

/** Names of months that are words too need a number beside them. */
const UNCLEAR = new Set(['March', 'May'])
const CLEAR = [...MONTHS.en.filter(month => !UNCLEAR.has(month)), ...MONTHS.es]
const DAYS = [
  ...WEEKDAYS.en.map(day => `${day}s?`),
  ...WEEKDAYS.es.map(day => day.replace(/[éá]/, vowel => `[${vowel}${vowel === 'é' ? 'e' : 'a'}]`)),
]

const TIME = new RegExp(
  [
    String.raw`\b(?:${CLEAR.join('|')})\b`,
    String.raw`\b\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:March|May)\b|\b(?:March|May) \d`,
    String.raw`(?<!\p{L})(?:${DAYS.join('|')})(?!\p{L})`,
    String.raw`\b(?:19|20)\d\d\b|\b\d{1,2}[/.]\d{1,2}[/.]\d{2,4}\b`,
    String.raw`\b\d{1,2}(?::\d\d| ?[ap]\.?m\b| o'clock)`,
    String.raw`\b(?:yesterday|today|tonight|tomorrow|(?:last|next|this) (?:night|morning|week|weekend|month|year|spring|summer|autumn|fall|winter))\b`,
    String.raw`\b(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|few|couple of|several) (?:minute|hour|day|night|week|month|year)s?\b`,
    String.raw`(?<!\p{L})(?:ayer|anteayer|anoche|hoy|(?:semana|mes|año) (?:pasad[ao]|que viene)|este (?:mes|año)|a las? (?:\d|una|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce))(?!\p{L})`,
    String.raw`(?<!\p{L})(?:\d+|una?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|unos|unas|varios|varias) (?:minuto|hora|d[íi]a|noche|semana|mes|año)(?:e?s)?(?!\p{L})`,
  ].join('|'),
  'iu',
)

/** What the patterns for time and counts share: where words begin and end, numbers in words, relations. */
import type { Relation, Unit } from './period.ts'

/** Not inside a word, a hashtag, a hyphenated name or a number: neither in `3.12` nor in `1,000`. */
export const BEGIN = '(?<![\\p{L}\\p{N}_#-]|\\p{N}[.,](?=\\p{N}))'
export const END = '(?![\\p{L}\\p{N}_]|[-.]\\p{N}|-\\p{L}|,\\p{N}{3}(?!\\p{N}))'

const NUMBERS: Readonly<Record<string, number>> = {
  ...{ one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9, ten: 10 },
  ...{ eleven: 11, twelve: 12, fifteen: 15, twenty: 20, thirty: 30, fifty: 50 },
  ...{ un: 1, una: 1, uno: 1, dos: 2, tres: 3, cuatro: 4, cinco: 5, seis: 6, siete: 7, ocho: 8, nueve: 9, diez: 10 },
  ...{ doce: 12, quince: 15, veinte: 20, treinta: 30, cincuenta: 50, cien: 100 },
}

/** Digits, or a number in words. */
export const NUMBER: string = `\\d+|${Object.keys(NUMBERS).join('|')}`

export function numberOf(text: string): number {
  return NUMBERS[text.toLowerCase()] ?? Number(text)
}

export const ENGLISH_UNIT = 'minutes?|hours?|days?|weeks?|months?|years?'
export const SPANISH_UNIT = 'minutos?|horas?|d[ií]as?|semanas?|mes(?:es)?|años?'

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

/** The words before a period, longest first where one begins with another. */
export const RELATION: string = RELATIONS.map(([, words]) => words).join('|')

export function relationOf(words: string | undefined): Relation {
  if (words === undefined) return 'within'
  const plain = words.toLowerCase().replace(/\s+/g, ' ')
  return RELATIONS.find(([, pattern]) => new RegExp(`^(?:${pattern})$`).test(plain))?.[0] ?? 'within'
}

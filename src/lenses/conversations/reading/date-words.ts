/** Months, weekdays and small numbers in the languages that relative dates are read in. */

export type DateLanguage = 'en' | 'es'

export const MONTHS: Readonly<Record<DateLanguage, readonly string[]>> = {
  en: [
    ...['January', 'February', 'March', 'April', 'May', 'June'],
    ...['July', 'August', 'September', 'October', 'November', 'December'],
  ],
  es: [
    ...['enero', 'febrero', 'marzo', 'abril', 'mayo', 'junio'],
    ...['julio', 'agosto', 'septiembre', 'octubre', 'noviembre', 'diciembre'],
  ],
}

/** From Sunday. */
export const WEEKDAYS: Readonly<Record<DateLanguage, readonly string[]>> = {
  en: ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'],
  es: ['domingo', 'lunes', 'martes', 'miércoles', 'jueves', 'viernes', 'sábado'],
}

const NUMBERS: Readonly<Record<string, number>> = {
  ...{ a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9, ten: 10 },
  ...{ couple: 2, few: 3 },
  ...{ un: 1, una: 1, uno: 1, dos: 2, tres: 3, cuatro: 4, cinco: 5, seis: 6, siete: 7, ocho: 8, nueve: 9, diez: 10 },
  ...{ par: 2, unos: 3, unas: 3, pocos: 3, pocas: 3 },
}

export function numberOf(word: string): number | null {
  if (/^\d{1,4}$/.test(word)) return Number(word)
  const key = word.toLowerCase()
  return Object.hasOwn(NUMBERS, key) ? (NUMBERS[key] as number) : null
}

/** The place in a list of words, whatever the case and whether or not the accents are written; -1 when it is not there. */
export function placeIn(list: readonly string[], word: string): number {
  const plain = (text: string): string => text.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '')
  const sought = plain(word).replace(/^setiembre$/, 'septiembre')
  return list.findIndex(one => plain(one) === sought)
}

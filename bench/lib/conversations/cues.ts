/** What a question asks for beyond its words: whom it names, whether it asks when, whether it is about the assistant. */
import type { Message } from '../../../src/lenses/conversations/model.ts'
import { fold } from '../../../src/text/normalise.ts'
import type { SetLanguage } from './question-set.ts'

/** The one participant whom a question names; null where it names none, or several. */
export function namedIn(question: string, participants: readonly string[]): string | null {
  const words = ` ${wordsOf(question).join(' ')} `
  const named = participants.filter(name => {
    const parts = wordsOf(name)
    return parts.length > 0 && (words.includes(` ${parts.join(' ')} `) || words.includes(` ${parts[0]} `))
  })
  return named.length === 1 ? (named[0] as string) : null
}

function wordsOf(text: string): readonly string[] {
  return fold(text).match(/[\p{L}\p{N}]+/gu) ?? []
}

const WHEN: Readonly<Record<SetLanguage, RegExp>> = {
  en: /^\s*(?:when|how long|what (?:date|day|month|year|time)|in which year)\b/i,
  es: /^[\s¿]*(?:(?:a|de|desde|en|hasta|para|por) )?(?:cu[áa]ndo|cu[áa]nto (?:tiempo|hace)|hace cu[áa]nto|qu[ée] (?:d[íi]a|fecha|mes|a[ñn]o|hora))(?!\p{L})/iu,
}

export function asksWhen(question: string, language: SetLanguage): boolean {
  return WHEN[language].test(question)
}

const ABOUT: Readonly<Record<SetLanguage, { readonly you: RegExp; readonly not: RegExp }>> = {
  en: { you: /\b(?:you|your)\b/i, not: /\b(?:can|could|would|will) you\b|\byou (?:please )?(?:tell|remind)\b/gi },
  es: {
    you: /(?<!\p{L})(?:t[úu]|usted|te|ti|tus?|me \p{L}+[ai]ste)(?!\p{L})/iu,
    not: /(?<!\p{L})(?:te|le) (?:dije|cont[ée]|coment[ée]|pido|ped[íi])(?!\p{L})/giu,
  },
}

/** Whether an assistant is asked what it said itself. */
export function isAboutAssistant(question: string, language: SetLanguage): boolean {
  const { you, not } = ABOUT[language]
  return you.test(question.replace(not, ' '))
}

const MONTH: Readonly<Record<SetLanguage, string>> = {
  en: 'January|February|March|April|May|June|July|August|September|October|November|December',
  es: 'enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre|diciembre',
}
const TIMES: Readonly<Record<SetLanguage, readonly RegExp[]>> = {
  en: [
    new RegExp(String.raw`\b(?:in|since|until|by|of|early|late|mid|\d{1,2}(?:st|nd|rd|th)?)[ -](?:${MONTH.en})\b`, 'i'),
    new RegExp(String.raw`\b(?:${MONTH.en}) \d`, 'i'),
    /\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b/i,
    /\b(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|few|couple of|several) (?:minute|hour|day|night|week|month|year)s?\b/i,
    /\b\d{1,2} ?(?:am|pm|o'clock)\b/i,
  ],
  es: [
    new RegExp(String.raw`(?<!\p{L})(?:${MONTH.es})(?!\p{L})`, 'iu'),
    /(?<!\p{L})(?:lunes|martes|mi[ée]rcoles|jueves|viernes|s[áa]bados?|domingos?)(?!\p{L})/iu,
    /(?<!\p{L})(?:\d+|una?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|unos|unas|varios|varias) (?:minuto|hora|d[íi]a|noche|semana|mes|a[ñn]o)(?:e?s)?(?!\p{L})/iu,
    /(?<!\p{L})a las (?:\d|una|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce)/iu,
  ],
}
const ANY_TIME = [/\b(?:19|20)\d\d\b/, /\b\d{1,2}:\d\d\b/]

/** Whether a message says when something was, is or will be. */
export function hasTime({ text }: Message, resolved: readonly unknown[], language: SetLanguage): boolean {
  return resolved.length > 0 || [...ANY_TIME, ...TIMES[language]].some(pattern => pattern.test(text))
}

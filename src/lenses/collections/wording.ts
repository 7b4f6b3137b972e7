/** The words of an answer, by language. */
import { isEnglishQuestion } from '../../text/language.ts'

export type AnswerLanguage = 'es' | 'en'

export interface Wording {
  readonly summary: string
  readonly found: (count: number, query: string, sources: string) => string
  readonly notFound: (query: string) => string
  readonly suggestions: string
  readonly hints: readonly string[]
  readonly sources: string
  readonly results: (count: number) => string
  readonly details: string
  readonly topics: string
}

const SPANISH: Wording = {
  summary: 'Resumen',
  found: (count, query, sources) => `Encontrados ${count} resultados para "${query}" en: ${sources}`,
  notFound: query => `No se encontraron resultados para: "${query}"`,
  suggestions: 'Sugerencias',
  hints: [
    'Intenta con términos más generales',
    'Elimina el filtro de días si lo usaste',
    'Prueba con palabras clave alternativas',
  ],
  sources: 'Fuentes',
  results: count => `(${count} resultados)`,
  details: 'Detalles',
  topics: 'Temas principales:',
}

const ENGLISH: Wording = {
  summary: 'Summary',
  found: (count, query, sources) => `Found ${count} results for "${query}" in: ${sources}`,
  notFound: query => `No results found for: "${query}"`,
  suggestions: 'Suggestions',
  hints: ['Try broader terms', 'Remove the day filter if you used it', 'Try alternative keywords'],
  sources: 'Sources',
  results: count => `(${count} results)`,
  details: 'Details',
  topics: 'Main topics:',
}

/** `auto`: English for a question that is recognised as English, else Spanish. */
export function answerLanguage(lang: AnswerLanguage | 'auto', query: string): AnswerLanguage {
  if (lang !== 'auto') return lang
  return isEnglishQuestion(query.match(/[\p{L}\p{M}]+/gu) ?? []) ? 'en' : 'es'
}

export const WORDINGS: Readonly<Record<AnswerLanguage, Wording>> = { es: SPANISH, en: ENGLISH }

/** Formats an answer of the lens `collections` as Markdown, in a fixed layout. */
import { isEnglishQuestion } from '../../text/language.ts'
import { wrongParameter } from './request.ts'
import { dateText, type QueryResult } from './results.ts'

const SPANISH = {
  summary: 'Resumen',
  found: (count: number, query: string, sources: string) =>
    `Encontrados ${count} resultados para "${query}" en: ${sources}`,
  notFound: (query: string) => `No se encontraron resultados para: "${query}"`,
  suggestions: 'Sugerencias',
  hints: [
    'Intenta con términos más generales',
    'Elimina el filtro de días si lo usaste',
    'Prueba con palabras clave alternativas',
  ],
  sources: 'Fuentes',
  results: (count: number) => `(${count} resultados)`,
  details: 'Detalles',
  topics: 'Temas principales:',
}

type Wording = typeof SPANISH

const ENGLISH: Wording = {
  summary: 'Summary',
  found: (count, query, sources) =>
    `Found ${count === 1 ? '1 result' : `${count} results`} for "${query}" in: ${sources}`,
  notFound: query => `No results found for: "${query}"`,
  suggestions: 'Suggestions',
  hints: ['Try broader terms', 'Remove the day filter if you used it', 'Try alternative keywords'],
  sources: 'Sources',
  results: count => (count === 1 ? '(1 result)' : `(${count} results)`),
  details: 'Details',
  topics: 'Main topics:',
}

/** Language in which an answer is written. `auto`: English for a query that is recognised as English, else Spanish. */
export function answerLanguage(lang: AnswerLanguage | 'auto', query: string): AnswerLanguage {
  if (lang !== 'auto') return lang
  return isEnglishQuestion(query.match(/[\p{L}\p{M}]+/gu) ?? []) ? 'en' : 'es'
}

const WORDINGS = { es: SPANISH, en: ENGLISH }
type AnswerLanguage = keyof typeof WORDINGS

export interface MarkdownOptions {
  readonly lang?: AnswerLanguage | undefined
  /** Whether a line with the stored URL of the result is shown under each content preview. */
  readonly urls?: boolean | undefined
}

/** Length of the content preview of a result, in Unicode code points. */
const PREVIEW = 200
/** Number of first results whose collections the summary names. */
const SUMMARISED = 3
/** Largest number of titles that are listed for each collection. */
const TITLES = 5

/** Formats the results as Markdown that ends in exactly one line feed. Throws `ChromaQueryError` for a `lang` that has no headings. */
export function formatResultsMarkdown(
  results: readonly QueryResult[],
  query: string,
  { lang = 'es', urls = false }: MarkdownOptions = {},
): string {
  if (!Object.hasOwn(WORDINGS, lang)) throw wrongParameter('lang', lang, `one of ${Object.keys(WORDINGS).join(', ')}`)
  const wording = WORDINGS[lang]
  const asked = oneLine(query)
  const lines = results.length === 0 ? empty(asked, wording) : filled(results, asked, wording, urls)
  return `${lines.join('\n').trimEnd()}\n`
}

function empty(query: string, wording: Wording): readonly string[] {
  const { summary, notFound, suggestions, hints } = wording
  return [`## ${summary}`, '', notFound(query), '', `## ${suggestions}`, '', ...hints.map(hint => `- ${hint}`)]
}

function filled(results: readonly QueryResult[], query: string, wording: Wording, urls: boolean): readonly string[] {
  const { length } = results
  const named = [...new Set(results.slice(0, SUMMARISED).map(({ source }) => source))].join(', ')
  const heading = [`## ${wording.summary}`, '', wording.found(length, query, named), '']
  const sources = [`## ${wording.sources} ${wording.results(length)}`, '']
  const cited = results.flatMap((result, at) => citation(result, at + 1, urls))
  return [...heading, ...sources, ...cited, `## ${wording.details}`, '', ...details(results, wording)]
}

function citation(result: QueryResult, number: number, urls: boolean): readonly string[] {
  const title = oneLine(result.title)
  const address = urls ? addressOf(result) : null
  return [
    `${number}. **${title}** - ${oneLine(dateText(result))} - score: ${result.score.toFixed(2)}`,
    `   > ${preview(result.content)}`,
    ...(address === null ? [] : [`   ${address}`]),
    '',
  ]
}

function details(results: readonly QueryResult[], wording: Wording): readonly string[] {
  const bySource = Map.groupBy(results, ({ source }) => source)
  return [...bySource].flatMap(([source, group]) => [
    `### ${capitalised(source)} ${wording.results(group.length)}`,
    '',
    wording.topics,
    ...group.slice(0, TITLES).map(({ title }) => `- ${oneLine(title)}`),
    '',
  ])
}

function preview(content: string): string {
  const points = [...oneLine(content)]
  return points.length > PREVIEW ? `${points.slice(0, PREVIEW).join('')}...` : points.join('')
}

/** Replaces each line break, with the blanks beside it, by one blank, so that a quoted text stays on one line. */
function oneLine(text: string): string {
  return text.replace(/[^\S\r\n\u0085\u2028\u2029]*[\r\n\u0085\u2028\u2029]\s*/gu, ' ')
}

function capitalised(text: string): string {
  const [first = '', ...rest] = text
  return first.toUpperCase() + rest.join('').toLowerCase()
}

function addressOf({ metadata }: QueryResult): string | null {
  const address = [metadata['source_url'], metadata['url']].find(one => typeof one === 'string' && one.trim() !== '')
  return typeof address === 'string' ? oneLine(address.trim()) : null
}

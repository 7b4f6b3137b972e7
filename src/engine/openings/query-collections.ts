/**
 * The lens `collections` as two functions: opens what is to be asked (a home, or a ChromaDB server), asks, and closes it.
 * Reading never writes: nothing is made where nothing is.
 */
import { systemClock } from '../../base/clock.ts'
import type { CollectionsAnswer } from '../../lenses/collections/ask.ts'
import type { CollectionsSettings } from '../../lenses/collections/collections-lens.ts'
import { formatResultsMarkdown } from '../../lenses/collections/markdown.ts'
import { checkInput } from '../../lenses/collections/request.ts'
import type { QueryResult } from '../../lenses/collections/result.ts'
import { answerLanguage } from '../../lenses/collections/wording.ts'
import { LOCAL_OWNER } from '../../model/viewer.ts'
import { findHome } from '../home.ts'
import { openEngine } from '../open.ts'
import type { QueryCollectionsOptions } from './collections-options.ts'
import { homeIn, openCollections, READING, variable } from './open-collections.ts'

export type { QueryCollectionsOptions } from './collections-options.ts'

const TIMEOUT_MS = 10_000

/** The results alone; warnings go to `onWarning`. Rejects with `ChromaQueryError`. */
export async function queryChromadb(
  query: string,
  options: QueryCollectionsOptions = {},
): Promise<readonly QueryResult[]> {
  const { results } = await queryCollections(query, options)
  return results.map(({ title, content, source, score, metadata }) => ({ title, content, source, score, metadata }))
}

/** Results, warnings and what was asked. Rejects with `ChromaQueryError`. */
export async function queryCollections(
  query: string,
  options: QueryCollectionsOptions = {},
): Promise<CollectionsAnswer> {
  const { clock = systemClock, timeoutMs = TIMEOUT_MS, viewer = LOCAL_OWNER, onWarning } = options
  const { signal = new AbortController().signal } = options
  const input = { ...options, query }
  checkInput(input, clock.now())
  const opened = await openCollections(options)
  try {
    const answer = await opened.ask(input, { viewer, signal, timeoutMs })
    for (const warning of answer.warnings) onWarning?.(warning)
    return answer
  } finally {
    await opened.close()
  }
}

/** What a home's configuration declares beside `items` and `analysis`; none where there is no home. */
export async function declaredCollections(persistDirectory?: string): Promise<readonly string[]> {
  try {
    await using engine = await openEngine({ ...READING, embedder: 'none', home: homeIn(persistDirectory) })
    return (engine.host('collections').settings as CollectionsSettings).collections
  } catch {
    // Whoever asks it opens it too, and is told then what is wrong with it.
    return []
  }
}

/** Whether a question that names no store and no server would find one, or the environment names one. */
export function findsStore(): boolean {
  if (variable('QUERENT_CHROMA_URL') !== undefined || variable('QUERENT_HOME') !== undefined) return true
  try {
    findHome({ workingFolder: process.cwd(), create: false })
    return true
  } catch {
    return false
  }
}

/** An answer laid out for people; `lang` may leave the choice to the question. */
export function collectionsMarkdown(
  results: Parameters<typeof formatResultsMarkdown>[0],
  query: string,
  { lang, urls }: { readonly lang: Parameters<typeof answerLanguage>[0]; readonly urls: boolean },
): string {
  return formatResultsMarkdown(results, query, { lang: answerLanguage(lang, query), urls })
}

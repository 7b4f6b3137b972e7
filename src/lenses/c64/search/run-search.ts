/** Runs the searches that a strategy asks for, and makes one list of them. */
import type { Enrichment } from '../enrichment/enrich.ts'
import { modeText } from '../enrichment/enrich.ts'
import { type Fusion, fetchSize, merged, type SearchHit, searchesOf, trimByScore } from '../enrichment/hits.ts'
import type { AskedQuestion } from './backend.ts'

export interface SearchSettings {
  /** Most results. */
  readonly limit: number
  /** Fetched by each search, if more than `limit`. */
  readonly fetchLimit: number
  /** Results with less than this share of the best score are left out; 0 to 1. */
  readonly minScoreRatio: number
  readonly fusion: Fusion
}

export interface Searched {
  readonly hits: readonly SearchHit[]
  /** What was searched, for the reader. */
  readonly mode: string
}

export async function runSearch(
  { strategy, filterTags }: Pick<Enrichment, 'strategy' | 'filterTags'>,
  asked: AskedQuestion,
  settings: SearchSettings,
): Promise<Searched> {
  const size = fetchSize(settings.fetchLimit, settings.limit)
  const { filtered, unfiltered } = searchesOf(strategy)
  const [tagged, all] = await Promise.all([
    filtered ? asked.search(filterTags, size) : [],
    unfiltered ? asked.search([], size) : [],
  ])
  const finished = (hits: readonly SearchHit[], fellBack = false): Searched => ({
    hits: trimByScore(hits, settings.minScoreRatio, settings.limit),
    mode: modeText(strategy, filterTags, fellBack),
  })
  // A tag that nothing carries must not give an empty answer.
  if (strategy === 'filtered' && tagged.length === 0) return finished(await asked.search([], size), true)
  return finished(merged(strategy, { tagged, all }, settings.fusion, size))
}

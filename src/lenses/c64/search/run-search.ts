/** Runs the searches that a strategy asks for, and makes one list of them. */
import type { Enrichment } from '../enrichment/enrich.ts'
import {
  fetchSize,
  fuseByRank,
  mergeHybrid,
  mergeResults,
  type SearchHit,
  searchesOf,
  trimByScore,
} from '../enrichment/hits.ts'
import { modeText } from '../enrichment/strategy.ts'
import type { AskedQuestion } from './backend.ts'

export interface SearchSettings {
  /** Most results. */
  readonly limit: number
  /** Fetched by each search, if more than `limit`. */
  readonly fetchLimit: number
  /** Results with less than this share of the best score are left out; 0 to 1. */
  readonly minScoreRatio: number
  /** How hybrid makes one list of two: tagged records first, or by rank. */
  readonly fusion: 'tags-first' | 'rrf'
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
  if (strategy === 'semantic') return finished(mergeResults(all, [], size))
  if (strategy === 'hybrid') {
    return finished(settings.fusion === 'rrf' ? fuseByRank(tagged, all, size) : mergeHybrid(tagged, all, size))
  }
  // A tag that nothing carries must not give an empty answer.
  return tagged.length > 0 ? finished(tagged) : finished(await asked.search([], size), true)
}

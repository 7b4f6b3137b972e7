/** Makes the results of the lens `collections` from records, and merges them into one list over all collections. */
import type { JsonObject } from '../../base/canonical.ts'
import type { Steps } from '../../base/turns.ts'
import type { EntryKey } from '../../model/entry.ts'
import { recordDay } from '../../model/instant.ts'
import type { CollectionAnswer, SourceRecord, Space } from '../../pipeline/source.ts'
import { fold } from '../../text/normalise.ts'
import { tokenise } from '../../text/tokenise.ts'
import type { CollectionsRequest } from './request.ts'

export interface QueryResult {
  readonly title: string
  readonly content: string
  /** Name of the collection from which the result comes. */
  readonly source: string
  /** Score of the result from 0 to 1, rounded to two decimals. */
  readonly score: number
  readonly metadata: JsonObject
}

/**
 * A result with further fields that only JSON output shows, such as the score before rounding and the searches (by vector, by words) that
 * found it.
 */
export interface DetailedResult extends QueryResult {
  readonly id: string
  readonly rawScore: number
  readonly why: readonly Leg[]
  /** Ids of the results that were merged into this one because they concern one item; absent when merging was not requested. */
  readonly relatedIds?: readonly string[] | undefined
  /**
   * Key of the entry in Querent's own store; absent for other stores. `relatedKeys`: keys of the results that were merged into this one.
   */
  readonly key?: EntryKey | undefined
  readonly relatedKeys?: readonly EntryKey[] | undefined
}

export type Leg = 'vector' | 'words'

/** The day of a result as a text (YYYY-MM-DD); `unknown` where its metadata has no date. */
export function dateText({ metadata }: Pick<QueryResult, 'metadata'>): string {
  return recordDay(metadata) ?? 'unknown'
}

/**
 * Converts a vector distance to a score from 0 to 1, which for vectors of length 1 is their cosine: 1 - distance, or 1 - distance / 2 for
 * `l2`, where the distance is the squared Euclidean one. A missing distance counts as 1.
 */
export function scoreOf(distance: number | null, space: Space): number {
  const known = distance ?? 1
  const score = space === 'l2' ? 1 - known / 2 : 1 - known
  return Math.min(1, Math.max(0, score))
}

export function resultOf(record: SourceRecord, collection: string, space: Space): DetailedResult {
  const { id, title, content, metadata, distance, key } = record
  const rawScore = scoreOf(distance, space)
  return {
    id,
    title: usableTitle(metadata['title']) ?? usableTitle(title) ?? id,
    content: content ?? '',
    source: collection,
    score: roundScore(rawScore),
    rawScore,
    metadata,
    why: ['vector'],
    ...(key !== undefined && { key }),
  }
}

function usableTitle(title: unknown): string | null {
  return typeof title === 'string' && title.trim() !== '' ? title : null
}

function roundScore(score: number): number {
  return Math.round(score * 100) / 100
}

/** Makes the results of one collection, best first. */
export function* foundIn(
  { collection, records, space }: CollectionAnswer,
  { nResults, minScore, hybrid, query }: CollectionsRequest,
): Steps<readonly DetailedResult[]> {
  const results = records.map(record => resultOf(record, collection, space))
  const best = (hybrid ? yield* fuseWithWords(results, query) : results).slice(0, nResults)
  return best.filter(({ rawScore }) => minScore === undefined || rawScore >= minScore)
}

/**
 * Orders the results of all collections, best first. Of equal scores, the one whose collection is listed first in the query comes first;
 * within a collection the store's order is kept.
 */
export function* arranged(
  found: readonly DetailedResult[],
  request: CollectionsRequest,
): Steps<readonly DetailedResult[]> {
  const { hybrid, query } = request
  const byMeaning = [...found].sort((a, b) => b.rawScore - a.rawScore)
  const ordered = hybrid ? yield* fuseWithWords(byMeaning, query) : byMeaning
  yield
  return request.fold ? foldRelated(ordered) : ordered
}

/**
 * Merges an item and the analysis that refers to it into one result: the better of the two is kept, with the other's id as related.
 * `results` is ordered best first. An analysis whose item is not among the results is kept as it is.
 */
export function foldRelated(results: readonly DetailedResult[]): readonly DetailedResult[] {
  const items = Map.groupBy(
    results.filter(result => [null, result.id].includes(namedBy(result))),
    ({ id }) => id,
  )
  const groups = Map.groupBy(results, result => subjectOf(result, items))
  return [...groups.values()].map(([best, ...others]) => {
    const keys = others.flatMap(({ key }) => key ?? [])
    return {
      ...(best as DetailedResult),
      relatedIds: [...new Set(others.map(({ id }) => id))],
      ...(best?.key !== undefined && { relatedKeys: keys }),
    }
  })
}

/**
 * The item to which a result refers, if it is among the results; else the result itself. Ids are unique only within a collection: of
 * several items with this id, one of a collection other than the result's is chosen.
 */
function subjectOf(result: DetailedResult, items: ReadonlyMap<string, readonly DetailedResult[]>): DetailedResult {
  const name = namedBy(result)
  if (name === null) return result
  const candidates = items.get(name) ?? []
  // Of several candidates, an item that refers to no other item is preferred, since a record may refer to itself.
  const plain = candidates.filter(one => namedBy(one) === null)
  return plain.find(({ source }) => source !== result.source) ?? plain[0] ?? candidates[0] ?? result
}

/** The id of the item to which a record refers by the metadata field `item_id`; null when it refers to none. */
function namedBy({ metadata }: DetailedResult): string | null {
  const name = metadata['item_id']
  return typeof name === 'string' && name !== '' ? name : null
}

/**
 * Constant k of reciprocal rank fusion, where a result at rank r adds 1 / (k + r) to its score. 60 is the usual value; larger values reduce
 * the difference between ranks.
 */
const RANK_OFFSET = 60
/** Weight of an occurrence of a query word in the title; an occurrence in the content has weight 1. */
const TITLE_FACTOR = 2

/**
 * Merges the order by meaning with an order by words of title and content, ignoring accents and case; best first. Every result was found by
 * meaning; a result that has a word of the query lists `words` among its searches too. Pauses after each result so that other work can run.
 */
export function* fuseWithWords(byMeaning: readonly DetailedResult[], query: string): Steps<readonly DetailedResult[]> {
  const wanted = new Set(termsOf(query))
  const counts: Counts[] = []
  for (const result of byMeaning) {
    counts.push(countsOf(result, wanted))
    yield
  }
  const weights = rarity(counts, wanted)
  const scores: number[] = []
  for (const one of counts) {
    scores.push(wordScore(one, weights))
    yield
  }
  const byWords = scores.map((score, at) => ({ score, at })).filter(({ score }) => score > 0)
  byWords.sort((a, b) => b.score - a.score || a.at - b.at)
  const wordRank = new Map(byWords.map(({ at }, rank) => [at, rank]))
  const fused = byMeaning.map((result, at) => {
    const rank = wordRank.get(at)
    const score = 1 / (RANK_OFFSET + at) + (rank === undefined ? 0 : 1 / (RANK_OFFSET + rank))
    return { score, at, result: rank === undefined ? result : { ...result, why: ['vector', 'words'] as const } }
  })
  return fused.sort((a, b) => b.score - a.score || a.at - b.at).map(({ result }) => result)
}

/** Weighted number of occurrences of each query word in a result. */
type Counts = ReadonlyMap<string, number>

function countsOf({ title, content }: DetailedResult, wanted: ReadonlySet<string>): Counts {
  const counts = new Map<string, number>()
  const count = (text: string, by: number) => {
    for (const term of termsOf(text)) if (wanted.has(term)) counts.set(term, (counts.get(term) ?? 0) + by)
  }
  count(title, TITLE_FACTOR)
  count(content, 1)
  return counts
}

function rarity(results: readonly Counts[], wanted: ReadonlySet<string>): ReadonlyMap<string, number> {
  const holders = new Map<string, number>()
  for (const counts of results) for (const term of counts.keys()) holders.set(term, (holders.get(term) ?? 0) + 1)
  return new Map([...wanted].map(term => [term, Math.log(1 + results.length / ((holders.get(term) ?? 0) + 0.5))]))
}

function wordScore(counts: Counts, weights: ReadonlyMap<string, number>): number {
  let score = 0
  // The parts of the sum are added in the order of the query's words, not of the text's, so that results with equal parts get exactly equal
  // floating-point sums.
  for (const [term, weight] of weights) {
    const count = counts.get(term) ?? 0
    // Repeated words count less and less: the part is count / (count + 1.2), so the tenth occurrence adds little.
    score += (weight * count) / (count + 1.2)
  }
  return score
}

function termsOf(text: string): readonly string[] {
  return tokenise(fold(text)).map(({ term }) => term)
}

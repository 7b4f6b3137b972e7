/** Results, as the lens's contract has them: made of records, and arranged as one list over all collections. */
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
  /** The collection. */
  readonly source: string
  /** 0 to 1, two decimals. */
  readonly score: number
  readonly metadata: JsonObject
}

/** What JSON shows beside: the score before rounding, and what found it. */
export interface DetailedResult extends QueryResult {
  readonly id: string
  readonly rawScore: number
  readonly why: readonly Leg[]
  /** Ids that were folded into this one; absent without folding. */
  readonly relatedIds?: readonly string[] | undefined
  /** As `SourceRecord.key`, of this result and of those that were folded into it. */
  readonly key?: EntryKey | undefined
  readonly relatedKeys?: readonly EntryKey[] | undefined
}

export type Leg = 'vector' | 'words'

/** The day a result is from, as shown: `unknown` where it does not say. */
export function dateText({ metadata }: Pick<QueryResult, 'metadata'>): string {
  return recordDay(metadata) ?? 'unknown'
}

/** 0 to 1: the cosine, for vectors of length 1; `l2` is the squared Euclidean distance. A missing distance counts as 1. */
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

/** What one collection has to say, best first. */
export function* foundIn(
  { collection, records, space }: CollectionAnswer,
  { nResults, minScore, hybrid, query }: CollectionsRequest,
): Steps<readonly DetailedResult[]> {
  const results = records.map(record => resultOf(record, collection, space))
  const best = (hybrid ? yield* fuseWithWords(results, query) : results).slice(0, nResults)
  return best.filter(({ rawScore }) => minScore === undefined || rawScore >= minScore)
}

/** Best first; equal scores keep the order of the collections, then the store's. */
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

/** An item and the analysis that names it, as one result: the better of the two, with the other's id beside it. `results`: best first. An analysis of an item that is not among them is a result of its own. */
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

/** Ids are unique in a collection only: of several items of one id, that of another collection is meant. */
function subjectOf(result: DetailedResult, items: ReadonlyMap<string, readonly DetailedResult[]>): DetailedResult {
  const name = namedBy(result)
  if (name === null) return result
  const candidates = items.get(name) ?? []
  // A record may name itself; a plain item of that id comes first.
  const plain = candidates.filter(one => namedBy(one) === null)
  return plain.find(({ source }) => source !== result.source) ?? plain[0] ?? candidates[0] ?? result
}

/** The item's id that a record has in its metadata. */
function namedBy({ metadata }: DetailedResult): string | null {
  const name = metadata['item_id']
  return typeof name === 'string' && name !== '' ? name : null
}

/** How much less a lower rank counts; the usual constant of reciprocal rank fusion. */
const RANK_OFFSET = 60
/** A word of the title counts so often. */
const TITLE_FACTOR = 2

/** Fuses the order by meaning with an order by words, over title and content with accents and case folded. Best first, a step for each result. Every result was found by meaning; those with a word of the question say so. */
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

/** How often a result has the terms that are wanted. */
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
  // In the order of the question, whatever the order of the text: then equal sums are equal numbers.
  for (const [term, weight] of weights) {
    const count = counts.get(term) ?? 0
    // Saturates: the tenth occurrence says little that the third did not.
    score += (weight * count) / (count + 1.2)
  }
  return score
}

function termsOf(text: string): readonly string[] {
  return tokenise(fold(text)).map(({ term }) => term)
}

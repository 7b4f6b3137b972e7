/** One result, as the lens's contract has it, and how it is made of a record. */
import type { JsonObject } from '../../base/canonical.ts'
import type { EntryKey } from '../../model/entry.ts'
import { recordDay } from '../../model/record-date.ts'
import type { SourceRecord, Space } from '../../pipeline/source.ts'

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

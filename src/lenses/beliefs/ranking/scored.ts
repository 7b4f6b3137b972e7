/** A belief with its score, and the one order of all lists (BQ-082, BQ-083). */

import type { VectorIndex } from '../../../index/contract.ts'
import { clampCosine } from '../../../math/vector.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { BeliefSource, RankingWeights } from '../model.ts'

/** The parts of a score, 0 to 1 each; `semantic` is null in list mode. */
export interface Parts {
  readonly semantic: number | null
  readonly confidence: number
  readonly trust: number
  readonly recency: number
}

export interface ScoredBelief {
  /** Its row in the columns. */
  readonly row: number
  readonly entry: EntryKey
  readonly id: string
  /** Of this version. */
  readonly createdAt: number
  readonly source: BeliefSource
  /** As the requester is shown it; null: not at all. */
  readonly holder: string | null
  /** Raw, -1 to 1, or what its words stand in with; null in list mode. */
  readonly cosine: number | null
  /** It has no vector yet: its words stand in for one. */
  readonly isByWords?: boolean | undefined
  readonly parts: Parts
  readonly final: number
}

/** How far apart two numbers may be that were computed in single and in double precision. */
export const NEAR = 1e-5

/** The last result of a page, by its position in the total order. */
export type Boundary = Pick<ScoredBelief, 'final' | 'createdAt' | 'id'>

/** As it is chosen for an answer. */
export interface Picked {
  readonly scored: ScoredBelief
  /** 0, or minus what likeness took from its worth. */
  readonly penalty: number
}

export function unspread(scored: ScoredBelief): Picked {
  return { scored, penalty: 0 }
}

/** 0 to 1; the weights are together 1. */
export function finalOf({ semantic, confidence, trust, recency }: Parts, weights: RankingWeights): number {
  const meaning = semantic === null ? 0 : weights.semantic * semantic
  return meaning + weights.confidence * confidence + weights.trust * trust + weights.recency * recency
}

/** BQ-042. */
export function semanticOf(cosine: number): number {
  return (clampCosine(cosine) + 1) / 2
}

/** Total: final, then time, both descending; then id and what is shown of the holder, by code unit. */
export function byOrder(a: ScoredBelief, b: ScoredBelief): number {
  return (
    b.final - a.final ||
    b.createdAt - a.createdAt ||
    byCodeUnit(a.id, b.id) ||
    byCodeUnit(a.holder ?? '', b.holder ?? '')
  )
}

export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

export type Meaning =
  /** A query vector against the index. */
  | { readonly by: 'vector'; readonly index: VectorIndex; readonly vector: Float32Array }
  /** Share of the best BM25 score, 0 to 1, by entry; absent: 0. */
  | { readonly by: 'words'; readonly shares: ReadonlyMap<EntryKey, number> }
  /** List mode. */
  | { readonly by: 'nothing' }

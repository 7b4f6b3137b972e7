/** What the operations of the lens beliefs are asked by this view, and answer, where the lens has no type for it. */

import type { Dimension } from '../../../../src/lenses/beliefs/dimensions.ts'
import type { Belief, BeliefSource, RankedBelief, RankingWeights } from '../../../../src/lenses/beliefs/model.ts'
import { day } from '../../parts/format.ts'
import { addressOf } from '../../shell/router.ts'

/** All that the requester may see. Looking must not count as use of anybody's trust. */
export const LOOKING = {
  scope: { local: true, federated: true, network: true },
  dry_run: true,
} as const

/** Without words, what is listed must be let through by a filter: by this one all is. */
const EVERYTHING = { visibility_levels: ['public', 'federated', 'private'] } as const

export interface Question {
  readonly semantic: string
  readonly filters: object
  readonly options: object
}

/** `at`: ISO 8601; only what is valid then. Empty: whenever. */
export function questionOf(text: string, at: string, limit: number): Question {
  const filters = { ...(text.trim() === '' && EVERYTHING), ...(at !== '' && { valid_at: at }) }
  return { semantic: text, filters, options: { ...LOOKING, limit } }
}

/** Asks for what is like a text, whatever operators its signs would be. */
export function questionLike(text: string): string {
  return text.replace(/["+^-]/g, ' ').slice(0, 500)
}

/** Of an answer that is a part: of this node, or of one that was asked. */
export interface PartError {
  readonly code: string
  readonly message: string
  readonly node?: string
  readonly source?: BeliefSource
}

export interface Got {
  readonly belief: Belief
  readonly source: BeliefSource
  /** Newest first. */
  readonly history?: readonly Belief[]
}

export interface Contradicting extends RankedBelief {
  readonly contradiction: { readonly type: string; readonly score: number; readonly text: string }
}

export interface Contradictions {
  readonly contradictions: readonly Contradicting[]
  readonly total_count: number
  readonly detector: { readonly name: string; readonly note: string }
  /** Such as: without a vector nothing can be compared by meaning. */
  readonly warnings: readonly { readonly code: string; readonly message: string }[]
}

interface Part {
  readonly value: number | null
  readonly weight: number
}

export interface DirectTrust {
  readonly level: number
  readonly base: number
  readonly days_since_use: number
  readonly rate: number
  readonly value: number
  readonly distrusted: boolean
}

export interface TrustPart extends Part {
  readonly kind: 'self' | 'direct' | 'transitive' | 'reputation' | 'default'
  readonly of: 'holder' | 'federation'
  readonly direct?: DirectTrust
  readonly transitive?: { readonly band: string; readonly sources: string }
  /** All there is to show of what came through a federation. */
  readonly shared?: { readonly band: string; readonly sources: string }
}

export interface Explained {
  readonly final: number
  readonly semantic: Part & { readonly matched_terms: readonly string[] }
  readonly confidence: Part
  readonly trust: TrustPart
  readonly recency: Part & { readonly age_days: number; readonly pattern: string | null }
  readonly diversity_penalty: number
}

export interface Hint {
  readonly dimension: string
  readonly current: number | null
  readonly target: number
  readonly rank: number
}

interface PartDifference {
  readonly difference: number
  readonly contribution: number
}

export interface Versus {
  readonly matched: boolean
  readonly dropped_by?: { readonly reason: string }
  readonly ahead?: string
  readonly behind?: string
  readonly gap?: number
  readonly parts?: Readonly<Record<string, PartDifference>>
  /** Null: no weights would do. */
  readonly smallest_change?: { readonly weights: RankingWeights; readonly moved: number } | null
}

export interface Standing {
  readonly matched: boolean
  readonly summary: string
  readonly explanation?: Explained
  readonly hints?: readonly Hint[]
  readonly versus?: Versus
  readonly rank?: number
}

const NAMES: Readonly<Record<Dimension, string>> = {
  source_reliability: 'Source reliability',
  method_quality: 'Method quality',
  internal_consistency: 'Internal consistency',
  temporal_freshness: 'Freshness',
  corroboration: 'Corroboration',
  domain_applicability: 'Domain fit',
}

export function dimensionName(dimension: Dimension): string {
  return NAMES[dimension]
}

export function plain(name: string): string {
  return name.replaceAll('_', ' ')
}

/** As far as who looks may know it. */
export function holderOf({ holder_id }: Belief): string {
  return holder_id ?? 'somebody in a federation that names nobody'
}

/** `node`: the one that answered with it; absent: this one. */
export function sourceName({ kind, id }: BeliefSource, node?: string): string {
  if (kind === 'federated' && id !== null) return `federation ${id}${node === undefined ? '' : ` by node ${node}`}`
  if (node !== undefined) return `node ${node}`
  return kind === 'local' ? 'this node' : kind
}

export function validity({ valid_from, valid_until }: Belief): string {
  return `${day(valid_from)} – ${valid_until === null ? 'open' : day(valid_until)}`
}

export function contentOf({ content, deleted_at }: Belief): string {
  return deleted_at === null ? content : 'Deleted by its holder.'
}

/** The question goes with it: what a belief is worth is said for a question. */
export function beliefAddress(ids: readonly string[], question: string): string {
  return addressOf('beliefs', ids, { q: question })
}

/** A belief with its score, and the one order of all lists (BQ-082, BQ-083). */
import type { Instant } from '../../../base/clock.ts'
import type { VectorSearcher } from '../../../index/contract.ts'
import { clampCosine } from '../../../math/vector.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Requester } from '../access/requester.ts'
import { type RowOrigins, type ShowView, trustedAsRemote, trustedThrough } from '../access/show.ts'
import { DIMENSION_COUNT, FRESHNESS } from '../columns/column-arrays.ts'
import { type BeliefColumns, domainRates, type SharedRows, sharedAmong } from '../columns/columns.ts'
import type { Matches } from '../matching/in-scope.ts'
import { confidenceByColumn, type DecayTable, recency } from '../measures/confidence.ts'
import { type BeliefSource, type DimensionWeights, type RankingWeights, SCOPE_KINDS } from '../model.ts'
import type { RemoteBelief } from '../nodes/remote-belief.ts'
import type { CheckedContext } from '../schema/filters.ts'
import type { TrustIn, TrustQuestion } from '../trust/edge.ts'
import type { HolderColumns, HolderTrust } from '../trust/holders.ts'

/** The components of a score, 0 to 1 each; `semantic` is null in list mode. */
export interface Parts {
  readonly semantic: number | null
  readonly confidence: number
  readonly trust: number
  readonly recency: number
}

export interface ScoredBelief {
  /** Row of the belief in the columns. */
  readonly row: number
  readonly entry: EntryKey
  readonly id: string
  /** Creation time of this version. */
  readonly createdAt: number
  readonly source: BeliefSource
  /** Name of the holder as the requester sees it; null: hidden. */
  readonly holder: string | null
  /** Raw cosine, -1 to 1, or the value that its words give instead; null in list mode. */
  readonly cosine: number | null
  /** Whether the belief is compared by words, because it has no vector yet. */
  readonly isByWords?: boolean | undefined
  readonly parts: Parts
  readonly final: number
}

/** Largest difference between a number computed in single and in double precision. */
export const NEAR = 1e-5

/** Position of the last result of a page in the total order. */
export type Boundary = Pick<ScoredBelief, 'final' | 'createdAt' | 'id'>

/** Compares positions; no two results of one query have the same id. */
export function compareBoundaries(a: Boundary, b: Boundary): number {
  return byOrder({ ...a, holder: null } as ScoredBelief, { ...b, holder: null } as ScoredBelief)
}

/**
 * Results of other nodes for a query: candidates like this node's own, verified, filtered and scored by this node (BQ-125). Their entry
 * keys are negative, unlike all keys of this node's store, and they have no rows.
 */
export interface RemoteLeg {
  /** Scored results in the total order, without copies of each other. */
  readonly scored: readonly ScoredBelief[]
  /** All beliefs received, by entry key, including those that do not match. */
  readonly remotes: ReadonlyMap<EntryKey, RemoteBelief>
  /** Number of received beliefs that have no vector. */
  readonly pending: number
  /** The beliefs that came closest to the text, if none matches. */
  readonly nearest: readonly ScoredBelief[]
  /** Approximate bytes of all texts and vectors. */
  readonly byteLength: number
}

/** A result as selected for an answer. */
export interface Picked {
  readonly scored: ScoredBelief
  /** 0, or the negative amount by which similarity reduced its value. */
  readonly penalty: number
}

export function unspread(scored: ScoredBelief): Picked {
  return { scored, penalty: 0 }
}

/** The score, 0 to 1; the weights have the sum 1. */
export function finalOf({ semantic, confidence, trust, recency }: Parts, weights: RankingWeights): number {
  const meaning = semantic === null ? 0 : weights.semantic * semantic
  return meaning + weights.confidence * confidence + weights.trust * trust + weights.recency * recency
}

/** The semantic component of a score from a cosine, 0 to 1 (BQ-042). */
export function semanticOf(cosine: number): number {
  return (clampCosine(cosine) + 1) / 2
}

/** The total order: score, then time, both descending; then id and the shown holder, by code unit. */
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
  /** Similarity by meaning: a query vector is compared with the vectors in the index. */
  | { readonly by: 'vector'; readonly index: VectorSearcher; readonly vector: Float32Array }
  /** Similarity by words: BM25 as a share of the best score, 0 to 1, by entry; absent: 0. */
  | { readonly by: 'words'; readonly shares: ReadonlyMap<EntryKey, number> }
  /** In list mode, nothing is compared with a text. */
  | { readonly by: 'nothing' }

// Removal of copies (BQ-130). Of beliefs with the same id one is kept. Of beliefs with the same content, those from the source of the best
// one are kept, and of those through one federation only the best.

interface CopyGroup {
  readonly same: keyof SharedRows
  readonly rows: readonly number[]
  readonly remotes: readonly ScoredBelief[]
}

/**
 * Groups of matches and results of other nodes with the same id, then those with the same content, two or more each. Copies among the
 * results of other nodes have been removed before.
 */
export function copyGroups(matches: Matches, columns: BeliefColumns, leg: RemoteLeg | null): readonly CopyGroup[] {
  const { texts, arrays } = columns
  const shared = sharedAmong(columns, matches.rows)
  const contentOf = ({ entry }: ScoredBelief) => leg?.remotes.get(entry)?.belief.content_hash ?? ''
  return [
    ...groupsOf(
      'id',
      shared.id,
      arrays.ids,
      remotesBy(leg, ({ id }) => texts.idNumber(id)),
      id => matchesFrom(matches, columns.firstOfId(id), row => columns.nextOfId(row)),
    ),
    ...groupsOf(
      'content',
      shared.content,
      arrays.contents,
      remotesBy(leg, one => texts.contentNumber(contentOf(one))),
      content => matchesFrom(matches, columns.firstOfContent(content), row => columns.nextCopy(row)),
    ),
  ]
}

/** Remote beliefs by the number of the id or content that they share with rows of this node; those that share none are left out. */
function remotesBy(leg: RemoteLeg | null, numberOf: (one: ScoredBelief) => number): Map<number, ScoredBelief[]> {
  const found = Map.groupBy(leg?.scored ?? [], numberOf)
  found.delete(-1)
  return found
}

function matchesFrom(matches: Matches, first: number, next: (row: number) => number): readonly number[] {
  const rows: number[] = []
  for (let row = first; row !== -1; row = next(row)) if (matches.has(row)) rows.push(row)
  return rows
}

/** `rowsOf`: the matches with a number, for numbers that only remote beliefs share. */
function groupsOf(
  same: CopyGroup['same'],
  shared: readonly number[],
  numbers: Int32Array,
  remotes: ReadonlyMap<number, readonly ScoredBelief[]>,
  rowsOf: (number: number) => readonly number[],
): readonly CopyGroup[] {
  const groups = new Map<number, number[]>()
  for (const row of shared) {
    const number = numbers[row] as number
    const group = groups.get(number)
    if (group === undefined) groups.set(number, [row])
    else group.push(row)
  }
  for (const number of remotes.keys()) if (!groups.has(number)) groups.set(number, [...rowsOf(number)])
  return [...groups]
    .filter(([, rows]) => rows.length > 0)
    .map(([number, rows]) => ({ same, rows, remotes: remotes.get(number) ?? [] }))
}

/**
 * Selects the copies to drop from groups of beliefs with the same id or content hash, in any order. `byTier`: local is preferred over
 * federated, and that over network.
 */
export function copiesToDrop(
  groups: Iterable<{ readonly same: CopyGroup['same']; readonly members: readonly ScoredBelief[] }>,
  preferring: Preference,
): ReadonlySet<ScoredBelief> {
  const dropped = new Set<ScoredBelief>()
  // Ids first, so that a copy that is dropped for its id does not decide about copies of its content.
  const sorted = [...groups].sort((a, b) => Number(a.same === 'content') - Number(b.same === 'content'))
  for (const { same, members } of sorted) {
    const left = members.filter(member => !dropped.has(member))
    const kept = best(left, preferring)
    if (kept === undefined) continue
    for (const member of left) {
      if (member !== kept && (same === 'id' || isCopy(member, kept))) dropped.add(member)
    }
  }
  return dropped
}

interface Preference {
  readonly byTier: boolean
  /** The requester, whose own beliefs are preferred whatever source they come through. */
  readonly requester: string
}

/** The copy to keep: the requester's own, otherwise the first in order; with `byTier`, from the earliest tier. */
function best(members: readonly ScoredBelief[], { byTier, requester }: Preference): ScoredBelief | undefined {
  const rank = ({ source, holder }: ScoredBelief) =>
    byTier ? SCOPE_KINDS.indexOf(source.kind) : holder === requester ? 0 : 1
  return members.toSorted((a, b) => rank(a) - rank(b) || byOrder(a, b))[0]
}

function isCopy({ source }: ScoredBelief, { source: kept }: ScoredBelief): boolean {
  return source.kind !== kept.kind || source.id !== kept.id || kept.kind === 'federated'
}

// Computes the components of a belief's score (BQ-080 to BQ-082).

interface ScorerWorld {
  readonly columns: BeliefColumns
  readonly asOf: Instant
  readonly queryDomains: readonly string[]
  readonly confidenceWeights: DimensionWeights
  readonly weights: RankingWeights
  readonly decay: DecayTable
  readonly trust: HolderTrust
  readonly trustColumns: HolderColumns
  readonly origins: RowOrigins
}

export class Scorer {
  readonly #world: ScorerWorld
  readonly #confidence: (values: ArrayLike<number>, at: number) => number
  /** Decay rate of freshness, by domain set. */
  readonly #rate: (domainSet: number) => number
  /** Trust in each holder, by number of the holder. */
  readonly #trust: (holder: number) => number

  constructor(world: ScorerWorld) {
    const { columns, queryDomains, decay, confidenceWeights, trust } = world
    this.#world = world
    this.#trust = trust.valuesIn(holderNames(columns))
    this.#confidence = confidenceByColumn(confidenceWeights)
    this.#rate = domainRates(columns, queryDomains, decay)
  }

  score(row: number, source: number, cosine: number | null, isByWords = false): ScoredBelief {
    const { columns, weights, origins } = this.#world
    const parts = this.parts(row, source, cosine)
    return {
      row,
      entry: columns.arrays.entries[row] as number,
      id: columns.idOf(row),
      createdAt: columns.arrays.created[row] as number,
      source: origins.sourceOf(row, source),
      holder: origins.holderShown(row, source),
      cosine,
      ...(isByWords && { isByWords }),
      parts,
      final: finalOf(parts, weights),
    }
  }

  parts(row: number, source: number, cosine: number | null): Parts {
    const { columns, asOf } = this.#world
    const { confidences, created } = columns.arrays
    return {
      semantic: cosine === null ? null : semanticOf(cosine),
      confidence: this.confidence(row),
      trust: this.trust(row, source),
      recency: recency(
        confidences[row * DIMENSION_COUNT + FRESHNESS] as number,
        created[row] as number,
        asOf,
        this.rate(row),
      ),
    }
  }

  confidence(row: number): number {
    return this.#confidence(this.#world.columns.arrays.confidences, row * DIMENSION_COUNT)
  }

  trust(row: number, source: number): number {
    const { trust, columns, origins } = this.#world
    const as = origins.trustedAs(row, source)
    return as === null ? this.#trust(columns.arrays.holders[row] as number) : trust.as(as).value
  }

  /** Decay rate per day for the domains of the row's belief. */
  rate(row: number): number {
    return this.#rate(this.#world.columns.arrays.domainSets[row] as number)
  }
}

// The requester's trust in holders, by number of the holder; used by filters and ranking.

/** The parameters of a context that affect trust. */
export function trustQuestion({
  queryDomains,
  domainTrustWeight,
  maxTrustHops,
  transitiveDamping,
}: Pick<CheckedContext, 'queryDomains' | 'domainTrustWeight' | 'maxTrustHops' | 'transitiveDamping'>): TrustQuestion {
  return { domains: queryDomains, domainTrustWeight, maxHops: maxTrustHops, damping: transitiveDamping }
}

export function trustColumns(trust: HolderTrust, columns: BeliefColumns): HolderColumns {
  return trust.columns(holderNames(columns))
}

interface Names {
  readonly mark: string
  readonly names: readonly string[]
}

const NAMES = new WeakMap<BeliefColumns, Names>()

/** Names of holders by number; computed again when there is a new holder. */
export function holderNames(columns: BeliefColumns): readonly string[] {
  const known = NAMES.get(columns)
  if (known?.mark === columns.texts.holdersMark) return known.names
  const names = Array.from({ length: columns.texts.bounds.holders }, (_, number) => columns.texts.holder(number))
  NAMES.set(columns, { mark: columns.texts.holdersMark, names })
  return names
}

export interface TrustFound {
  readonly trust: TrustIn
  /** Whose trust counts: a strict federation counts as a whole (BQ-104). */
  readonly of: 'holder' | 'federation'
  /** Whether the belief came through a federation, so that only the band of the trust may be shown (BQ-107). */
  readonly isShared: boolean
}

export interface TrustWorld {
  readonly trust: HolderTrust
  readonly requester: Requester
  readonly view: ShowView
}

/** What the trust component of a score is based on. */
export function trustFound({ trust, requester, view }: TrustWorld, { source, row, entry }: ScoredBelief): TrustFound {
  const remote = view.remotes?.get(entry)
  const as =
    remote === undefined ? trustedThrough(requester, source, view.columns.holderOf(row)) : trustedAsRemote(remote)
  if (as === null) return { trust: trust.of(view.columns.holderOf(row)), of: 'holder', isShared: false }
  const isShared = source.kind === 'federated'
  return { trust: trust.as(as), of: isShared && as.member === null ? 'federation' : 'holder', isShared }
}

/** A belief with its score, and the order that is used for all lists of results (BQ-082, BQ-083). */
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

/** The components of a score, 0 to 1 each; `semantic` is null if the query has no text. */
export interface Parts {
  readonly semantic: number | null
  readonly confidence: number
  readonly trust: number
  readonly recency: number
}

export interface ScoredBelief {
  /** Row of the belief in the columns; negative for a belief from another node. */
  readonly row: number
  readonly entry: EntryKey
  readonly id: string
  /** Creation time of the current version of the belief. */
  readonly createdAt: number
  readonly source: BeliefSource
  /** Name of the belief's holder as the requester sees it, possibly a pseudonym; null: the holder is hidden. */
  readonly holder: string | null
  /**
   * Raw cosine to the query's text, -1 to 1, or the cosine expected from the belief's words if it has no vector; null if the query has no
   * text.
   */
  readonly cosine: number | null
  /** Whether the belief was compared with the text by words because it has no vector yet. */
  readonly isByWords?: boolean | undefined
  readonly parts: Parts
  readonly final: number
}

/** Tolerance for comparing a cosine computed in single precision with one computed in double precision. */
export const NEAR = 1e-5

/** Position of a result in the order of results, such as the end of a page: score, creation time and id. */
export type Boundary = Pick<ScoredBelief, 'final' | 'createdAt' | 'id'>

/** Compares two positions in the order of results; the holder is not needed, because no two results of one query have the same id. */
export function compareBoundaries(a: Boundary, b: Boundary): number {
  return byOrder({ ...a, holder: null } as ScoredBelief, { ...b, holder: null } as ScoredBelief)
}

/**
 * Results of other nodes for a query: beliefs that were verified, filtered and scored on this node (BQ-125). Their entry keys are negative,
 * unlike all keys of this node's store, and they have no rows in the columns.
 */
export interface RemoteLeg {
  /** Scored results ordered by score, of which no two are copies of each other. */
  readonly scored: readonly ScoredBelief[]
  /** All beliefs received from other nodes, by entry key, including those that do not match. */
  readonly remotes: ReadonlyMap<EntryKey, RemoteBelief>
  /** Number of received beliefs that pass filters and operators but have no vector. */
  readonly pending: number
  /** If no received belief matches, the received beliefs nearest to the text; otherwise empty. */
  readonly nearest: readonly ScoredBelief[]
  /** Approximate bytes of all received texts and vectors. */
  readonly byteLength: number
}

/** A result selected for an answer, and the penalty by which similarity to results selected before lowered its value. */
export interface Picked {
  readonly scored: ScoredBelief
  /** 0, or a negative number: the amount by which similarity to earlier results lowered the value of this result. */
  readonly penalty: number
}

export function unspread(scored: ScoredBelief): Picked {
  return { scored, penalty: 0 }
}

/** The score of a belief, 0 to 1: the weighted sum of its components, with weights whose sum is 1. */
export function finalOf({ semantic, confidence, trust, recency }: Parts, weights: RankingWeights): number {
  const meaning = semantic === null ? 0 : weights.semantic * semantic
  return meaning + weights.confidence * confidence + weights.trust * trust + weights.recency * recency
}

/** The semantic component of a score, 0 to 1, from a cosine: (cosine + 1) / 2 (BQ-042). */
export function semanticOf(cosine: number): number {
  return (clampCosine(cosine) + 1) / 2
}

/**
 * Comparator for the order of results: higher score first, then newer first, then by id and by the holder's shown name, both by UTF-16 code
 * units.
 */
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
  /** Comparison by meaning: the text's vector is compared with the vectors in the index. */
  | { readonly by: 'vector'; readonly index: VectorSearcher; readonly vector: Float32Array }
  /** Comparison by words. `shares`: by entry, its BM25 score divided by the best score, 0 to 1; an absent entry has 0. */
  | { readonly by: 'words'; readonly shares: ReadonlyMap<EntryKey, number> }
  /** The query has no text, so nothing is compared. */
  | { readonly by: 'nothing' }

// Removal of copies of a belief (BQ-130). Of beliefs with equal ids only one is kept. Of beliefs with equal contents, the best one
// determines a source (own, a federation, or network): only copies from this source are kept, and if it is a federation, only the best one.

interface CopyGroup {
  readonly same: keyof SharedRows
  readonly rows: readonly number[]
  readonly remotes: readonly ScoredBelief[]
}

/**
 * Groups of copies among the matches and the results of other nodes: first groups with equal ids, then groups with equal contents, of at
 * least two beliefs each. Copies among the results of other nodes alone were removed before.
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

/**
 * Other nodes' beliefs by the number that this node has for their id or content; beliefs whose id or content does not occur on this node
 * are left out.
 */
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

/**
 * Groups beliefs of this node (rows) and of other nodes that have the same number in `numbers`, which represents their id or content.
 * `shared`: rows whose number another row has too. `rowsOf`: finds the rows with a number that only one row, but also a belief of another
 * node, has.
 */
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
 * Selects the copies to drop from groups of beliefs with equal ids or equal contents, given in any order. `byTier`: own beliefs are
 * preferred over federated ones, and those over public ones.
 */
export function copiesToDrop(
  groups: Iterable<{ readonly same: CopyGroup['same']; readonly members: readonly ScoredBelief[] }>,
  preferring: Preference,
): ReadonlySet<ScoredBelief> {
  const dropped = new Set<ScoredBelief>()
  // Groups with equal ids are handled first, so that a belief dropped for its id has no influence on which copies of its content are
  // dropped.
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
  /** The requester, whose own beliefs are preferred from whichever source they come. */
  readonly requester: string
}

/**
 * The copy to keep: the requester's own, otherwise the one with the highest score; with `byTier`, the one from the first source kind (own,
 * federated, network), then by score.
 */
function best(members: readonly ScoredBelief[], { byTier, requester }: Preference): ScoredBelief | undefined {
  const rank = ({ source, holder }: ScoredBelief) =>
    byTier ? SCOPE_KINDS.indexOf(source.kind) : holder === requester ? 0 : 1
  return members.toSorted((a, b) => rank(a) - rank(b) || byOrder(a, b))[0]
}

function isCopy({ source }: ScoredBelief, { source: kept }: ScoredBelief): boolean {
  return source.kind !== kept.kind || source.id !== kept.id || kept.kind === 'federated'
}

// Computes the four components of a belief's score (BQ-080 to BQ-082).

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
  /** Decay rate of freshness per day, by number of the domain set. */
  readonly #rate: (domainSet: number) => number
  /** The requester's trust in each holder, 0 to 1, by number of the holder. */
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

  /** Decay rate of freshness per day for the domains of a row's belief. */
  rate(row: number): number {
    return this.#rate(this.#world.columns.arrays.domainSets[row] as number)
  }
}

// The parameters of a query's context that affect trust, as input of the trust graph.

/** The parameters of a query's context on which trust in a holder depends. */
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

/** Names of holders by their numbers; cached until a new holder gets a number. */
export function holderNames(columns: BeliefColumns): readonly string[] {
  const known = NAMES.get(columns)
  if (known?.mark === columns.texts.holdersMark) return known.names
  const names = Array.from({ length: columns.texts.bounds.holders }, (_, number) => columns.texts.holder(number))
  NAMES.set(columns, { mark: columns.texts.holdersMark, names })
  return names
}

export interface TrustFound {
  readonly trust: TrustIn
  /**
   * Whose trust value counts for the belief: that of its holder, or that of the federation as a whole. The latter applies to strict
   * federations, which hide their holders completely (BQ-104).
   */
  readonly of: 'holder' | 'federation'
  /**
   * Whether the belief came through a federation, so that trust in its holder may only be shown as a band: low, medium or high (BQ-107).
   */
  readonly isShared: boolean
}

export interface TrustWorld {
  readonly trust: HolderTrust
  readonly requester: Requester
  readonly view: ShowView
}

/** The trust that counts for a belief: in its holder, or in the federation through which the belief came. */
export function trustFound({ trust, requester, view }: TrustWorld, { source, row, entry }: ScoredBelief): TrustFound {
  const remote = view.remotes?.get(entry)
  const as =
    remote === undefined ? trustedThrough(requester, source, view.columns.holderOf(row)) : trustedAsRemote(remote)
  if (as === null) return { trust: trust.of(view.columns.holderOf(row)), of: 'holder', isShared: false }
  const isShared = source.kind === 'federated'
  return { trust: trust.as(as), of: isShared && as.member === null ? 'federation' : 'holder', isShared }
}

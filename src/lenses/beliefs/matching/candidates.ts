/**
 * Selects candidates: the beliefs that the query's text is about, before trust counts (BQ-043). Among the beliefs that pass filters and
 * operators, these are the nearest in meaning, down to a minimum cosine; and, at any distance, those that literally contain a phrase or a
 * required term. A belief without a vector is compared by its words.
 */
import type { Steps } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { PartitionId } from '../../../model/partition.ts'
import { expectedCosine, USUAL_BASE } from '../../../pipeline/partly-embedded.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import type { Meaning } from '../ranking/scored.ts'
import type { Matches } from './in-scope.ts'

/** Maximum number of candidates that are selected by their nearness to the text. */
export const MAX_NEAREST = 1_000
/** Maximum number of nearest beliefs that are reported if the query has no candidates. */
export const MAX_REPORTED = 3

/**
 * An entry and its raw cosine to the query's text. For a belief without a vector, an expected cosine computed from the words that it shares
 * with the text.
 */
export interface Near {
  readonly entry: EntryKey
  readonly cosine: number
}

export interface CandidateRequest {
  readonly columns: BeliefColumns
  readonly partitions: readonly PartitionId[]
  readonly meaning: Exclude<Meaning, { by: 'nothing' }>
  /**
   * The embedding model's factor `cosineScale`, which makes cosines of different models comparable: comparable cosine = raw cosine ·
   * factor.
   */
  readonly scale: number
  /** Minimum raw cosine of a candidate; null: no minimum. */
  readonly floor: number | null
  /** Maximum number of candidates selected by nearness to the text. */
  readonly most: number
  /**
   * Whether the search by meaning may be approximate: it may then miss a near belief now and then, and the cosines after the first dozen are
   * within 0.01.
   */
  readonly approximate?: boolean | undefined
  readonly inScope: Matches
  /** Returns the given beliefs that pass the query's filters and operators. */
  narrow(matches: Matches): Steps<Matches>
  /** Returns the given beliefs that literally contain a phrase or a required term of the text. Null: the text has neither. */
  readonly holding: ((matches: Matches) => Steps<Matches>) | null
  /** For each of the given beliefs, the share of the text's words that it contains, 0 to 1. */
  wordShares(matches: Matches): Steps<ReadonlyMap<EntryKey, number>>
}

export interface Candidates {
  readonly matches: Matches
  /** For each candidate, its raw cosine to the text, or the cosine expected from its words if it has no vector. */
  readonly cosines: ReadonlyMap<EntryKey, number>
  /** Candidates that have no vector and were compared by their words. */
  readonly byWords: ReadonlySet<EntryKey>
  /** Whether more beliefs reached the minimum cosine than the maximum number of candidates, so that the farthest were left out. */
  readonly isCut: boolean
  /** Number of beliefs that pass filters and operators but have no vector yet. */
  readonly pending: number
  /** If there are no candidates, the beliefs nearest to the text, nearest first; otherwise empty. */
  readonly nearest: readonly Near[]
}

export function* findCandidates(request: CandidateRequest): Steps<Candidates> {
  const { meaning, inScope, narrow, holding, floor, most, columns } = request
  const late = meaning.by === 'vector' ? yield* narrow(withoutVector(request, meaning)) : inScope.only([])
  const shares = late.count === 0 ? NO_SHARES : yield* request.wordShares(late)
  const standIns = nearestByWords(request, late, shares, floor)
  let passing: Matches | null = null
  let near: readonly Near[] | null = null
  // Usually filters are applied only to the beliefs found near the text, which are few. They are applied to all beliefs in scope, before
  // searching again, only if more are near than the maximum number of candidates.
  const first = holding === null ? nearest(request, inScope, most + 1, floor) : null
  if (first !== null && first.length <= most) {
    const met = inScope.only(first.map(({ entry }) => entry))
    const kept = yield* narrow(met)
    near = kept === met ? first : first.filter(({ entry }) => kept.has(columns.rowOf(entry)))
  }
  if (near === null || near.length + standIns.length === 0) passing = yield* narrow(inScope)
  // Here the first search, among all beliefs in scope, had found too many near ones. If all beliefs in scope pass filters and operators, a
  // search among the passing ones would find the same, so the first result is reused.
  if (near === null && passing?.count === inScope.count) near = first
  near ??= nearest(request, passing as Matches, most + 1, floor)
  const found = [...near, ...standIns].sort(nearestFirst)
  const chosen = found.slice(0, most)
  const cosines = new Map(chosen.map(({ entry, cosine }) => [entry, cosine]))
  if (holding !== null) {
    const held: Matches = yield* holding(passing as Matches)
    const rest = entriesOf(columns, held).filter(entry => !cosines.has(entry))
    for (const { entry, cosine } of measured(request, rest, shares)) cosines.set(entry, cosine)
  }
  const matches = inScope.only(cosines.keys())
  const lateEntries = entriesOf(columns, late)
  return {
    matches,
    cosines,
    byWords: new Set(lateEntries.filter(entry => cosines.has(entry))),
    isCut: found.length > most,
    pending: late.count,
    nearest:
      matches.count > 0
        ? []
        : [...nearest(request, passing as Matches, MAX_REPORTED, null), ...nearestByWords(request, late, shares, null)]
            .sort(nearestFirst)
            .slice(0, MAX_REPORTED),
  }
}

/** Result of an earlier search for a text without operators and filters, at a time when all beliefs in scope had vectors. */
export interface EarlierSearch {
  readonly cosines: ReadonlyMap<EntryKey, number>
  readonly isCut: boolean
  /** Minimum raw cosine with which the search was made; null: no minimum. */
  readonly floor: number | null
}

/**
 * Derives what a new search for the text would find from the result of an earlier search, by computing one cosine for each changed entry.
 * `changed`: all entries written since the earlier search. Null: the result cannot be derived, and a new search is needed.
 */
export function candidatesSince(
  { cosines: before, isCut, floor }: EarlierSearch,
  changed: Iterable<EntryKey>,
  {
    inScope,
    columns,
    most,
    cosineOf,
  }: Pick<CandidateRequest, 'columns' | 'most'> & {
    readonly inScope: Pick<Matches, 'has' | 'only'>
    /** Raw cosine of an entry to the query's text; null: the entry has no vector yet. */
    cosineOf(entry: EntryKey): number | null
  },
): Candidates | null {
  const cosines = new Map(before)
  for (const entry of changed) {
    // If a candidate of the earlier search was changed, a belief that the earlier search left out may take its place, so a new search is
    // needed.
    if (before.has(entry)) return null
    if (!inScope.has(columns.rowOf(entry))) continue
    const cosine = cosineOf(entry)
    if (cosine === null) return null
    if (floor === null || cosine >= floor) cosines.set(entry, cosine)
  }
  const isOver = cosines.size > most
  if (isOver) {
    const found = Array.from(cosines, ([entry, cosine]) => ({ entry, cosine }))
    for (const { entry } of found.sort(nearestFirst).slice(most)) cosines.delete(entry)
  }
  const matches = inScope.only(cosines.keys())
  if (matches.count === 0 || matches.count < cosines.size) return null
  return { matches, cosines, byWords: new Set(), isCut: isCut || isOver, pending: 0, nearest: [] }
}

const NO_SHARES: ReadonlyMap<EntryKey, number> = new Map()

/** At most k of the beliefs `within` whose cosine to the text reaches the minimum, nearest first. */
function nearest(request: CandidateRequest, within: Matches, k: number, floor: number | null): readonly Near[] {
  const { meaning, partitions, approximate } = request
  if (within.count === 0) return []
  if (meaning.by === 'words') return nearestByWords(request, within, meaning.shares, floor).slice(0, k)
  const least = floor === null ? {} : { least: floor }
  const hits = meaning.index.search({
    vector: meaning.vector,
    k,
    partitions,
    allow: within.bits,
    approximate,
    ...least,
  })
  return hits.map(({ entry, score }) => ({ entry, cosine: score }))
}

/**
 * Beliefs without a vector, nearest first by the words that they share with the text. If there is a minimum cosine, a belief that shares no
 * word never reaches it.
 */
function nearestByWords(
  request: CandidateRequest,
  within: Matches,
  shares: ReadonlyMap<EntryKey, number>,
  floor: number | null,
): readonly Near[] {
  const found: Near[] = []
  for (const entry of entriesOf(request.columns, within)) {
    const share = shares.get(entry) ?? 0
    const cosine = standIn(share, request.scale)
    if (floor === null || (share > 0 && cosine >= floor)) found.push({ entry, cosine })
  }
  return found.sort(nearestFirst)
}

/** The raw cosine to expect for a belief that contains this share (0 to 1) of the text's words (decision 014); 0 if it contains none. */
export function standIn(share: number, scale: number): number {
  return share > 0 ? expectedCosine(share, 1, USUAL_BASE) / scale : 0
}

/** Raw cosines of these entries to the text, without a minimum. */
function measured(
  { meaning, partitions, scale }: CandidateRequest,
  entries: readonly EntryKey[],
  shares: ReadonlyMap<EntryKey, number>,
): readonly Near[] {
  const byWords = meaning.by === 'words' ? meaning.shares : shares
  const cosines = new Map(entries.map(entry => [entry, standIn(byWords.get(entry) ?? 0, scale)]))
  if (meaning.by === 'vector') {
    for (const { entry, score } of meaning.index.score(meaning.vector, entries, { partitions })) {
      cosines.set(entry, score)
    }
  }
  return [...cosines].map(([entry, cosine]) => ({ entry, cosine }))
}

/** Beliefs in scope that have no vector; takes almost no time if all have one. */
function withoutVector(
  { inScope, partitions, columns }: CandidateRequest,
  { index }: Extract<Meaning, { by: 'vector' }>,
): Matches {
  if (index.count({ partitions, allow: inScope.bits }) === inScope.count) return inScope.only([])
  const { entries } = columns.arrays
  return inScope.where(row => !index.has(entries[row] as EntryKey, { partitions }))
}

function entriesOf({ arrays: { entries } }: BeliefColumns, { rows }: Matches): readonly EntryKey[] {
  return Array.from(rows, row => entries[row] as EntryKey)
}

/** Comparator for sorting: highest cosine first, equal cosines by entry key, which is also the order of the vector index. */
function nearestFirst(a: Near, b: Near): number {
  return b.cosine - a.cosine || a.entry - b.entry
}

/**
 * The candidate step (BQ-043): selects the beliefs that a text is about, before trust counts. Candidates are, among the beliefs that pass
 * filters and operators, the nearest in meaning, down to a minimum cosine; and, at any distance, those that literally contain a phrase or
 * an included term. A belief without a vector is compared by its words.
 */
import type { Steps } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { PartitionId } from '../../../model/partition.ts'
import { expectedCosine, USUAL_BASE } from '../../../pipeline/partly-embedded.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import type { Meaning } from '../ranking/scored.ts'
import type { Matches } from './in-scope.ts'

/** Largest number of candidates that the search by meaning returns. */
export const MAX_NEAREST = 1_000
/** Number of nearest beliefs reported if there are no candidates. */
export const MAX_REPORTED = 3

/** An entry and its raw cosine, or the value that its words give instead. */
export interface Near {
  readonly entry: EntryKey
  readonly cosine: number
}

export interface CandidateRequest {
  readonly columns: BeliefColumns
  readonly partitions: readonly PartitionId[]
  readonly meaning: Exclude<Meaning, { by: 'nothing' }>
  /** The model's factor `cosineScale`. */
  readonly scale: number
  /** Minimum raw cosine; null: no minimum. */
  readonly floor: number | null
  /** Maximum number of nearest beliefs. */
  readonly most: number
  readonly inScope: Matches
  /** Selects the matches that pass filters and operators. */
  narrow(matches: Matches): Steps<Matches>
  /** Selects the matches that literally contain a phrase or an included term. Null: the text has neither. */
  readonly holding: ((matches: Matches) => Steps<Matches>) | null
  /** The share of the text's words that each match contains, 0 to 1. */
  wordShares(matches: Matches): Steps<ReadonlyMap<EntryKey, number>>
}

export interface Candidates {
  readonly matches: Matches
  /** For each candidate, its cosine, or the value that its words give instead. */
  readonly cosines: ReadonlyMap<EntryKey, number>
  /** Candidates without a vector, which are compared by their words. */
  readonly byWords: ReadonlySet<EntryKey>
  /** Whether more beliefs are near enough than were returned. */
  readonly isCut: boolean
  /** Number of beliefs that pass filters and operators and have no vector yet. */
  readonly pending: number
  /** The beliefs that came closest to the text, best first, if there are no candidates. */
  readonly nearest: readonly Near[]
}

export function* findCandidates(request: CandidateRequest): Steps<Candidates> {
  const { meaning, inScope, narrow, holding, floor, most, columns } = request
  const late = meaning.by === 'vector' ? yield* narrow(withoutVector(request, meaning)) : inScope.only([])
  const shares = late.count === 0 ? NO_SHARES : yield* request.wordShares(late)
  const standIns = nearestByWords(request, late, shares, floor)
  let passing: Matches | null = null
  let near: readonly Near[] | null = null
  // Filters are applied to the near beliefs only, unless there are too many of these.
  const first = holding === null ? nearest(request, inScope, most + 1, floor) : null
  if (first !== null && first.length <= most) {
    const met = inScope.only(first.map(({ entry }) => entry))
    const kept = yield* narrow(met)
    near = kept === met ? first : first.filter(({ entry }) => kept.has(columns.rowOf(entry)))
  }
  if (near === null || near.length + standIns.length === 0) passing = yield* narrow(inScope)
  // If all beliefs in scope pass, a second search would give the same result.
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

/** Result of an earlier search by meaning alone, without operators and filters, if everything in scope had vectors. */
export interface EarlierSearch {
  readonly cosines: ReadonlyMap<EntryKey, number>
  readonly isCut: boolean
  /** Minimum raw cosine of the search; null: no minimum. */
  readonly floor: number | null
}

/**
 * What the same search would find now. `changed`: all entries written since; everything else in scope must be unchanged. Computes a cosine
 * for each changed entry instead of searching. Null: only a search can tell.
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
    /** Cosine of an entry to the text; null: the entry has no vector yet. */
    cosineOf(entry: EntryKey): number | null
  },
): Candidates | null {
  const cosines = new Map(before)
  for (const entry of changed) {
    // A changed candidate may have to give way to a belief that was cut off before.
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

/** At most k beliefs that reach the minimum cosine, best first. */
function nearest(request: CandidateRequest, within: Matches, k: number, floor: number | null): readonly Near[] {
  const { meaning, partitions } = request
  if (within.count === 0) return []
  if (meaning.by === 'words') return nearestByWords(request, within, meaning.shares, floor).slice(0, k)
  const least = floor === null ? {} : { least: floor }
  const hits = meaning.index.search({ vector: meaning.vector, k, partitions, allow: within.bits, ...least })
  return hits.map(({ entry, score }) => ({ entry, cosine: score }))
}

/** The nearest beliefs by words. With a minimum, a belief without any word of the text never reaches it. */
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

/** The cosine expected for a belief that contains this share of the words (decision 014); 0 without any. */
export function standIn(share: number, scale: number): number {
  return share > 0 ? expectedCosine(share, 1, USUAL_BASE) / scale : 0
}

/** Cosines of these entries, however low. */
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

/** Matches without a vector; takes almost no time if all have one. */
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

/** Comparator: nearest first; ties by key, as in the index. */
function nearestFirst(a: Near, b: Near): number {
  return b.cosine - a.cosine || a.entry - b.entry
}

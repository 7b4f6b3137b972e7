/**
 * The candidate step (BQ-043): which beliefs a text is about, before trust counts. Of those that pass filters and operators the nearest
 * in meaning, down to a floor; and, however far they are, those that hold a phrase or an included term as it is written. A belief
 * whose vector is not there yet takes part by its words.
 */
import type { Steps } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { PartitionId } from '../../../model/partition.ts'
import { expectedCosine, USUAL_BASE } from '../../../pipeline/partly-embedded.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import type { Meaning } from '../ranking/scored.ts'
import type { Matches } from './in-scope.ts'

/** Most candidates by meaning. */
export const MAX_NEAREST = 1_000
/** Reported where there is no candidate. */
export const MAX_REPORTED = 3

/** An entry, and its raw cosine or what its words stand in with. */
export interface Near {
  readonly entry: EntryKey
  readonly cosine: number
}

export interface CandidateRequest {
  readonly columns: BeliefColumns
  readonly partitions: readonly PartitionId[]
  readonly meaning: Exclude<Meaning, { by: 'nothing' }>
  /** `cosineScale` of the model. */
  readonly scale: number
  /** Raw cosine; null: there is none. */
  readonly floor: number | null
  /** Most of the nearest. */
  readonly most: number
  readonly inScope: Matches
  /** Those of them that pass filters and operators. */
  narrow(matches: Matches): Steps<Matches>
  /** Those of them that hold a phrase or an included term as it is written. Null: the text has neither. */
  readonly holding: ((matches: Matches) => Steps<Matches>) | null
  /** The share of the words of the text that each of them holds, 0 to 1. */
  wordShares(matches: Matches): Steps<ReadonlyMap<EntryKey, number>>
}

export interface Candidates {
  readonly matches: Matches
  /** Of each candidate: its cosine, or what its words stand in with. */
  readonly cosines: ReadonlyMap<EntryKey, number>
  /** Candidates whose words stand in for a vector. */
  readonly byWords: ReadonlySet<EntryKey>
  /** Whether there are more that are near enough. */
  readonly isCut: boolean
  /** Beliefs that pass filters and operators and have no vector yet. */
  readonly pending: number
  /** Where there is no candidate: those that came closest, best first. */
  readonly nearest: readonly Near[]
}

export function* findCandidates(request: CandidateRequest): Steps<Candidates> {
  const { meaning, inScope, narrow, holding, floor, most, columns } = request
  const late = meaning.by === 'vector' ? yield* narrow(withoutVector(request, meaning)) : inScope.only([])
  const shares = late.count === 0 ? NO_SHARES : yield* request.wordShares(late)
  const standIns = nearestByWords(request, late, shares, floor)
  let passing: Matches | null = null
  let near: readonly Near[] | null = null
  // Filters look at what is near alone, unless that is too much of it.
  const first = holding === null ? nearest(request, inScope, most + 1, floor) : null
  if (first !== null && first.length <= most) {
    const met = inScope.only(first.map(({ entry }) => entry))
    const kept = yield* narrow(met)
    near = kept === met ? first : first.filter(({ entry }) => kept.has(columns.rowOf(entry)))
  }
  if (near === null || near.length + standIns.length === 0) passing = yield* narrow(inScope)
  // Where all pass, the same search would find the same again.
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

/** What a search by meaning alone found, without operators and filters, where all that is in scope had vectors. */
export interface EarlierSearch {
  readonly cosines: ReadonlyMap<EntryKey, number>
  readonly isCut: boolean
  /** Raw cosine; null: there is none. */
  readonly floor: number | null
}

/**
 * What the same search finds now: `changed` are all entries that were written since, and what else is in scope is what was then.
 * Costs a cosine for each of these instead of a search. Null: only a search can tell.
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
    /** To the text; null: the entry has no vector yet. */
    cosineOf(entry: EntryKey): number | null
  },
): Candidates | null {
  const cosines = new Map(before)
  for (const entry of changed) {
    // Of those that were cut, one may take its place.
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

/** At most so many that reach the floor, best first. */
function nearest(request: CandidateRequest, within: Matches, k: number, floor: number | null): readonly Near[] {
  const { meaning, partitions } = request
  if (within.count === 0) return []
  if (meaning.by === 'words') return nearestByWords(request, within, meaning.shares, floor).slice(0, k)
  const least = floor === null ? {} : { least: floor }
  const hits = meaning.index.search({ vector: meaning.vector, k, partitions, allow: within.bits, ...least })
  return hits.map(({ entry, score }) => ({ entry, cosine: score }))
}

/** With a floor, one that holds no word of the text reaches none. */
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

/** The cosine that is expected of a belief that holds this share of the words (decision 014); without any, 0. */
export function standIn(share: number, scale: number): number {
  return share > 0 ? expectedCosine(share, 1, USUAL_BASE) / scale : 0
}

/** Of these entries, however far they are. */
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

/** Costs next to nothing where all have one. */
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

/** Ties by key, as the index has them. */
function nearestFirst(a: Near, b: Near): number {
  return b.cosine - a.cosine || a.entry - b.entry
}

/**
 * Selects the beliefs in scope: those in the requested sources (own, federated, network) that existed and were valid at the given time.
 * Only partitions that the requester may see are read (BQ-195).
 */

import { Bitset } from '../../../base/bitset.ts'
import type { Instant } from '../../../base/clock.ts'
import { placeIn } from '../../../base/compare.ts'
import { Recent } from '../../../base/recent.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { PartitionId } from '../../../model/partition.ts'
import { type EnabledSources, PUBLIC, type Requester } from '../access/requester.ts'
import { FEDERATED, LOCAL, NETWORK } from '../access/show.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import type { ScopeKind } from '../model.ts'
import type { View } from '../record/read.ts'
import type { CheckedFilters } from '../schema/filters.ts'
import { ROWS_AT_ONCE, type TimeLimit } from '../time-limit.ts'

export interface InScopeRequest {
  readonly columns: BeliefColumns
  readonly requester: Requester
  readonly scope: EnabledSources
  readonly asOf: Instant
  /** Times at which a belief must be valid, given by filters; null: the time of the query. */
  readonly validAt: readonly Instant[] | null
  readonly time?: TimeLimit | undefined
}

/** Parameters for selecting the beliefs in scope of a query as of an instant. */
export function scopeRequest(
  { columns, requester, time }: Omit<View, 'reader'>,
  { filters, scope }: { readonly filters: readonly CheckedFilters[]; readonly scope: EnabledSources },
  asOf: Instant,
): InScopeRequest {
  const validAt = filters.some(({ validAt }) => validAt !== null) ? validInstants(filters, asOf) : null
  return { columns, requester, scope, asOf, validAt, time }
}

/** Times at which beliefs must be valid: those that the filters give, otherwise the time of the query. */
export function validInstants(filters: readonly CheckedFilters[], asOf: Instant): readonly Instant[] {
  const given = filters.flatMap(({ validAt }) => validAt ?? [])
  return given.length === 0 ? [asOf] : given
}

/** Selects the beliefs in scope (BQ-021, BQ-046, BQ-047 (nothing created after as_of), BQ-086, BQ-094). */
export function inScope(request: InScopeRequest): Matches {
  return firstPass(request).matches
}

export interface Found {
  readonly matches: Matches
  /** Instant from which the passing of time alone may change which beliefs are in scope; infinite: never. */
  readonly until: Instant
}

/** A row number and its source number (1 to 3) are packed into one integer: row × 4 + source. */
const SOURCES = 4

/**
 * Selects the beliefs in scope in one pass over the partitions that the requester sees. `rowsIn`: returns the rows of a partition,
 * ascending.
 */
export function firstPass(
  { columns, requester, scope, asOf, validAt, time }: InScopeRequest,
  rowsIn: (partition: PartitionId) => Int32Array = partition => columns.rowsIn(partition),
): Found {
  const { holders, created, validFrom, validUntil } = columns.arrays
  const { partitions } = requester.accessScope
  const self = columns.texts.holderNumber(requester.id)
  const from = validAt === null ? asOf : Math.min(...validAt)
  const to = validAt === null ? asOf : Math.max(...validAt)
  const found = new Int32Array(partitions.reduce((sum, partition) => sum + rowsIn(partition).length, 0))
  /** Number of partitions in which beliefs in scope were found. */
  let runs = 0
  let count = 0
  let until = Number.POSITIVE_INFINITY
  for (const partition of partitions) {
    const rows = rowsIn(partition)
    if (rows.length === 0) continue
    const { own, others } = sourcesOf(partition, requester, scope)
    if (own + others === 0) continue
    const before = count
    for (let at = 0; at < rows.length; at++) {
      if (at % ROWS_AT_ONCE === 0) time?.check()
      const row = rows[at] as number
      const source = holders[row] === self ? own : others
      if (source === 0) continue
      const begin = Math.max(created[row] as number, validFrom[row] as number)
      const end = validUntil[row] as number
      if (begin > asOf && begin < until) until = begin
      if ((created[row] as number) > asOf || (validFrom[row] as number) > from || end <= to) continue
      if (end < until) until = end
      found[count++] = row * SOURCES + source
    }
    if (count > before) runs++
  }
  const rows = found.subarray(0, count)
  // Rows are in ascending order within each partition, so sorting is needed only if several partitions contributed rows.
  if (runs > 1) rows.sort()
  return { matches: matchesOf(columns, rows), until }
}

/**
 * Decides for single rows whether they are in scope, without a pass over all rows. Only for queries whose filters name no time of validity.
 */
export class RowsInScope {
  readonly #request: InScopeRequest
  readonly #self: number
  /**
   * By partition: one source number (own, federated or network; 0: excluded from the scope) for the requester's own beliefs in the
   * partition, and one for the beliefs of other holders in it.
   */
  readonly #sources = new Map<PartitionId, ReturnType<typeof sourcesOf>>()

  constructor(request: InScopeRequest) {
    this.#request = request
    this.#self = request.columns.texts.holderNumber(request.requester.id)
  }

  has(row: number): boolean {
    return this.#sourceOf(row) !== 0
  }

  /** Of these entries, those that are in scope, with their sources. */
  only(entries: Iterable<EntryKey>): Matches {
    const { columns } = this.#request
    const found: number[] = []
    for (const entry of entries) {
      const row = columns.rowOf(entry)
      const source = this.#sourceOf(row)
      if (source !== 0) found.push(row * SOURCES + source)
    }
    return matchesOf(columns, Int32Array.from(found).sort())
  }

  /** Instant from which the passing of time alone may bring one of these entries into scope or take it out; infinite: never. */
  untilOf(entries: Iterable<EntryKey>): Instant {
    const { columns, requester, asOf } = this.#request
    const { partitions, created, validFrom, validUntil } = columns.arrays
    let until = Number.POSITIVE_INFINITY
    for (const entry of entries) {
      const row = columns.rowOf(entry)
      if (row === -1 || !requester.sees(partitions[row] as PartitionId)) continue
      for (const bounds of [created, validFrom, validUntil]) {
        const bound = bounds[row] as number
        if (bound > asOf && bound < until) until = bound
      }
    }
    return until
  }

  /** Source number of a row (`LOCAL`, `FEDERATED` or `NETWORK`); 0: the row is not in scope. */
  #sourceOf(row: number): number {
    const { columns, asOf } = this.#request
    const { holders, partitions, created, validFrom, validUntil } = columns.arrays
    if (row === -1 || (created[row] as number) > asOf) return 0
    if ((validFrom[row] as number) > asOf || (validUntil[row] as number) <= asOf) return 0
    const { own, others } = this.#sourcesIn(partitions[row] as PartitionId)
    return holders[row] === this.#self ? own : others
  }

  #sourcesIn(partition: PartitionId): ReturnType<typeof sourcesOf> {
    const known = this.#sources.get(partition)
    if (known !== undefined) return known
    const { requester, scope } = this.#request
    const found = requester.sees(partition) ? sourcesOf(partition, requester, scope) : { own: 0, others: 0 }
    this.#sources.set(partition, found)
    return found
  }
}

function matchesOf(columns: BeliefColumns, found: Int32Array): Matches {
  const sources = new Uint8Array(found.length)
  for (let at = 0; at < found.length; at++) {
    const both = found[at] as number
    sources[at] = both % SOURCES
    found[at] = Math.trunc(both / SOURCES)
  }
  return new Matches(columns, found, sources)
}

/**
 * Source numbers of the beliefs in a partition: for those that the requester holds (`own`), and for those of other holders (`others`); 0:
 * the query's scope excludes them.
 */
function sourcesOf(
  partition: PartitionId,
  requester: Requester,
  { local, federated, network }: InScopeRequest['scope'],
): { readonly own: number; readonly others: number } {
  const isPublic = requester.kindOf(partition) === PUBLIC
  const isShared = requester.federationsOf(partition).length > 0
  const others = isPublic ? (network ? NETWORK : 0) : isShared && federated ? FEDERATED : 0
  return { own: local ? LOCAL : others, others }
}

/** Maximum number of cached selections of beliefs in scope: about half a megabyte each for 100,000 beliefs. */
const KEPT = 64

interface Passed extends Found {
  readonly requester: Requester
  /** Number of changes of beliefs in the requester's visible partitions when the selection was made. */
  readonly changes: number
  readonly asOf: Instant
}

/**
 * A query may have several times at which beliefs must be valid. If the earliest and the latest are farther apart than this number of
 * milliseconds, no cached selection is used. The clocks of two nodes differ by less.
 */
const MAX_APART_MS = 300_000

/**
 * Caches selections of beliefs in scope. A cached selection is valid as long as memberships, visible beliefs and the validity of these
 * beliefs have not changed.
 */
export class Scopes {
  readonly #passed = new Recent<string, { value: Passed | null }>(KEPT)

  of(request: InScopeRequest): Matches {
    const moments = [request.asOf, ...(request.validAt ?? [])]
    const [first, last] = [Math.min(...moments), Math.max(...moments)]
    if (last - first > MAX_APART_MS) return inScope(request)
    // Before the instant `until`, the passing of time changes nothing about which beliefs are in scope. So if `until` is after the last of
    // the query's times, the selection for the first time is right for all of them.
    const passed = this.#at({ ...request, asOf: first, validAt: null }, last)
    return last < passed.until ? passed.matches : inScope(request)
  }

  /**
   * The beliefs in scope as of the request's time. A cached selection is used if neither writes nor the passing of time up to the instant
   * `last` change it.
   */
  #at(request: InScopeRequest, last: Instant): Passed {
    const { columns, requester, asOf } = request
    const changes = columns.changesIn(requester.accessScope.partitions)
    const kept = this.#passed.get(keyOf(request), () => ({ value: null }))
    const { value } = kept
    if (value?.requester === requester && value.changes === changes && asOf >= value.asOf && last < value.until)
      return value
    const passed = { requester, changes, asOf, ...firstPass(request) }
    kept.value = passed
    return passed
  }

  /**
   * Instant from which the passing of time alone may bring other beliefs into the query's scope or take some out; infinite: never. The true
   * instant may be later.
   */
  untilOf(request: InScopeRequest): Instant {
    return (request.validAt === null ? this.#at(request, request.asOf) : firstPass(request)).until
  }
}

function keyOf({ requester, scope: { local, federated, network } }: InScopeRequest): string {
  return JSON.stringify([requester.id, requester.through, local, federated, network])
}

// A set of rows with the source of each row: the beliefs with which a query may be answered.

/** Immutable set of rows, in ascending order, with the source of each: the requester's own, federated, or network. */
export class Matches {
  readonly #columns: BeliefColumns
  readonly #rows: Int32Array
  readonly #sources: Uint8Array
  #bits: Bitset | null = null

  constructor(columns: BeliefColumns, rows: Int32Array, sources: Uint8Array) {
    this.#columns = columns
    this.#rows = rows
    this.#sources = sources
  }

  get rows(): Int32Array {
    return this.#rows
  }

  get count(): number {
    return this.#rows.length
  }

  /** Source of each row in the set, in the order of `rows`: `LOCAL`, `FEDERATED` or `NETWORK`. */
  get sources(): Uint8Array {
    return this.#sources
  }

  has(row: number): boolean {
    return this.#rows[placeIn(this.#rows, row)] === row
  }

  /** Which kind of source a row of the set comes from: `LOCAL` (the requester's own beliefs), `FEDERATED` or `NETWORK` (public beliefs). */
  sourceOf(row: number): number {
    return this.#sources[placeIn(this.#rows, row)] as number
  }

  /** The set as a bit set of entry keys. It stays valid when row numbers change, because entry keys are never reused. */
  get bits(): Bitset {
    this.#bits ??= this.#asBits()
    return this.#bits
  }

  /** Number of rows in the set by source. */
  counts(): Readonly<Record<ScopeKind, number>> {
    const counts = new Uint32Array(4)
    for (const source of this.#sources) counts[source] = (counts[source] as number) + 1
    return {
      local: counts[LOCAL] as number,
      federated: counts[FEDERATED] as number,
      network: counts[NETWORK] as number,
    }
  }

  /** The subset of rows whose entries are among the given ones. */
  only(entries: Iterable<EntryKey>): Matches {
    const places: number[] = []
    for (const entry of entries) {
      const row = this.#columns.rowOf(entry)
      const place = placeIn(this.#rows, row)
      if (row !== -1 && this.#rows[place] === row) places.push(place)
    }
    const sorted = Int32Array.from(places).sort()
    return new Matches(
      this.#columns,
      sorted.map(place => this.#rows[place] as number),
      Uint8Array.from(sorted, place => this.#sources[place] as number),
    )
  }

  /** The set without the rows in `gone`. */
  without(gone: ReadonlySet<number>): Matches {
    return gone.size === 0 ? this : this.where(row => !gone.has(row))
  }

  /** The subset of rows for which `holds` returns true. */
  where(holds: (row: number, source: number) => boolean): Matches {
    const rows = new Int32Array(this.count)
    const sources = new Uint8Array(this.count)
    let count = 0
    for (let place = 0; place < this.count; place++) {
      const row = this.#rows[place] as number
      const source = this.#sources[place] as number
      if (!holds(row, source)) continue
      rows[count] = row
      sources[count++] = source
    }
    return count === this.count ? this : new Matches(this.#columns, rows.subarray(0, count), sources.subarray(0, count))
  }

  #asBits(): Bitset {
    const { entries } = this.#columns.arrays
    let last = 0
    for (const row of this.#rows) last = Math.max(last, entries[row] as EntryKey)
    const bits = new Bitset(last + 1)
    for (const row of this.#rows) bits.add(entries[row] as EntryKey)
    return bits
  }
}

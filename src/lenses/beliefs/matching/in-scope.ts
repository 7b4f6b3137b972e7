/**
 * The first pass over the beliefs that a requester may see: those in the sources asked for, made and valid by then. What it
 * may not see is not looked at, and what happens there undoes nothing that is kept (BQ-195).
 */
import type { Instant } from '../../../base/clock.ts'
import { Recent } from '../../../base/recent.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { PartitionId } from '../../../model/partition.ts'
import { type EnabledSources, PUBLIC, type Requester } from '../access/requester.ts'
import { FEDERATED, LOCAL, NETWORK } from '../access/source-numbers.ts'
import type { CheckedFilters } from '../check/checked.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import type { GoneRow, RowsMark } from '../columns/partition-rows.ts'
import type { View } from '../record/read.ts'
import { ROWS_AT_ONCE, type TimeLimit } from '../time-limit.ts'
import { Matches } from './matches.ts'

export interface InScopeRequest {
  readonly columns: BeliefColumns
  readonly requester: Requester
  readonly scope: EnabledSources
  readonly asOf: Instant
  /** When a belief must hold; more than one where filters say so. Null: now. */
  readonly validAt: readonly Instant[] | null
  readonly time?: TimeLimit | undefined
}

/** What the first pass goes by for a question as of this moment. */
export function scopeRequest(
  { columns, requester, time }: Omit<View, 'reader'>,
  { filters, scope }: { readonly filters: readonly CheckedFilters[]; readonly scope: EnabledSources },
  asOf: Instant,
): InScopeRequest {
  const validAt = filters.some(({ validAt }) => validAt !== null) ? validInstants(filters, asOf) : null
  return { columns, requester, scope, asOf, validAt, time }
}

/** When beliefs must hold: where no filter says otherwise, now. */
export function validInstants(filters: readonly CheckedFilters[], asOf: Instant): readonly Instant[] {
  const given = filters.flatMap(({ validAt }) => validAt ?? [])
  return given.length === 0 ? [asOf] : given
}

/** BQ-021, BQ-046, BQ-047 (nothing made after as_of), BQ-086, BQ-094. */
export function inScope(request: InScopeRequest): Matches {
  return pass(request).matches
}

/** How many passes are kept: about a megabyte each over 100,000 beliefs. */
const KEPT = 64

/** With more changes than this another pass is as quick. */
const MOST_CHANGES = 200

interface Passed {
  readonly requester: Requester
  /** Of the partitions in sight. */
  readonly changes: number
  readonly mark: RowsMark
  readonly asOf: Instant
  /** From when on other beliefs are in scope. */
  readonly until: Instant
  readonly matches: Matches
}

/** Passes of those who ask again, for as long as neither memberships nor what is valid have changed; beliefs that came or went are put in. */
export class Scopes {
  readonly #passed = new Recent<string, { value: Passed | null }>(KEPT)

  of(request: InScopeRequest): Matches {
    const { columns, requester, asOf, validAt } = request
    if (validAt !== null) return inScope(request)
    const { partitions } = requester.sight
    const changes = columns.changesIn(partitions)
    const kept = this.#passed.get(keyOf(request), () => ({ value: null }))
    const { value } = kept
    const isGood = value?.requester === requester && asOf >= value.asOf && asOf < value.until
    if (isGood && value.changes === changes) return value.matches
    const found = (isGood ? followed(request, value) : null) ?? pass(request)
    found.matches.pin()
    kept.value = { requester, changes, mark: columns.markOf(partitions), asOf, ...found }
    return found.matches
  }

  /** From when on time alone may bring others into scope, or take some out of it; infinite: never. May be too early. */
  untilOf(request: InScopeRequest): Instant {
    if (request.validAt !== null) return pass(request).until
    this.of(request)
    return this.#passed.find(keyOf(request))?.value?.until ?? request.asOf
  }
}

function keyOf({ requester, scope: { local, federated, network } }: InScopeRequest): string {
  return JSON.stringify([requester.id, local, federated, network])
}

interface Found {
  readonly matches: Matches
  readonly until: Instant
}

/** What was found before, less what went and with what came since; null: that is too much. */
function followed(request: InScopeRequest, { matches, mark, until }: Passed): Found | null {
  const { columns, requester } = request
  const changes = columns.changesSince(mark, requester.sight.partitions)
  if (changes === null || changes.length > MOST_CHANGES) return null
  // Of an entry that was among the matches, the first change is that it went; whether it is there now says the column.
  const gone = new Map<EntryKey, GoneRow>()
  const came = new Map<PartitionId, Set<number>>()
  for (const change of changes) {
    const { entry } = change
    if (change.gone !== null && matches.bits.has(entry) && !gone.has(entry)) gone.set(entry, change.gone)
    const row = columns.rowOf(entry)
    if (row === -1) continue
    const partition = columns.arrays.partitions[row] as number
    came.set(partition, (came.get(partition) ?? new Set()).add(row))
  }
  const more = pass(request, partition => Int32Array.from(came.get(partition) ?? NO_ROWS).sort())
  return { matches: matches.changed(gone, more.matches), until: Math.min(until, more.until) }
}

const NO_ROWS = new Int32Array(0)

/** Of each row its number and its source in one: sources are below this. */
const SOURCES = 4

/** `rowsIn`: of a partition, ascending. */
function pass(
  { columns, requester, scope, asOf, validAt, time }: InScopeRequest,
  rowsIn: (partition: PartitionId) => Int32Array = partition => columns.rowsIn(partition),
): Found {
  const { holders, created, validFrom, validUntil } = columns.arrays
  const { partitions } = requester.sight
  const self = columns.texts.holderNumber(requester.id)
  const from = validAt === null ? asOf : Math.min(...validAt)
  const to = validAt === null ? asOf : Math.max(...validAt)
  const found = new Int32Array(partitions.reduce((sum, partition) => sum + rowsIn(partition).length, 0))
  /** Where what was found in each partition ends. */
  const ends: number[] = []
  let count = 0
  let until = Number.POSITIVE_INFINITY
  for (const partition of partitions) {
    const rows = rowsIn(partition)
    if (rows.length === 0) continue
    const { own, others } = sourcesOf(partition, requester, scope)
    if (own + others === 0) continue
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
    if (count > (ends.at(-1) ?? 0)) ends.push(count)
  }
  return { matches: matchesOf(columns, merged(found.subarray(0, count), ends)), until }
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

/** Of runs that ascend and end here, one that ascends: two by two, until one is left. */
function merged(values: Int32Array, ends: readonly number[]): Int32Array {
  if (ends.length <= 1) return values
  const into = new Int32Array(values.length)
  const left: number[] = []
  let from = 0
  for (let at = 0; at < ends.length; at += 2) {
    const middle = ends[at] as number
    const end = ends[at + 1] ?? middle
    merge(values, { from, middle, end }, into)
    left.push(end)
    from = end
  }
  return merged(into, left)
}

function merge(
  values: Int32Array,
  { from, middle, end }: { readonly from: number; readonly middle: number; readonly end: number },
  into: Int32Array,
): void {
  let one = from
  let other = middle
  for (let at = from; at < end; at++) {
    const isOne = one < middle && (other >= end || (values[one] as number) < (values[other] as number))
    into[at] = values[isOne ? one++ : other++] as number
  }
}

/** The source of a partition's beliefs that are the requester's own, and of those that others hold; 0: none that is asked. */
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

/** Passes of those who ask again. What happens in partitions that a requester may not see undoes nothing that is kept (BQ-195). */
import type { Instant } from '../../../base/clock.ts'
import { Recent } from '../../../base/recent.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { PartitionId } from '../../../model/partition.ts'
import type { Requester } from '../access/requester.ts'
import type { GoneRow, RowsMark } from '../columns/partition-rows.ts'
import { type Found, firstPass, type InScopeRequest, inScope } from './in-scope.ts'
import type { Matches } from './matches.ts'

/** How many passes are kept: about a megabyte each over 100,000 beliefs. */
const KEPT = 64

/** As far as the clocks of two nodes may lie apart, and more. */
const NEAR_MS = 600_000

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

/** Good for as long as neither memberships nor what is valid have changed; beliefs that came or went are put in. */
export class Scopes {
  readonly #passed = new Recent<string, { value: Passed | null }>(KEPT)

  of(request: InScopeRequest): Matches {
    return this.#heldAt(request)?.matches ?? (request.validAt === null ? this.#now(request) : inScope(request))
  }

  /**
   * Where what holds at the moments asked for is what holds now: other nodes ask so, for a moment that is over when their
   * question arrives. Null: they are others, or so far away that nobody looks.
   */
  #heldAt(request: InScopeRequest): Passed | null {
    const { asOf, validAt } = request
    if (validAt === null || validAt.some(at => Math.abs(asOf - at) > NEAR_MS)) return null
    this.#now({ ...request, validAt: null })
    const passed = this.#passed.find(keyOf(request))?.value ?? null
    const isSame = passed !== null && validAt.every(at => at >= passed.asOf && at < passed.until)
    return isSame ? passed : null
  }

  #now(request: InScopeRequest): Matches {
    const { columns, requester, asOf } = request
    const { partitions } = requester.sight
    const changes = columns.changesIn(partitions)
    const kept = this.#passed.get(keyOf(request), () => ({ value: null }))
    const { value } = kept
    const isGood = value?.requester === requester && asOf >= value.asOf && asOf < value.until
    if (isGood && value.changes === changes) return value.matches
    const found = (isGood ? followed(request, value) : null) ?? firstPass(request)
    found.matches.pin()
    kept.value = { requester, changes, mark: columns.markOf(partitions), asOf, ...found }
    return found.matches
  }

  /** From when on time alone may bring others into scope, or take some out of it; infinite: never. May be too early. */
  untilOf(request: InScopeRequest): Instant {
    if (request.validAt !== null) return this.#heldAt(request)?.until ?? firstPass(request).until
    this.#now(request)
    return this.#passed.find(keyOf(request))?.value?.until ?? request.asOf
  }
}

function keyOf({ requester, scope: { local, federated, network } }: InScopeRequest): string {
  return JSON.stringify([requester.id, requester.through, local, federated, network])
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
  const more = firstPass(request, partition => Int32Array.from(came.get(partition) ?? NO_ROWS).sort())
  return { matches: matches.changed(gone, more.matches), until: Math.min(until, more.until) }
}

const NO_ROWS = new Int32Array(0)

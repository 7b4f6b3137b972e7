/** The first pass over all beliefs: those that a requester may see, in the sources asked for, made and valid by then. */
import type { Instant } from '../../../base/clock.ts'
import { Recent } from '../../../base/recent.ts'
import type { PartitionId } from '../../../model/partition.ts'
import { PUBLIC, type Requester } from '../access/requester.ts'
import type { CheckedScope } from '../check/checked.ts'
import type { BeliefColumns } from '../record/columns.ts'
import { FEDERATED, LOCAL, Matches, NETWORK } from './matches.ts'

export interface InScopeRequest {
  readonly columns: BeliefColumns
  readonly requester: Requester
  readonly scope: Pick<CheckedScope, 'local' | 'federated' | 'network'>
  readonly asOf: Instant
  /** When a belief must hold; more than one where filters say so. Null: now. */
  readonly validAt: readonly Instant[] | null
}

/** BQ-021, BQ-046, BQ-047 (nothing made after as_of), BQ-086, BQ-094. */
export function inScope(request: InScopeRequest): Matches {
  return pass(request).matches
}

/** How many passes are kept: about a megabyte each over 100,000 beliefs. */
const KEPT = 64

interface Passed {
  readonly requester: Requester
  readonly asOf: Instant
  /** From when on other beliefs are in scope. */
  readonly until: Instant
  readonly matches: Matches
}

/** Passes of those who ask again, for as long as neither beliefs, nor memberships, nor what is valid have changed. */
export class Scopes {
  readonly #passed = new Recent<string, { value: Passed | null }>(KEPT)
  #revision = -1

  of(request: InScopeRequest): Matches {
    const { columns, requester, asOf, validAt } = request
    if (validAt !== null) return inScope(request)
    if (columns.revision !== this.#revision) this.#passed.clear()
    this.#revision = columns.revision
    const kept = this.#passed.get(keyOf(request), () => ({ value: null }))
    const { value } = kept
    if (value?.requester === requester && asOf >= value.asOf && asOf < value.until) return value.matches
    kept.value = { requester, asOf, ...pass(request) }
    return kept.value.matches
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

function pass({ columns, requester, scope, asOf, validAt }: InScopeRequest): {
  readonly matches: Matches
  readonly until: Instant
} {
  const { partitions, holders, created, validFrom, validUntil } = columns.arrays
  const last = requester.sight.partitions.at(-1) ?? -1
  const codes = sourceCodes(requester, scope, last)
  const self = columns.holderNumber(requester.id)
  const from = validAt === null ? asOf : Math.min(...validAt)
  const to = validAt === null ? asOf : Math.max(...validAt)
  const rows = new Int32Array(columns.size)
  const sources = new Uint8Array(columns.size)
  let count = 0
  let until = Number.POSITIVE_INFINITY
  for (let row = 0; row < columns.rows; row++) {
    const partition = partitions[row] as number
    // Free rows are in -1; what lies behind the last partition in sight is not in sight.
    if (partition < 0 || partition > last) continue
    const source = codes[partition * 2 + (holders[row] === self ? 1 : 0)] as number
    if (source === 0) continue
    // Where the instants of validity are given, only what is made can still come.
    const made = created[row] as number
    const begin = validAt === null ? Math.max(made, validFrom[row] as number) : made
    const end = validUntil[row] as number
    if (begin > asOf && begin < until) until = begin
    if ((created[row] as number) > asOf || (validFrom[row] as number) > from || end <= to) continue
    if (validAt === null && end < until) until = end
    rows[count] = row
    sources[count++] = source
  }
  return { matches: new Matches(columns, rows.subarray(0, count), sources.subarray(0, count)), until }
}

/** By partition twice: the source of beliefs that others hold, and of the requester's own; 0: none that is asked. */
function sourceCodes(
  requester: Requester,
  { local, federated, network }: InScopeRequest['scope'],
  last: PartitionId,
): Uint8Array {
  const codes = new Uint8Array((last + 1) * 2)
  for (const partition of requester.sight.partitions) {
    const isPublic = requester.kindOf(partition) === PUBLIC
    const isShared = requester.federationsOf(partition).length > 0
    const others = isPublic ? (network ? NETWORK : 0) : isShared && federated ? FEDERATED : 0
    codes[partition * 2] = others
    codes[partition * 2 + 1] = local ? LOCAL : others
  }
  return codes
}

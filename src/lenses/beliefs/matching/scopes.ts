/** Passes of those who ask again. What happens in partitions that a requester may not see undoes nothing that is kept (BQ-195). */
import type { Instant } from '../../../base/clock.ts'
import { Recent } from '../../../base/recent.ts'
import type { Requester } from '../access/requester.ts'
import { type Found, firstPass, type InScopeRequest, inScope } from './in-scope.ts'
import type { Matches } from './matches.ts'

/** How many passes are kept: about half a megabyte each over 100,000 beliefs. */
const KEPT = 64

/** As far as the clocks of two nodes may lie apart, and more. */
const NEAR_MS = 600_000

interface Passed extends Found {
  readonly requester: Requester
  /** Of the partitions in sight. */
  readonly changes: number
  readonly asOf: Instant
}

/** Good for as long as neither memberships, nor beliefs in sight, nor what is valid have changed. */
export class Scopes {
  readonly #passed = new Recent<string, { value: Passed | null }>(KEPT)

  of(request: InScopeRequest): Matches {
    return this.#heldAt(request)?.matches ?? (request.validAt === null ? this.#now(request).matches : inScope(request))
  }

  /**
   * Where what holds at the moments asked for is what holds now: other nodes ask so, for a moment that is over when their
   * question arrives. Null: they are others, or so far away that nobody looks.
   */
  #heldAt(request: InScopeRequest): Passed | null {
    const { asOf, validAt } = request
    if (validAt === null || validAt.some(at => Math.abs(asOf - at) > NEAR_MS)) return null
    const passed = this.#now({ ...request, validAt: null })
    return validAt.every(at => at >= passed.asOf && at < passed.until) ? passed : null
  }

  #now(request: InScopeRequest): Passed {
    const { columns, requester, asOf } = request
    const changes = columns.changesIn(requester.accessScope.partitions)
    const kept = this.#passed.get(keyOf(request), () => ({ value: null }))
    const { value } = kept
    if (value?.requester === requester && value.changes === changes && asOf >= value.asOf && asOf < value.until)
      return value
    const passed = { requester, changes, asOf, ...firstPass(request) }
    kept.value = passed
    return passed
  }

  /** From when on time alone may bring others into scope, or take some out of it; infinite: never. May be too early. */
  untilOf(request: InScopeRequest): Instant {
    if (request.validAt !== null) return (this.#heldAt(request) ?? firstPass(request)).until
    return this.#now(request).until
  }
}

function keyOf({ requester, scope: { local, federated, network } }: InScopeRequest): string {
  return JSON.stringify([requester.id, requester.through, local, federated, network])
}

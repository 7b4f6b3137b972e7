/**
 * Whether an agent's trust has changed for another reason than time, in those whose beliefs it sees. Others' edges and
 * reputations are compared as they would have counted at one and the same moment, and only after a change that may matter.
 */
import type { Instant } from '../../../base/clock.ts'
import type { Requester } from '../access/requester.ts'
import { DAY_MS } from '../measures/decay.ts'
import type { BeliefsState } from '../state.ts'
import { federationTarget } from '../trust/agent-arrays.ts'
import { decayed } from '../trust/decay.ts'
import type { TrustMark } from '../trust/graph.ts'
import type { HolderTrust } from '../trust/holders.ts'
import type { TrustQuestion } from '../trust/resolved-edges.ts'

interface Base {
  readonly trust: HolderTrust
  readonly asOf: Instant
}

/** Of a product that was computed in two ways. */
const NOISE = 1e-12

export class TrustWatch {
  readonly #state: BeliefsState
  readonly #viewer: string
  readonly #question: TrustQuestion
  #revision = 0
  #mark: TrustMark | null = null
  #version: number | null = null
  #base: Base | null = null

  constructor(state: BeliefsState, viewer: string, question: TrustQuestion) {
    this.#state = state
    this.#viewer = viewer
    this.#question = question
  }

  /** As it was at some moment since its last change: now it is the same or, as time passes, less. Call `refresh` before. */
  get atMost(): HolderTrust {
    if (this.#base === null) throw new Error('invariant broken: trust that nobody has looked at')
    return this.#base.trust
  }

  /** Another number when trust has changed since the last call. The columns must be up to date; `version`: of the store. */
  refresh(requester: Requester, now: Instant, version: number): number {
    if (version === this.#version) return this.#revision
    this.#version = version
    const mark = this.#state.trust.mark(this.#viewer, this.#question)
    const base = this.#base
    if (base !== null && isSame(mark, this.#mark)) return this.#revision
    const isUsed = base !== null && mark.own !== this.#mark?.own && this.#isFresher(base, now)
    this.#mark = mark
    const fresh = this.#at(base?.asOf ?? now)
    this.#base = { trust: fresh, asOf: base?.asOf ?? now }
    if (base === null) return this.#revision
    if (!isUsed && !this.#isSeen(base.trust.differences(fresh), requester)) return this.#revision
    this.#base = { trust: this.#at(now), asOf: now }
    return ++this.#revision
  }

  /** Whether an own edge counts more by now than it would unused. What was trust then does not tell. */
  #isFresher({ trust, asOf }: Base, now: Instant): boolean {
    const days = Math.max(0, now - asOf) / DAY_MS
    const edges = this.#at(now).own
    return [...trust.own].some(([target, { base, rate, days: before }]) => {
      const edge = edges.get(target)
      return edge !== undefined && Math.abs(edge.decayed - decayed(base, rate, before + days)) > NOISE
    })
  }

  #at(asOf: Instant): HolderTrust {
    return this.#state.trust.trustOf(this.#viewer, this.#question, asOf)
  }

  /** Whether some of these hold a belief that the requester sees, or are federations that it meets holders through. */
  #isSeen(agents: readonly string[], requester: Requester): boolean {
    if (agents.length === 0) return false
    const named = new Set(agents)
    if (requester.federations.some(id => named.has(federationTarget(id)))) return true
    const { columns } = this.#state
    const numbers = new Set(agents.map(agent => columns.holderNumber(agent)))
    const { holders, partitions } = columns.arrays
    for (let row = 0; row < columns.rows; row++) {
      const partition = partitions[row] as number
      if (partition >= 0 && numbers.has(holders[row] as number) && requester.sees(partition)) return true
    }
    return false
  }
}

function isSame(mark: TrustMark, other: TrustMark | null): boolean {
  return other !== null && mark.routes === other.routes && mark.own === other.own && mark.agents === other.agents
}

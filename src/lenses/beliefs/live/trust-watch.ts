/**
 * Whether an agent's trust has changed for another reason than time, in those whose beliefs it sees. Others' edges and
 * reputations are compared as they would have counted at one and the same moment, and only after a change that may matter.
 */
import type { Instant } from '../../../base/clock.ts'
import type { Requester } from '../access/requester.ts'
import { DAY_MS } from '../measures/decay.ts'
import type { BeliefsState } from '../state.ts'
import { federationTarget } from '../trust/agent-arrays.ts'
import { faded } from '../trust/fading.ts'
import type { TrustMark } from '../trust/graph.ts'
import type { HolderTrust } from '../trust/holders.ts'
import type { TrustQuestion } from '../trust/resolved-edges.ts'

interface Base {
  readonly trust: HolderTrust
  readonly asOf: Instant
}

/** Who counts otherwise since the revision before; null: too many to say, or a federation. */
type Changed = readonly string[] | null

/** Revisions that are remembered; who slept longer asks again. */
const REMEMBERED = 32

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
  /** By revision; the last ones. */
  readonly #changed = new Map<number, Changed>()
  #seen: { readonly key: string; readonly rows: readonly number[] } | null = null

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
    const changed = base.trust.differences(fresh)
    const isTold = this.#meets(changed, requester) || this.#rowsOf(changed, requester).length > 0
    if (!isUsed && !isTold) return this.#revision
    this.#base = { trust: this.#at(now), asOf: now }
    // What is used counts more, and with it whoever is trusted through it.
    this.#changed.set(++this.#revision, isUsed || this.#meets(changed, requester) ? null : changed)
    this.#changed.delete(this.#revision - REMEMBERED)
    return this.#revision
  }

  /**
   * An answer was given as of then: what fades until then, and what is used after it, is held against that. Call `refresh`
   * before.
   */
  answered(asOf: Instant): void {
    if (this.#base === null || this.#base.asOf === asOf) return
    const trust = this.#at(asOf)
    // What is not noted yet must be met by the next `refresh`.
    if (isSame(this.#state.trust.mark(this.#viewer, this.#question), this.#mark)) this.#base = { trust, asOf }
  }

  /** Rows in sight of those who count otherwise since a revision; null: any may. Call `refresh` before. */
  rowsSince(revision: number, requester: Requester): readonly number[] | null {
    const agents: string[] = []
    for (let at = revision + 1; at <= this.#revision; at++) {
      const changed = this.#changed.get(at)
      if (changed === undefined || changed === null) return null
      agents.push(...changed)
    }
    return this.#rowsOf(agents, requester)
  }

  /** Whether an own edge counts more by now than it would unused. What was trust then does not tell. */
  #isFresher({ trust, asOf }: Base, now: Instant): boolean {
    const days = Math.max(0, now - asOf) / DAY_MS
    const edges = this.#at(now).own
    return [...trust.own].some(([target, { base, rate, days: before }]) => {
      const edge = edges.get(target)
      return edge !== undefined && Math.abs(edge.decayed - faded(base, rate, before + days)) > NOISE
    })
  }

  /** What is used at a moment counts from the next one on. */
  #at(asOf: Instant): HolderTrust {
    return this.#state.trust.trustOf(this.#viewer, this.#question, asOf + 1)
  }

  /** Whether some of these are federations that the requester meets holders through. */
  #meets(agents: readonly string[], { federations }: Requester): boolean {
    const named = new Set(agents)
    return federations.some(id => named.has(federationTarget(id)))
  }

  /** Rows of beliefs that these hold and the requester sees. */
  #rowsOf(agents: readonly string[], requester: Requester): readonly number[] {
    const { columns } = this.#state
    const numbers = new Set(agents.map(agent => columns.texts.holderNumber(agent)).filter(number => number !== -1))
    if (numbers.size === 0) return []
    const { partitions } = requester.sight
    const key = JSON.stringify([[...numbers], columns.texts.holdersMark, columns.changesIn(partitions)])
    if (this.#seen?.key === key) return this.#seen.rows
    const { holders } = columns.arrays
    const rows: number[] = []
    for (const partition of partitions) {
      for (const row of columns.rowsIn(partition)) if (numbers.has(holders[row] as number)) rows.push(row)
    }
    this.#seen = { key, rows }
    return rows
  }
}

function isSame(mark: TrustMark, other: TrustMark | null): boolean {
  return other !== null && mark.routes === other.routes && mark.own === other.own && mark.agents === other.agents
}

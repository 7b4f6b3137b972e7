/** What one viewer's trust in others comes to, for one question at one moment (BQ-080). Never changes once made. */
import type { Instant } from '../../../base/clock.ts'
import { type Agent, type AgentArrays, federationTarget } from './agent-arrays.ts'
import type { Levels } from './levels.ts'
import { floorOf, type Reputations, reputationFor } from './reputations.ts'
import {
  type DirectTrust,
  middleOfBand,
  type TransitiveTrust,
  type TrustedAs,
  type TrustIn,
  type TrustKind,
} from './trust-in.ts'

/** By number of the holder in the list asked for; made when they are first asked for. */
export interface HolderColumns {
  readonly trust: Float64Array
  /** The viewer's own edge as ranking counts it; NaN: there is none. Of itself 1. */
  readonly direct: Float64Array
  /** Overall; NaN: none. */
  readonly reputation: Float64Array
  /** What each counts as a member under a pseudonym, the federation's reputation apart. */
  readonly members: Float64Array
  /** Of one that may stand for others, such as a federation as a whole. */
  named(name: string): { readonly trust: number; readonly direct: number; readonly reputation: number }
}

interface TrustTable {
  readonly viewer: string
  /** -1: not known here, and so without edges. */
  readonly viewerNumber: number
  readonly holdsUntil: Instant
  readonly agents: AgentArrays
  /** Of `agents`, as they were. */
  readonly known: ReadonlyMap<string, Agent>
  readonly domains: readonly string[]
  readonly defaultTrust: number
  /** The viewer's own edges, by the target's id and by its number. */
  readonly direct: ReadonlyMap<string, DirectTrust>
  readonly own: ReadonlyMap<number, DirectTrust>
  readonly reputations: Reputations
  /** Of routes through others. */
  readonly levels: Levels
}

const DIRECT_BYTES = 200
const SELF: TrustIn = {
  ...{ value: 1, kind: 'self', direct: null, transitive: null, reputation: null, distrusted: false },
}

export class HolderTrust {
  readonly #table: TrustTable

  constructor(table: TrustTable) {
    this.#table = table
  }

  of(holder: string): TrustIn {
    const { viewer, known, domains } = this.#table
    if (holder === viewer) return SELF
    const reputation = reputationFor(known.get(holder), domains)
    const direct = this.#table.direct.get(holder) ?? null
    if (direct !== null) {
      const { value, distrusted } = direct
      return { value, kind: 'direct', direct, transitive: null, reputation, distrusted }
    }
    const transitive = this.#transitive(holder)
    return { ...this.#indirect(transitive?.level ?? 0, reputation), direct, transitive, reputation, distrusted: false }
  }

  /** Until then nothing but the viewer's own edges changes with time alone, and these only fade. */
  get holdsUntil(): Instant {
    return this.#table.holdsUntil
  }

  /** The viewer's own edges, by target. */
  get own(): ReadonlyMap<string, DirectTrust> {
    return this.#table.direct
  }

  /** Who counts otherwise in another one, made for the same viewer, question and moment: reputations are compared too. */
  differences(other: HolderTrust): readonly string[] {
    const [mine, its] = [this.#table, other.#table]
    if (mine.agents !== its.agents) return [...mine.agents.ids(), ...its.agents.ids()]
    const [myOwn, itsOwn] = [this.#own, other.#own]
    const [myLevels, itsLevels] = [mine.levels.all.levels, its.levels.all.levels]
    const found: string[] = []
    for (let number = 0; number < mine.agents.size; number++) {
      const isSame =
        areSame(myOwn, itsOwn, number, Number.NaN) &&
        areSame(myLevels, itsLevels, number, 0) &&
        areSame(mine.reputations.floors, its.reputations.floors, number, 0)
      const isAlike = areSame(mine.reputations.overall, its.reputations.overall, number, Number.NaN)
      // Trust in oneself stays 1, whatever others state: but filters ask for one's own reputation too.
      const isSelf = mine.agents.id(number) === mine.viewer
      if (!isAlike || !(isSame || isSelf)) found.push(mine.agents.id(number))
    }
    return found
  }

  /** Near enough: of what is not shared with the trust of other moments. */
  get byteLength(): number {
    const { levels, direct } = this.#table
    return levels.byteLength + direct.size * DIRECT_BYTES
  }

  /** In a federation as a whole (BQ-104): the viewer's edge to it, else its reputation. */
  ofFederation(id: string): TrustIn {
    return this.of(federationTarget(id))
  }

  /** Of whom a belief is shown to come: of a member of a federation no more than the band of trust counts (BQ-104). */
  as({ target, member }: TrustedAs): TrustIn {
    return member === null ? this.of(target) : this.#ofMember(member, this.of(target).reputation)
  }

  /** `reputation`: of the federation, in place of the member's (BQ-081). Distrust counts as little trust does. */
  #ofMember(member: string, reputation: number | null): TrustIn {
    const { value: exact, kind: known, transitive: route } = this.of(member)
    const { value, kind } =
      known === 'direct' ? { value: exact, kind: known } : this.#indirect(route?.level ?? 0, reputation)
    const level = middleOfBand(value)
    const transitive = kind === 'transitive' && route !== null ? { ...route, level } : null
    return { value: level, kind, direct: null, transitive, reputation, distrusted: false }
  }

  /** Equal lists in a row, element by element the same, are looked up once. */
  columns(holders: readonly string[]): HolderColumns {
    const { viewer, viewerNumber, known, agents, reputations } = this.#table
    const self = viewerNumber >= 0 ? -1 : holders.indexOf(viewer)
    const numbers = agents.numbersOf(holders)
    const byHolder = (of: (number: number) => number) => {
      const values = new Float64Array(numbers.length)
      for (let at = 0; at < numbers.length; at++) values[at] = of(numbers[at] as number)
      return values
    }
    const withSelf = (values: Float64Array): Float64Array => {
      if (self >= 0) values[self] = 1
      return values
    }
    const direct = once(() => {
      const own = this.#own
      return withSelf(byHolder(number => own[number] ?? Number.NaN))
    })
    const reputation = once(() => byHolder(number => reputations.overall[number] ?? Number.NaN))
    const trust = once(() => withSelf(this.#trustOf(numbers)))
    const members = once(() => withSelf(Float64Array.from(holders, holder => this.#ofMember(holder, null).value)))
    const named = (name: string) => {
      const { value, direct } = this.of(name)
      const overall = known.get(name)?.reputation ?? Number.NaN
      return { trust: value, direct: name === viewer ? 1 : (direct?.value ?? Number.NaN), reputation: overall }
    }
    return {
      get trust() {
        return trust()
      },
      get direct() {
        return direct()
      },
      get reputation() {
        return reputation()
      },
      get members() {
        return members()
      },
      named,
    }
  }

  /** By number of the agent: what the viewer's own edge counts, 1 in itself; NaN: there is none. */
  get #own(): Float64Array {
    const { agents, own, viewerNumber } = this.#table
    const values = new Float64Array(agents.size).fill(Number.NaN)
    if (viewerNumber >= 0) values[viewerNumber] = 1
    for (const [number, { value }] of own) values[number] = value
    return values
  }

  /** By place. */
  #trustOf(numbers: Int32Array): Float64Array {
    const { reputations, defaultTrust } = this.#table
    const { floors } = reputations
    const { levels } = this.#table.levels.all
    const own = this.#own
    const values = new Float64Array(numbers.length).fill(defaultTrust)
    for (let at = 0; at < numbers.length; at++) {
      const number = numbers[at] as number
      if (number < 0) continue
      const sure = number < own.length ? (own[number] as number) : Number.NaN
      if (sure >= 0) {
        values[at] = sure
        continue
      }
      if (number < levels.length && (levels[number] as number) > (values[at] as number))
        values[at] = levels[number] as number
      if (number < floors.length && (floors[number] as number) > (values[at] as number))
        values[at] = floors[number] as number
    }
    return values
  }

  #transitive(holder: string): TransitiveTrust | null {
    const { agents, levels } = this.#table
    const found = levels.of(agents.numberOf(holder))
    return found.level === 0 ? null : found
  }

  /** Equal ones count as the kind that tells less of others. */
  #indirect(level: number, reputation: number | null): { readonly value: number; readonly kind: TrustKind } {
    const floor = floorOf(reputation)
    const stranger = this.#table.defaultTrust
    if (level > floor && level > stranger) return { value: level, kind: 'transitive' }
    return floor > stranger ? { value: floor, kind: 'reputation' } : { value: stranger, kind: 'default' }
  }
}

/** `absent`: what stands for agents that came after one of the two was made. */
function areSame(some: Float64Array, others: Float64Array, number: number, absent: number): boolean {
  return Object.is(some[number] ?? absent, others[number] ?? absent)
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** Agents by number, with what trust needs of them: whether this node hosts them, since when, and their reputation. */
import type { Instant } from '../../../base/clock.ts'
import { OWNER } from '../../../model/partition.ts'
import { AGENTS, FEDERATIONS } from '../../../store/core-tables.ts'
import type { StoreReader } from '../../../store/store.ts'

/** A federation as somebody to trust. No agent can be called so: names have no colon, and a did begins otherwise. */
export function federationTarget(federation: string): string {
  return `federation:${federation}`
}

export interface Agent {
  readonly did: string | null
  readonly createdAt: Instant
  /** Overall, 0 to 1; null: it has none. */
  readonly reputation: number | null
  /** By normalised domain. */
  readonly byDomain: ReadonlyMap<string, number>
}

const NO_ENTRIES: ReadonlyMap<string, number> = new Map()
/** What an agent or an id of one takes beside the arrays: a string and two places in maps. */
const BYTES_EACH = 150

export class AgentArrays {
  readonly #numbers = new Map<string, number>()
  readonly #ids: string[] = []
  #agents = new Map<string, Agent>()
  /** By number, in step with `#agents`. */
  #hosted = new Uint8Array(256)
  /** The last list of ids that was looked up, with the numbers of those there were then. */
  #asked: { readonly ids: readonly string[]; readonly numbers: Int32Array; readonly size: number } | null = null

  get size(): number {
    return this.#ids.length
  }

  /** As they are now, by id: never changed, replaced when read again. */
  get known(): ReadonlyMap<string, Agent> {
    return this.#agents
  }

  get byteLength(): number {
    return this.#ids.length * BYTES_EACH + this.#hosted.length
  }

  /** -1: never heard of. */
  numberOf(id: string): number {
    return this.#numbers.get(id) ?? -1
  }

  /** Of each; -1: never heard of. The list that was asked for last (not to be changed after that) is known. */
  numbersOf(ids: readonly string[]): Int32Array {
    const last = this.#asked
    if (last !== null && last.size === this.size && areSame(last.ids, ids)) return last.numbers
    const numbers = Int32Array.from(ids, id => this.numberOf(id))
    this.#asked = { ids, numbers, size: this.size }
    return numbers
  }

  /** By number. */
  ids(): readonly string[] {
    return this.#ids
  }

  id(number: number): string {
    return this.#ids[number] as string
  }

  /** The number of an id, given when it has none. */
  take(id: string): number {
    const known = this.#numbers.get(id)
    if (known !== undefined) return known
    const number = this.#ids.length
    this.#ids.push(id)
    this.#numbers.set(id, number)
    if (number >= this.#hosted.length) {
      const grown = new Uint8Array(this.#hosted.length * 2)
      grown.set(this.#hosted)
      this.#hosted = grown
    }
    this.#hosted[number] = this.#isHosted(id) ? 1 : 0
    return number
  }

  isHosted(number: number): boolean {
    return this.#hosted[number] === 1
  }

  /** Made after this instant; agents that nobody knows the age of, too. */
  isYoungerThan(number: number, instant: Instant): boolean {
    const id = this.id(number)
    const createdAt = this.#agents.get(id)?.createdAt
    return createdAt === undefined ? id !== OWNER : createdAt > instant
  }

  /** The first instant after this one at which an agent was made. For knowing how long ages hold. */
  nextCreation(after: Instant): Instant {
    let next = Number.POSITIVE_INFINITY
    for (const { createdAt } of this.#agents.values()) if (createdAt > after && createdAt < next) next = createdAt
    return next
  }

  /** Reads all again; those whose statements may now count otherwise. */
  read(reader: StoreReader): readonly string[] {
    const before = this.#agents
    this.#agents = agentsOf(reader)
    const changed = new Set<string>()
    for (const [id, { did }] of this.#agents) {
      const old = before.get(id)
      if (old === undefined || old.did !== did) changed.add(id)
    }
    for (const id of before.keys()) if (!this.#agents.has(id)) changed.add(id)
    for (const id of this.#agents.keys()) this.take(id)
    for (const [number, id] of this.#ids.entries()) this.#hosted[number] = this.#isHosted(id) ? 1 : 0
    return [...changed]
  }

  #isHosted(id: string): boolean {
    return id === OWNER || this.#agents.get(id)?.did !== undefined
  }
}

function areSame(some: readonly string[], others: readonly string[]): boolean {
  if (some === others) return true
  if (some.length !== others.length) return false
  for (let at = 0; at < some.length; at++) if (some[at] !== others[at]) return false
  return true
}

/** Federations stand among them for their reputation alone: they state nothing. */
function agentsOf(reader: StoreReader): Map<string, Agent> {
  const agents = new Map<string, Agent>()
  for (const row of reader.table(AGENTS).scan()) {
    agents.set(row['id'] as string, {
      did: row['did'] as string | null,
      createdAt: row['created_at'] as number,
      reputation: row['reputation'] as number | null,
      byDomain: byDomain(row['reputation_by_domain']),
    })
  }
  for (const row of reader.table(FEDERATIONS).scan()) {
    agents.set(federationTarget(row['id'] as string), {
      did: null,
      createdAt: row['created_at'] as number,
      reputation: row['reputation'] as number | null,
      byDomain: NO_ENTRIES,
    })
  }
  return agents
}

function byDomain(json: unknown): ReadonlyMap<string, number> {
  if (typeof json !== 'string') return NO_ENTRIES
  return new Map(Object.entries(JSON.parse(json) as Record<string, number>))
}

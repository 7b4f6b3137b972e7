/**
 * The requester of a beliefs query, and the part of the store that this agent may see. All reads of the lens beliefs apply the visibility
 * matrix (BQ-091 to BQ-095) here and nowhere else. An object is replaced when memberships or the partitions that its requester may see have
 * changed.
 */

import { Recent } from '../../../base/recent.ts'
import type { Audience, PartitionId } from '../../../model/partition.ts'
import type { AccessScope } from '../../../model/viewer.ts'
import { Circle, CurrentMembers, Members } from '../../../pipeline/access.ts'
import { FEDERATIONS, MEMBERSHIPS } from '../../../store/core-tables.ts'
import type { Store, StoreReader } from '../../../store/store.ts'
import { isAggregate } from '../aggregates/mechanism.ts'
import type { BeliefSource } from '../model.ts'

/**
 * Kinds of partitions (sets of entries with one audience) from the requester's point of view. HIDDEN: the requester may not see it. Beliefs
 * in a PUBLIC partition may also be the requester's own.
 */
const HIDDEN = 0
const OWN = 1
const SHARED = 2
export const PUBLIC = 3

/**
 * Which kinds of sources a query includes: the requester's own beliefs (local), those shared through federations, and public ones
 * (network).
 */
export interface EnabledSources {
  readonly local: boolean
  readonly federated: boolean
  readonly network: boolean
}

export const ALL_SOURCES: EnabledSources = { local: true, federated: true, network: true }

const NONE: readonly string[] = []
const LOCAL: BeliefSource = { kind: 'local', id: null }
const NETWORK: BeliefSource = { kind: 'network', id: null }

export class Requester {
  /** Name of the requesting agent. The local owner is an agent too, and in this lens sees no more than others. */
  readonly id: string
  /** Name of the only federation whose shared beliefs the requester sees in this view; null: those of all federations of the requester. */
  readonly through: string | null
  /** The partitions that the requester may read, as a scope for searches. */
  readonly accessScope: AccessScope
  /** Ids of the federations in which the requester is an active member and may query single beliefs, in ascending order. */
  readonly federations: readonly string[]
  readonly #circle: Circle
  /** For each partition id, its kind for the requester: `HIDDEN`, `OWN`, `SHARED` or `PUBLIC`. */
  readonly #kinds: Uint8Array
  #known: PartitionId
  /**
   * For each shared partition that the requester sees: the federations in which both the requester and the partition's holder are active,
   * ascending.
   */
  readonly #through = new Map<PartitionId, readonly string[]>()
  readonly #sources = new Map<string, BeliefSource>()
  readonly #strict: ReadonlySet<string>

  constructor(reader: StoreReader, id: string, members: Members = new Members(reader), through: string | null = null) {
    this.id = id
    this.through = through
    // A federation that publishes only aggregates lets nobody see single beliefs (BQ-100, BQ-105).
    const isOpen = (federation: string) =>
      (through === null || federation === through) && !isAggregate(reader, federation)
    this.#circle = new Circle(members, { id }, isOpen)
    this.federations = this.#circle.federations
    const partitions = reader.partitions()
    this.#kinds = new Uint8Array(partitions.reduce((most, partition) => Math.max(most, partition.id), 0) + 1)
    this.#known = this.#kinds.length - 1
    const seen: PartitionId[] = []
    for (const { id: partition, audience } of partitions) {
      if (!this.#circle.mayRead(audience)) continue
      seen.push(partition)
      this.#kinds[partition] = audience.kind === 'public' ? PUBLIC : audience.holder === id ? OWN : SHARED
      if (audience.kind === 'shared') this.#through.set(partition, this.#circle.through(audience))
    }
    this.accessScope = { viewer: { id }, partitions: seen.sort((a, b) => a - b) }
    this.#strict = new Set(this.federations.filter(federation => isStrict(reader, federation)))
  }

  /** Kind of the partition for the requester: `HIDDEN`, `OWN`, `SHARED` or `PUBLIC`. */
  kindOf(partition: PartitionId): number {
    return this.#kinds[partition] ?? HIDDEN
  }

  /**
   * Called with partitions (sets of entries with one audience) that were added to the store since this object was made. Returns true if the
   * requester may see none of them, so that this object stays valid; false if it must be replaced.
   */
  passesOver(added: readonly { readonly id: PartitionId; readonly audience: Audience }[]): boolean {
    if (added.some(({ audience }) => this.maySee(audience))) return false
    this.#known = added.reduce((most, { id }) => Math.max(most, id), this.#known)
    return true
  }

  /**
   * Whether this object already knows the requester's permissions for the partition: the partition existed when the object was made, or was
   * later passed to `passesOver`.
   */
  knows(partition: PartitionId): boolean {
    return partition <= this.#known
  }

  sees(partition: PartitionId): boolean {
    return this.kindOf(partition) !== HIDDEN
  }

  /**
   * Whether the requester may see entries with this audience. Used for past versions of beliefs: these have an audience, but do not belong
   * to any partition (set of current entries with one audience).
   */
  maySee(audience: Audience): boolean {
    return this.#circle.mayRead(audience)
  }

  /** Federations of an audience in which both the requester and the audience's holder are active, ascending. */
  federationsOfAudience(audience: Audience): readonly string[] {
    return this.#circle.through(audience)
  }

  /**
   * Federations with which a partition is shared and in which both its holder and the requester are active, ascending; none if the
   * requester does not see the partition.
   */
  federationsOf(partition: PartitionId): readonly string[] {
    return this.#through.get(partition) ?? NONE
  }

  /** Whether a federation is strict: it shows no holders of beliefs, not even by a pseudonym (BQ-104). */
  isStrict(federation: string): boolean {
    return this.#strict.has(federation)
  }

  /**
   * The source of a belief for the requester: the first of the enabled sources (own, public, or a federation) that has the belief's
   * partition; null: none has.
   */
  sourceOf(partition: PartitionId, holder: string, enabled: EnabledSources = ALL_SOURCES): BeliefSource | null {
    const kind = this.kindOf(partition)
    if (kind === HIDDEN) return null
    return this.#source(holder, kind === PUBLIC, this.federationsOf(partition), enabled)
  }

  /**
   * The source of a past version of a belief, found by its audience, because past versions are in no partition; null: no enabled source has
   * it.
   */
  sourceOfAudience(audience: Audience, enabled: EnabledSources = ALL_SOURCES): BeliefSource | null {
    if (!this.maySee(audience)) return null
    return this.#source(audience.holder, audience.kind === 'public', this.federationsOfAudience(audience), enabled)
  }

  #source(
    holder: string,
    isPublic: boolean,
    through: readonly string[],
    { local, federated, network }: EnabledSources,
  ): BeliefSource | null {
    if (holder === this.id && local) return LOCAL
    if (isPublic) return network ? NETWORK : null
    const first = federated ? through[0] : undefined
    return first === undefined ? null : this.#federated(first)
  }

  #federated(id: string): BeliefSource {
    const known = this.#sources.get(id)
    if (known !== undefined) return known
    const made: BeliefSource = { kind: 'federated', id }
    this.#sources.set(id, made)
    return made
  }
}

function isStrict(reader: StoreReader, id: string): boolean {
  return reader.table(FEDERATIONS).get({ id })?.['anonymity'] === 'strict'
}

/**
 * Maximum number of requesters in the cache: each takes one byte per partition, and some hundred bytes per shared partition that it sees.
 */
const KEPT = 64

export class Requesters {
  readonly #store: Store
  readonly #members: CurrentMembers
  readonly #known = new Recent<string, Requester>(KEPT)
  #version: number | null = null
  #marks = ''
  /** Number of partitions in the store when it was last checked for added ones. */
  #partitions = 0

  constructor(store: Store) {
    this.#store = store
    this.#members = new CurrentMembers(store)
  }

  /**
   * The requester with this name, from the cache if possible. `through`: name of the only federation whose beliefs the requester may see;
   * null: all of the requester's federations.
   */
  of(id: string, through: string | null = null): Requester {
    this.#forgetOld()
    const make = () => this.#store.read(reader => new Requester(reader, id, this.#members.now(), through))
    // The cache key joins the agent's name and the federation's name by a blank, which is unambiguous because neither contains a blank.
    return this.#known.get(through === null ? id : `${id} ${through}`, make)
  }

  #forgetOld(): void {
    const store = this.#store
    const version = store.version()
    if (version === this.#version) return
    this.#version = version
    const marks = [store.version(MEMBERSHIPS), store.version(FEDERATIONS)].join()
    if (marks !== this.#marks) this.#known.clear()
    this.#marks = marks
    const partitions = store.partitions()
    if (partitions.length < this.#partitions) this.#known.clear()
    // The store only ever adds partitions. A cached requester that may see none of the added ones stays valid; the others are removed from
    // the cache.
    const added = partitions.slice(this.#partitions)
    if (added.length > 0) this.#known.forget((_, requester) => !requester.passesOver(added))
    this.#partitions = partitions.length
  }
}

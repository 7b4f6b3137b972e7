/**
 * The requester, and what of the store exists for it: the one place where reads of this lens meet the visibility matrix
 * (BQ-091 to BQ-095). Made again when memberships, or partitions in sight, have changed.
 */

import { Recent } from '../../../base/recent.ts'
import type { Audience, PartitionId } from '../../../model/partition.ts'
import type { AccessScope } from '../../../model/viewer.ts'
import { Circle, CurrentMembers, Members } from '../../../pipeline/access.ts'
import { FEDERATIONS, MEMBERSHIPS } from '../../../store/core-tables.ts'
import type { Store, StoreReader } from '../../../store/store.ts'
import { isAggregate } from '../aggregates/mechanism.ts'
import type { BeliefSource } from '../model.ts'

/** What a partition is to a requester; beliefs in a public one may yet be its own. */
const HIDDEN = 0
const OWN = 1
const SHARED = 2
export const PUBLIC = 3

/** Which sources are asked. */
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
  /** An agent. The local owner is one too, and sees no more here than others. */
  readonly id: string
  /** The one federation through which it looks; null: all of them. */
  readonly through: string | null
  /** Every partition that it may read. */
  readonly accessScope: AccessScope
  /** Federations in which it is active and may query single beliefs, ascending. */
  readonly federations: readonly string[]
  readonly #circle: Circle
  /** By partition: `HIDDEN`, `OWN`, `SHARED` or `PUBLIC`. */
  readonly #kinds: Uint8Array
  #known: PartitionId
  /** Of shared partitions in sight: the federations through which it meets their holder, ascending. */
  readonly #through = new Map<PartitionId, readonly string[]>()
  readonly #sources = new Map<string, BeliefSource>()
  readonly #strict: ReadonlySet<string>

  constructor(reader: StoreReader, id: string, members: Members = new Members(reader), through: string | null = null) {
    this.id = id
    this.through = through
    // One that tells aggregates alone lets nobody look at single beliefs (BQ-100, BQ-105).
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

  /** `HIDDEN`, `OWN`, `SHARED` or `PUBLIC`. */
  kindOf(partition: PartitionId): number {
    return this.#kinds[partition] ?? HIDDEN
  }

  /** Takes note of partitions that came since this was made. False: it sees some of them, and must be made again. */
  passesOver(added: readonly { readonly id: PartitionId; readonly audience: Audience }[]): boolean {
    if (added.some(({ audience }) => this.maySee(audience))) return false
    this.#known = added.reduce((most, { id }) => Math.max(most, id), this.#known)
    return true
  }

  /** Whether the partition was there when this was made, or taken note of since. */
  knows(partition: PartitionId): boolean {
    return partition <= this.#known
  }

  sees(partition: PartitionId): boolean {
    return this.kindOf(partition) !== HIDDEN
  }

  /** For past versions, which are in no partition. */
  maySee(audience: Audience): boolean {
    return this.#circle.mayRead(audience)
  }

  /** Federations of an audience through which it meets the holder, ascending. */
  federationsOfAudience(audience: Audience): readonly string[] {
    return this.#circle.through(audience)
  }

  /** Federations of a shared partition in which both its holder and the requester are active, ascending. */
  federationsOf(partition: PartitionId): readonly string[] {
    return this.#through.get(partition) ?? NONE
  }

  /** Whether a federation tells nothing of holders, not even a pseudonym (BQ-104). */
  isStrict(federation: string): boolean {
    return this.#strict.has(federation)
  }

  /** Where a belief comes from, of the sources that are asked: the first that has it; null: none does. */
  sourceOf(partition: PartitionId, holder: string, enabled: EnabledSources = ALL_SOURCES): BeliefSource | null {
    const kind = this.kindOf(partition)
    if (kind === HIDDEN) return null
    return this.#source(holder, kind === PUBLIC, this.federationsOf(partition), enabled)
  }

  /** As `sourceOf`, for past versions, which are in no partition. */
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

/** A byte for every partition, and some hundred for every shared one in sight. */
const KEPT = 64

export class Requesters {
  readonly #store: Store
  readonly #members: CurrentMembers
  readonly #known = new Recent<string, Requester>(KEPT)
  #version: number | null = null
  #marks = ''
  /** How many there were. */
  #partitions = 0

  constructor(store: Store) {
    this.#store = store
    this.#members = new CurrentMembers(store)
  }

  /** `through`: one federation, where it looks through no other. */
  of(id: string, through: string | null = null): Requester {
    this.#forgetOld()
    const make = () => this.#store.read(reader => new Requester(reader, id, this.#members.now(), through))
    // Names of agents have no blanks.
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
    // They are only ever added; one that is not seen changes nothing for who does not see it.
    const added = partitions.slice(this.#partitions)
    if (added.length > 0) this.#known.forget((_, requester) => !requester.passesOver(added))
    this.#partitions = partitions.length
  }
}

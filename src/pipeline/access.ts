/**
 * What a viewer may see. Asked twice for every question: before retrieval it fixes the partitions that anything may be
 * read from, and just before an answer leaves each entry is held against it again.
 */
import type { Entry } from '../model/entry.ts'
import type { Audience, PartitionId } from '../model/partition.ts'
import { type AccessScope, isOwner, type Viewer } from '../model/viewer.ts'
import type { Store, StoreReader } from '../store/store.ts'
import { CurrentMembers, Members } from './members.ts'

/**
 * The local owner sees everything. Others see what is public, what is theirs, and what is shared with a federation in
 * which both they and the holder are active, unless its holder is to be masked: answers here name holders.
 */
export function lookAt(reader: StoreReader, viewer: Viewer, members?: Members): AccessScope {
  if (isOwner(viewer)) return accessScopeOf(viewer, reader.partitions())
  const circle = new Circle(members ?? new Members(reader), viewer)
  const isTold = (audience: Audience) => !isMasked(audience) || audience.holder === viewer.id
  return accessScopeOf(
    viewer,
    reader.partitions().filter(({ audience }) => isTold(audience) && circle.mayRead(audience)),
  )
}

function isMasked(audience: Audience): boolean {
  return audience.kind === 'shared' && audience.masked === true
}

/** Whether an entry, as it is stored now, lies in sight. */
export function stillVisible(entry: Pick<Entry, 'partition'>, accessScope: AccessScope): boolean {
  return accessScope.partitions.includes(entry.partition)
}

/** The visibility matrix for one viewer, as memberships stand now. Ask it while its members' reader is open. */
export class Circle {
  readonly viewer: Viewer
  /** In which the viewer is active and may query, ascending. */
  readonly federations: readonly string[]
  readonly #members: Members
  readonly #queried: ReadonlySet<string>

  /** `isOpen`: whether a federation is looked through at all. */
  constructor(members: Members, viewer: Viewer, isOpen: (federation: string) => boolean = () => true) {
    this.viewer = viewer
    this.federations = members.queriedBy(viewer.id).filter(isOpen)
    this.#members = members
    this.#queried = new Set(this.federations)
  }

  mayRead(audience: Audience): boolean {
    if (audience.kind === 'public' || audience.holder === this.viewer.id) return true
    return audience.kind === 'shared' && audience.federations.some(id => this.isMember(id, audience.holder))
  }

  /** Federations of an audience through which the viewer meets its holder; none unless it is shared. */
  through(audience: Audience): readonly string[] {
    return audience.kind === 'shared' ? audience.federations.filter(id => this.isMember(id, audience.holder)) : []
  }

  /** Whether an agent is active in a federation that the viewer may query. */
  isMember(federation: string, agent: string): boolean {
    return this.#queried.has(federation) && this.#members.activeIn(federation).has(agent)
  }
}

function accessScopeOf(viewer: Viewer, partitions: readonly { readonly id: PartitionId }[]): AccessScope {
  return { viewer, partitions: ascending(partitions.map(({ id }) => id)) }
}

function ascending(ids: readonly PartitionId[]): readonly PartitionId[] {
  return [...ids].sort((a, b) => a - b)
}

/** `lookAt`, remembered by viewer for as long as there are no other partitions and members. */
export class Sights {
  readonly #store: Store
  readonly #sights = new Map<string, AccessScope>()
  readonly #members: CurrentMembers
  #version: number | null = null
  /** What the sights rest on: partitions are added, never changed or deleted. */
  #seen: readonly unknown[] = []

  constructor(store: Store) {
    this.#store = store
    this.#members = new CurrentMembers(store)
  }

  look(viewer: Viewer): AccessScope {
    const version = this.#store.version()
    if (version !== this.#version) this.#lookAgain()
    this.#version = version
    const known = this.#sights.get(viewer.id)
    if (known !== undefined) return known
    const accessScope = this.#store.read(reader => lookAt(reader, viewer, this.#members.now()))
    this.#sights.set(viewer.id, accessScope)
    return accessScope
  }

  #lookAgain(): void {
    const partitions = this.#store.partitions()
    // After a write that was undone, a number may be given again, with another audience.
    const seen = [partitions.length, partitions.at(-1)?.audience, this.#members.now()]
    if (seen.some((one, at) => one !== this.#seen[at])) this.#sights.clear()
    this.#seen = seen
  }
}

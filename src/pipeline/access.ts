/**
 * What a viewer may see. Asked twice for every question: before retrieval it fixes the partitions that anything may be
 * read from, and just before an answer leaves each entry is held against it again.
 */
import type { Entry } from '../model/entry.ts'
import type { Audience, PartitionId } from '../model/partition.ts'
import type { Cell, Row } from '../model/table.ts'
import { isOwner, type Sight, type Viewer } from '../model/viewer.ts'
import { MEMBERSHIPS } from '../store/core-tables.ts'
import type { Store, StoreReader } from '../store/store.ts'

/**
 * The local owner sees everything. Others see what is public, what is theirs, and what is shared with a federation in
 * which both they and the holder are active, unless its holder is to be masked: answers here name holders.
 */
export function lookAt(reader: StoreReader, viewer: Viewer, members?: Members): Sight {
  if (isOwner(viewer)) return sightOf(viewer, reader.partitions())
  const circle = new Circle(members ?? new Members(reader), viewer)
  const isTold = (audience: Audience) => !isMasked(audience) || audience.holder === viewer.id
  return sightOf(
    viewer,
    reader.partitions().filter(({ audience }) => isTold(audience) && circle.mayRead(audience)),
  )
}

function isMasked(audience: Audience): boolean {
  return audience.kind === 'shared' && audience.masked === true
}

/** Whether an entry, as it is stored now, lies in sight. */
export function stillVisible(entry: Pick<Entry, 'partition'>, sight: Sight): boolean {
  return sight.partitions.includes(entry.partition)
}

/** `lookAt`, remembered by viewer for as long as nobody commits anything. */
export class Sights {
  readonly #store: Store
  readonly #sights = new Map<string, Sight>()
  readonly #members: CurrentMembers
  #version: number | null = null

  constructor(store: Store) {
    this.#store = store
    this.#members = new CurrentMembers(store)
  }

  look(viewer: Viewer): Sight {
    const version = this.#store.version()
    if (version !== this.#version) this.#sights.clear()
    this.#version = version
    const known = this.#sights.get(viewer.id)
    if (known !== undefined) return known
    const sight = this.#store.read(reader => lookAt(reader, viewer, this.#members.now()))
    this.#sights.set(viewer.id, sight)
    return sight
  }
}

/** The federations of an audience in which its holder is active, and the viewer too, with leave to query. */
export function sharedThrough(
  reader: StoreReader,
  viewer: Viewer,
  { holder, federations }: Extract<Audience, { kind: 'shared' }>,
): readonly string[] {
  const members = reader.table(MEMBERSHIPS)
  return federations.filter(federation => {
    const own = members.get({ federation, agent: viewer.id })
    return own !== undefined && mayQuery(own) && isActive(members.get({ federation, agent: holder }))
  })
}

/** Who stands in which federation, each federation read once. For as long as nobody writes to that table. */
export class Members {
  readonly #reader: StoreReader
  readonly #active = new Map<string, ReadonlySet<string>>()

  constructor(reader: StoreReader) {
    this.#reader = reader
  }

  /** Federations in which an agent is active and may query, ascending. */
  queriedBy(agent: string): readonly string[] {
    const own = this.#reader.table(MEMBERSHIPS).scan({ agent }).filter(mayQuery)
    return own.map(row => row['federation'] as string).sort()
  }

  activeIn(federation: string): ReadonlySet<string> {
    const known = this.#active.get(federation)
    if (known !== undefined) return known
    const rows = this.#reader.table(MEMBERSHIPS).scan({ federation, status: 'active' }, { columns: ['agent'] })
    const active = new Set(rows.map(row => row['agent'] as string))
    this.#active.set(federation, active)
    return active
  }
}

/** Members of a store, kept until somebody writes to that table. */
export class CurrentMembers {
  readonly #store: Store
  #members: Members | null = null
  #version: number | null = null

  constructor(store: Store) {
    this.#store = store
  }

  now(): Members {
    const version = this.#store.version(MEMBERSHIPS)
    if (this.#members === null || version !== this.#version) this.#members = new Members(this.#store)
    this.#version = version
    return this.#members
  }
}

/** The visibility matrix for one viewer, as memberships stand now. Ask it while its members' reader is open. */
export class Circle {
  readonly viewer: Viewer
  /** In which the viewer is active and may query, ascending. */
  readonly federations: readonly string[]
  readonly #members: Members
  readonly #queried: ReadonlySet<string>

  constructor(members: Members, viewer: Viewer) {
    this.viewer = viewer
    this.federations = members.queriedBy(viewer.id)
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

function isActive(membership: Row | undefined): boolean {
  return membership?.['status'] === 'active'
}

/** Of the reader's side: an active membership whose permissions allow queries. Null: all of them. */
function mayQuery(membership: Row): boolean {
  const permissions = membership['permissions'] ?? null
  if (!isActive(membership)) return false
  return permissions === null || namesQuery(permissions)
}

/** What is no list allows nothing. */
function namesQuery(permissions: Cell): boolean {
  try {
    const listed: unknown = JSON.parse(String(permissions))
    return Array.isArray(listed) && listed.includes('query_beliefs')
  } catch {
    return false
  }
}

function sightOf(viewer: Viewer, partitions: readonly { readonly id: PartitionId }[]): Sight {
  return { viewer, partitions: ascending(partitions.map(({ id }) => id)) }
}

function ascending(ids: readonly PartitionId[]): readonly PartitionId[] {
  return [...ids].sort((a, b) => a - b)
}

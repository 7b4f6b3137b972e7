/**
 * Which entries a viewer may see. This is checked twice for every query: before retrieval it determines the partitions that may be read,
 * and just before the answer is returned each entry is checked again.
 */
import { didYouMean, nearIds } from '../base/near-names.ts'
import type { Entry } from '../model/entry.ts'
import { QuerentError } from '../model/errors.ts'
import type { Audience, PartitionId } from '../model/partition.ts'
import type { Cell, Row } from '../model/table.ts'
import { type AccessScope, isOwner, type Viewer } from '../model/viewer.ts'
import { FILES, MEMBERSHIPS } from '../store/core-tables.ts'
import type { Store, StoreReader } from '../store/store.ts'

/**
 * The partitions that a viewer may read. The local owner reads all. Others read public entries, their own, and entries shared with a
 * federation in which both they and the holder are active; shared entries whose holder must stay hidden (masked) are left out, since
 * answers show the holder.
 */
export function lookAt(reader: StoreReader, viewer: Viewer, members?: Members): AccessScope {
  if (isOwner(viewer)) return accessScopeOf(viewer, reader.partitions())
  const circle = new Circle(members ?? new Members(reader), viewer)
  const isReported = (audience: Audience) => !isMasked(audience) || audience.holder === viewer.id
  return accessScopeOf(
    viewer,
    reader.partitions().filter(({ audience }) => isReported(audience) && circle.mayRead(audience)),
  )
}

function isMasked(audience: Audience): boolean {
  return audience.kind === 'shared' && audience.masked === true
}

/** Whether an entry is visible in this access scope: whether the viewer may read the partition (audience) that the entry has now. */
export function stillVisible(entry: Pick<Entry, 'partition'>, accessScope: AccessScope): boolean {
  return accessScope.partitions.includes(entry.partition)
}

/** Number of visible ids that are compared with a wrong id to find similar ones. */
const MAX_COMPARED = 20_000

/**
 * Visible ids that are spelled like an id that does not exist. In a store with more than 20,000 visible ids, the first 20,000 and those
 * with the same first two characters are compared.
 */
export function nearVisibleIds(reader: StoreReader, id: string, accessScope: AccessScope): readonly string[] {
  const first = reader.ids(accessScope, '', MAX_COMPARED)
  const more = first.length < MAX_COMPARED ? [] : reader.ids(accessScope, id.slice(0, 2), MAX_COMPARED)
  const near = nearIds(id, [...new Set([...first, ...more])])
  // An id that only a damaged index contains belongs to no entry, and is therefore not suggested.
  const isThere = (one: string) => reader.entries(reader.find(one, accessScope.partitions)).length > 0
  return near.filter(one => reader.around(ignored, () => isThere(one)))
}

function ignored(): void {}

/** Makes the error `not_found` for an id, with visible ids that are spelled like it. */
export function noSuchEntry(reader: StoreReader, id: string, accessScope: AccessScope, field = 'id'): QuerentError {
  const near = nearVisibleIds(reader, id, accessScope)
  const message = `${field}: there is no entry ${JSON.stringify(id)}${didYouMean(near)}`
  return new QuerentError('not_found', message, { id, ...(near.length > 0 && { near }) })
}

/**
 * What one viewer may read, by the memberships in federations as the store's reader gives them. It may be used only while that reader is
 * open.
 */
export class Circle {
  readonly viewer: Viewer
  /** Federations in which the viewer is an active member and may query, in ascending order of names. */
  readonly federations: readonly string[]
  readonly #members: Members
  readonly #queried: ReadonlySet<string>

  /** `isOpen`: whether the given federation lets its members see entries at all; by default every federation does. */
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

  /** The federations of an entry's audience through which the viewer may see it; none where the audience is not `shared`. */
  through(audience: Audience): readonly string[] {
    return audience.kind === 'shared' ? audience.federations.filter(id => this.isMember(id, audience.holder)) : []
  }

  /** Whether the agent is an active member of the federation, and the viewer may query that federation. */
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

/** Caches what each viewer may see, until partitions or memberships in federations change. */
export class AccessScopes {
  readonly #store: Store
  readonly #scopes = new Map<string, AccessScope>()
  readonly #members: CurrentMembers
  #version: number | null = null
  /**
   * The data from which the cached access scopes (what each viewer may see) were computed: number of partitions, last partition,
   * memberships. A change of access changes one of these, because partitions are only added, never changed or deleted.
   */
  #seen: readonly unknown[] = []

  constructor(store: Store) {
    this.#store = store
    this.#members = new CurrentMembers(store)
  }

  look(viewer: Viewer): AccessScope {
    const version = this.#store.version()
    if (version !== this.#version) this.#lookAgain()
    this.#version = version
    const known = this.#scopes.get(viewer.id)
    if (known !== undefined) return known
    const accessScope = this.#store.read(reader => lookAt(reader, viewer, this.#members.now()))
    this.#scopes.set(viewer.id, accessScope)
    return accessScope
  }

  #lookAgain(): void {
    const partitions = this.#store.partitions()
    // The audience of the last partition is compared too: after a write was rolled back, its partition's number may be given to another
    // audience.
    const seen = [partitions.length, partitions.at(-1)?.audience, this.#members.now()]
    if (seen.some((one, at) => one !== this.#seen[at])) this.#scopes.clear()
    this.#seen = seen
  }
}

// Memberships of agents in federations, which decide who sees entries shared with a federation.

/**
 * The active members of federations. A federation's members are read from the store once; the object is replaced when the table of
 * memberships is written.
 */
export class Members {
  readonly #reader: StoreReader
  readonly #active = new Map<string, ReadonlySet<string>>()

  constructor(reader: StoreReader) {
    this.#reader = reader
  }

  /** Federations in which the agent is an active member and may query, in ascending order of names. */
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

/** The members of a store's federations, cached until the table of memberships is written. */
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

/** The federations of an audience in which the holder is active, and in which the viewer is active and may query. */
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

function isActive(membership: Row | undefined): boolean {
  return membership?.['status'] === 'active'
}

/** Whether a membership is active and its permissions include queries; null permissions include everything. */
function mayQuery(membership: Row): boolean {
  const permissions = membership['permissions'] ?? null
  if (!isActive(membership)) return false
  return permissions === null || namesQuery(permissions)
}

/** Whether a membership's permissions, a JSON list, include queries; a value that is not a list permits nothing. */
function namesQuery(permissions: Cell): boolean {
  try {
    const listed: unknown = JSON.parse(String(permissions))
    return Array.isArray(listed) && listed.includes('query_beliefs')
  } catch {
    return false
  }
}

// Which field values of a visible entry a viewer receives: some are for the holder of the entry only.

/**
 * An entry's audience in the form shown to a viewer: with only the federations through which the viewer sees the entry, or with all
 * federations for the holder and the local owner.
 */
export function visibleAudience(
  audience: Audience,
  viewer: Viewer,
  reader: StoreReader,
): { readonly kind: Audience['kind']; readonly federations?: readonly string[] } {
  if (audience.kind !== 'shared') return { kind: audience.kind }
  const { kind, holder, federations } = audience
  return { kind, federations: isInside(holder, viewer) ? federations : sharedThrough(reader, viewer, audience) }
}

/**
 * An entry's origin in the form shown to a viewer. A path on the holder's machine is shown to the holder and the local owner only; others
 * get the path relative to the added folder, or null.
 */
export function visibleOrigin(entry: Entry, viewer: Viewer, reader: StoreReader): string | null {
  const { origin, audience, key } = entry
  if (origin === null || isInside(audience.holder, viewer) || !isOnDisk(origin)) return origin
  const path = reader.table(FILES).get({ entry: key })?.['path']
  return typeof path === 'string' ? path : null
}

function isInside(holder: string, viewer: Viewer): boolean {
  return isOwner(viewer) || holder === viewer.id
}

/** Whether an origin is the URL of a file, or an absolute path on any operating system, in whatever way a caller wrote it. */
function isOnDisk(origin: string): boolean {
  return /^\s*(file:|[/\\~]|[a-z]:[/\\])/i.test(origin)
}

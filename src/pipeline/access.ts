/**
 * What a viewer may see. Asked twice for every question: before retrieval it fixes the partitions that anything may be
 * read from, and just before an answer leaves each entry is held against it again.
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
 * The local owner sees everything. Others see what is public, what is theirs, and what is shared with a federation in
 * which both they and the holder are active, unless its holder is to be masked: answers here name holders.
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

/** Whether an entry, as it is stored now, lies in sight. */
export function stillVisible(entry: Pick<Entry, 'partition'>, accessScope: AccessScope): boolean {
  return accessScope.partitions.includes(entry.partition)
}

/** Ids that a wrong one is compared with. */
const MAX_COMPARED = 20_000

/** Visible ids that are spelled like one that is not there. Of a store with very many, those that begin alike are compared. */
export function nearVisibleIds(reader: StoreReader, id: string, accessScope: AccessScope): readonly string[] {
  const first = reader.ids(accessScope, '', MAX_COMPARED)
  const more = first.length < MAX_COMPARED ? [] : reader.ids(accessScope, id.slice(0, 2), MAX_COMPARED)
  const near = nearIds(id, [...new Set([...first, ...more])])
  // An id in an index that is damaged names nothing.
  const isThere = (one: string) => reader.entries(reader.find(one, accessScope.partitions)).length > 0
  return near.filter(one => reader.around(ignored, () => isThere(one)))
}

function ignored(): void {}

/** `not_found`, with visible ids that are spelled alike. */
export function noSuchEntry(reader: StoreReader, id: string, accessScope: AccessScope, field = 'id'): QuerentError {
  const near = nearVisibleIds(reader, id, accessScope)
  const message = `${field}: there is no entry ${JSON.stringify(id)}${didYouMean(near)}`
  return new QuerentError('not_found', message, { id, ...(near.length > 0 && { near }) })
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
export class AccessScopes {
  readonly #store: Store
  readonly #scopes = new Map<string, AccessScope>()
  readonly #members: CurrentMembers
  #version: number | null = null
  /** What the scopes are computed from: partitions are added, never changed or deleted. */
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
    // After a write that was undone, a number may be given again, with another audience.
    const seen = [partitions.length, partitions.at(-1)?.audience, this.#members.now()]
    if (seen.some((one, at) => one !== this.#seen[at])) this.#scopes.clear()
    this.#seen = seen
  }
}

// Memberships in federations decide who sees what is shared with one.

/** Each federation is read once: for as long as nobody writes to that table. */
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

// Which parts of a visible entry a viewer receives: some concern its holder only.

/** The federations that a viewer reads it through; all of them for the holder and the local owner. */
export function visibleAudience(
  audience: Audience,
  viewer: Viewer,
  reader: StoreReader,
): { readonly kind: Audience['kind']; readonly federations?: readonly string[] } {
  if (audience.kind !== 'shared') return { kind: audience.kind }
  const { kind, holder, federations } = audience
  return { kind, federations: isInside(holder, viewer) ? federations : sharedThrough(reader, viewer, audience) }
}

/** A file's place on the holder's machine is theirs: others get the path inside the folder that was added, or null. */
export function visibleOrigin(entry: Entry, viewer: Viewer, reader: StoreReader): string | null {
  const { origin, audience, key } = entry
  if (origin === null || isInside(audience.holder, viewer) || !isOnDisk(origin)) return origin
  const path = reader.table(FILES).get({ entry: key })?.['path']
  return typeof path === 'string' ? path : null
}

function isInside(holder: string, viewer: Viewer): boolean {
  return isOwner(viewer) || holder === viewer.id
}

/** A URL of a file, or an absolute path of any system, as it may be put by hand. */
function isOnDisk(origin: string): boolean {
  return /^\s*(file:|[/\\~]|[a-z]:[/\\])/i.test(origin)
}

/** Who stands in which federation: by that, what is shared with one is seen. */
import type { Audience } from '../model/partition.ts'
import type { Cell, Row } from '../model/table.ts'
import type { Viewer } from '../model/viewer.ts'
import { MEMBERSHIPS } from '../store/core-tables.ts'
import type { Store, StoreReader } from '../store/store.ts'

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

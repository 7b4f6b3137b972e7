/**
 * What a viewer may see. Asked twice for every question: before retrieval it fixes the partitions that anything may be
 * read from, and just before an answer leaves each entry is held against it again.
 */
import type { Entry } from '../model/entry.ts'
import type { Audience, PartitionId } from '../model/partition.ts'
import { isOwner, type Sight, type Viewer } from '../model/viewer.ts'
import { MEMBERSHIPS } from '../store/core-tables.ts'
import type { Store, StoreReader } from '../store/store.ts'

/**
 * The local owner sees everything. Others see what is public, what is theirs, and what is shared with a federation in
 * which both they and the holder are active.
 */
export function lookAt(reader: StoreReader, viewer: Viewer): Sight {
  const partitions = reader.partitions()
  const seen = isOwner(viewer) ? partitions : partitions.filter(({ audience }) => mayRead(reader, viewer, audience))
  return { viewer, partitions: ascending(seen.map(({ id }) => id)) }
}

/** Whether an entry, as it is stored now, lies in sight. */
export function stillVisible(entry: Pick<Entry, 'partition'>, sight: Sight): boolean {
  return sight.partitions.includes(entry.partition)
}

/** `lookAt`, remembered by viewer for as long as nobody commits anything. */
export class Sights {
  readonly #store: Store
  readonly #sights = new Map<string, Sight>()
  #version: number | null = null

  constructor(store: Store) {
    this.#store = store
  }

  look(viewer: Viewer): Sight {
    const version = this.#store.version()
    if (version !== this.#version) this.#sights.clear()
    this.#version = version
    const known = this.#sights.get(viewer.id)
    if (known !== undefined) return known
    const sight = this.#store.read(reader => lookAt(reader, viewer))
    this.#sights.set(viewer.id, sight)
    return sight
  }
}

/** The federations of an audience in which both its holder and the viewer are active. */
export function sharedThrough(
  reader: StoreReader,
  viewer: Viewer,
  { holder, federations }: Extract<Audience, { kind: 'shared' }>,
): readonly string[] {
  return federations.filter(id => isActive(reader, id, viewer.id) && isActive(reader, id, holder))
}

function mayRead(reader: StoreReader, viewer: Viewer, audience: Audience): boolean {
  switch (audience.kind) {
    case 'public':
      return true
    case 'private':
      return audience.holder === viewer.id
    case 'shared':
      return audience.holder === viewer.id || sharedThrough(reader, viewer, audience).length > 0
  }
}

function isActive(reader: StoreReader, federation: string, agent: string): boolean {
  return reader.table(MEMBERSHIPS).get({ federation, agent })?.['status'] === 'active'
}

function ascending(ids: readonly PartitionId[]): readonly PartitionId[] {
  return [...ids].sort((a, b) => a - b)
}

/** What the small stores of the index suites have in common: a few audiences, and histories of edits, a transaction each. */
import type { Entry, EntryKey } from '../../src/model/entry.ts'
import { type Audience, audience, type PartitionId, partitionKey } from '../../src/model/partition.ts'
import type { Store, StoreWriter } from '../../src/store/store.ts'

export const AUDIENCES = {
  public: audience('public', 'ann'),
  ann: audience('private', 'ann'),
  bob: audience('private', 'bob'),
  lab: audience('shared', 'ann', ['lab']),
} as const satisfies Record<string, Audience>

export type AudienceName = keyof typeof AUDIENCES

export const AUDIENCE_NAMES: readonly AudienceName[] = Object.keys(AUDIENCES) as AudienceName[]

export class IndexWorld<Edit> {
  readonly store: Store
  readonly #edit: (writer: StoreWriter, edit: Edit, now: number) => void
  #now = 1000

  /** `edit` receives another moment each time. */
  constructor(store: Store, edit: (writer: StoreWriter, edit: Edit, now: number) => void) {
    this.store = store
    this.#edit = edit
    store.write(0, writer => Object.values(AUDIENCES).map(one => writer.intern(one)))
  }

  apply(history: readonly Edit[]): void {
    for (const edit of history) {
      const now = this.#now++
      this.store.write(now, writer => this.#edit(writer, edit, now))
    }
  }

  partitionsOf(...names: readonly AudienceName[]): PartitionId[] {
    const keys = new Set(names.map(name => partitionKey(AUDIENCES[name])))
    return this.store.partitions().flatMap(({ id, audience: of }) => (keys.has(partitionKey(of)) ? [id] : []))
  }

  /** The store's n-th entry; beyond the last, a key that nothing has. */
  entryAt(n: number): EntryKey {
    return this.store.scanEntries(0, 1000)[n] ?? n + 1000
  }
}

/** The entry of this id whose holder is that of the audience, wherever it is. */
export function heldEntry(writer: StoreWriter, id: string, of: AudienceName): Entry | undefined {
  const everywhere = writer.partitions().map(partition => partition.id)
  return writer.entries(writer.find(id, everywhere)).find(entry => entry.audience.holder === AUDIENCES[of].holder)
}

export function deleteHeld(writer: StoreWriter, id: string, of: AudienceName): void {
  const entry = heldEntry(writer, id, of)
  if (entry) writer.delete(entry.key)
}

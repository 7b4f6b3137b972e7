/** Short forms that the store suites share: they put, remove and read in the store of the running test. */
import type { EntryDraft, EntryKey } from '../../src/model/entry.ts'
import type { Filter } from '../../src/model/filter.ts'
import { OWNER } from '../../src/model/partition.ts'
import type { AccessScope } from '../../src/model/viewer.ts'
import type { PutResult, Store } from '../../src/store/store.ts'
import { lineChunks } from './entries.ts'

export const OWNER_VIEWER = { id: OWNER }
export const NOW = 5000

export interface ShortForms {
  put(draft: EntryDraft, now?: number): PutResult
  remove(key: EntryKey): boolean
  /** Sees everything. */
  all(): AccessScope
  matching(filter: Filter): EntryKey[]
  /** Each change as `seq kind entry`. */
  feed(): string[]
}

/** `opened` gives the store of the running test. */
export function shortForms(opened: () => Store): ShortForms {
  const all = (): AccessScope => ({
    viewer: OWNER_VIEWER,
    partitions: opened()
      .partitions()
      .map(partition => partition.id),
  })
  return {
    put: (draft: EntryDraft, now = NOW) => opened().write(now, writer => writer.put(draft, lineChunks(draft))),
    remove: (key: EntryKey) => opened().write(NOW, writer => writer.delete(key)),
    all,
    matching: (filter: Filter) => [...opened().matching(all(), filter)],
    feed: () =>
      opened()
        .changesSince(0, 100)
        .map(({ seq, entry, kind }) => `${seq} ${kind} ${entry}`),
  }
}

/** Where every entry is, for an index that reads the whole store. */

import { grown } from '../base/grown.ts'
import { StepPace, type Steps } from '../base/turns.ts'
import type { EntryKey } from '../model/entry.ts'
import type { PartitionId } from '../model/partition.ts'
import { LOCAL_OWNER } from '../model/viewer.ts'
import type { StoreReader } from '../store/store.ts'

/** Entries noted in one step. */
const ENTRIES_AT_ONCE = 1 << 16
/** What a partition costs beside its entries, in those. */
const ENTRIES_OF_PARTITION = 1024

/**
 * By way of sets of keys, as reading the entries themselves would read all their texts. 4 bytes an entry. In steps: entries that come at
 * a pause may be unknown, and those that move be where they were.
 */
export function* partitionOfAll(reader: StoreReader): Steps<(entry: EntryKey) => PartitionId | undefined> {
  // Plus 1; 0: no such entry.
  let partitionOf = new Int32Array(1024)
  const pace = new StepPace(ENTRIES_AT_ONCE)
  for (const { id } of reader.partitions()) {
    const entries = reader.matching({ viewer: LOCAL_OWNER, partitions: [id] }, { op: 'and', of: [] })
    for (const entry of entries) {
      if (entry >= partitionOf.length) partitionOf = grown(partitionOf, entry + 1)
      partitionOf[entry] = id + 1
    }
    if (pace.isOver(entries.size + ENTRIES_OF_PARTITION)) yield
  }
  return entry => {
    const found = partitionOf[entry] ?? 0
    return found === 0 ? undefined : found - 1
  }
}

/** Where every entry is, for an index that reads the whole store. */

import { grown } from '../base/grown.ts'
import type { EntryKey } from '../model/entry.ts'
import type { PartitionId } from '../model/partition.ts'
import { LOCAL_OWNER } from '../model/viewer.ts'
import type { StoreReader } from '../store/store.ts'

/** By way of sets of keys, as reading the entries themselves would read all their texts. 4 bytes an entry. */
export function partitionOfAll(reader: StoreReader): (entry: EntryKey) => PartitionId | undefined {
  // Plus 1; 0: no such entry.
  let partitionOf = new Int32Array(1024)
  for (const { id } of reader.partitions()) {
    const entries = reader.matching({ viewer: LOCAL_OWNER, partitions: [id] }, { op: 'and', of: [] })
    for (const entry of entries) {
      if (entry >= partitionOf.length) partitionOf = grown(partitionOf, entry + 1)
      partitionOf[entry] = id + 1
    }
  }
  return entry => {
    const found = partitionOf[entry] ?? 0
    return found === 0 ? undefined : found - 1
  }
}

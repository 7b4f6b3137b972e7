/**
 * Nodes read lately, so that what is asked often is read once. Kept by the change feed: a node that was written since, by
 * any process, is read again. Holds nothing of anybody's memory.
 */
import type { JsonObject } from '../../../base/canonical.ts'
import { Recent } from '../../../base/recent.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { FeedFollower } from '../../../pipeline/columns.ts'
import type { StoreReader } from '../../../store/store.ts'
import { readNodes, type StoredNode } from './stored.ts'

export interface FullNode extends StoredNode {
  /** Of plug-ins. */
  readonly columns: JsonObject
}

const NODES_KEPT = 5_000
/** Longer contents are not kept, in UTF-16 units: 80 MB at most for all. */
const LONGEST = 8_192
/** With more changes than this, all are forgotten. */
const FEW = 1_000

export class NodeCache {
  readonly #columnsOf: (reader: StoreReader, entry: EntryKey) => JsonObject
  readonly #nodes = new Recent<EntryKey, FullNode>(NODES_KEPT)
  readonly #feed = new FeedFollower({
    clear: () => this.#nodes.clear(),
    take: (_, changed) => {
      for (const entry of changed.keys()) this.#nodes.delete(entry)
    },
    most: () => FEW,
  })

  constructor(columnsOf: (reader: StoreReader, entry: EntryKey) => JsonObject) {
    this.#columnsOf = columnsOf
  }

  /** Those that are there and nodes, in the order asked for. Within one read of the store. */
  read(reader: StoreReader, keys: readonly EntryKey[]): readonly FullNode[] {
    this.#feed.follow(reader)
    const found = new Map<EntryKey, FullNode>()
    for (const key of keys) {
      const known = this.#nodes.find(key)
      if (known !== undefined) found.set(key, known)
    }
    const missing = keys.filter(key => !found.has(key))
    for (const node of readNodes(reader, missing)) {
      const { key, content } = node.entry
      const full = { ...node, columns: this.#columnsOf(reader, key) }
      found.set(key, full)
      if (content.length <= LONGEST) this.#nodes.set(key, full)
    }
    return keys.flatMap(key => found.get(key) ?? [])
  }
}

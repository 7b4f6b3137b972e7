/**
 * Nodes read lately, so that what is asked often is read once. Kept by the change feed: a node that was written since, by
 * any process, is read again. Holds nothing of anybody's memory.
 */
import type { JsonObject } from '../../../base/canonical.ts'
import type { EntryKey } from '../../../model/entry.ts'
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
  /** In the order of use, oldest first. */
  readonly #nodes = new Map<EntryKey, FullNode>()
  #position = 0

  constructor(columnsOf: (reader: StoreReader, entry: EntryKey) => JsonObject) {
    this.#columnsOf = columnsOf
  }

  /** Those that are there and nodes, in the order asked for. Within one read of the store. */
  read(reader: StoreReader, keys: readonly EntryKey[]): readonly FullNode[] {
    this.#follow(reader)
    const missing = keys.filter(key => !this.#nodes.has(key))
    const read = new Map<EntryKey, FullNode>()
    for (const node of readNodes(reader, missing)) {
      read.set(node.entry.key, { ...node, columns: this.#columnsOf(reader, node.entry.key) })
    }
    const found = keys.flatMap(key => read.get(key) ?? this.#nodes.get(key) ?? [])
    for (const node of found) this.#keep(node)
    return found
  }

  #keep(node: FullNode): void {
    if (node.entry.content.length > LONGEST) return
    this.#nodes.delete(node.entry.key)
    this.#nodes.set(node.entry.key, node)
    if (this.#nodes.size > NODES_KEPT) this.#nodes.delete(this.#nodes.keys().next().value as EntryKey)
  }

  #follow(reader: StoreReader): void {
    const last = reader.lastSeq()
    if (last === this.#position) return
    const isTold = this.#position <= last && reader.firstSeq() <= this.#position + 1 && last - this.#position <= FEW
    if (isTold) for (const { entry } of reader.changesSince(this.#position, FEW)) this.#nodes.delete(entry)
    else this.#nodes.clear()
    this.#position = last
  }
}

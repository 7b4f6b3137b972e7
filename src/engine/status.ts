/** What a viewer may know of the state of things: counts over visible partitions; bytes and paths for the owner. */

import { type Embedder, modelKey } from '../embed/embedder.ts'
import type { Index, LinkIndex, PointIndex, SearchScope, VectorIndex, WordIndex } from '../index/contract.ts'
import { isOwner, type Sight } from '../model/viewer.ts'
import type { Store } from '../store/store.ts'
import type { Upkeep } from '../store/upkeep.ts'
import { countVisible } from './counts.ts'
import type { Status } from './engine.ts'

export interface StatusInput {
  readonly version: string
  readonly store: Store
  readonly sight: Sight
  readonly home: string | null
  readonly embedder: Embedder | null
  readonly embedderError: string | null
  readonly indexes: readonly Index[]
  readonly lenses: readonly string[]
  readonly upkeep: Upkeep | undefined
}

export function statusOf(input: StatusInput): Status {
  const { store, sight, embedder } = input
  const { partitions } = sight
  const owner = isOwner(sight.viewer)
  return {
    version: input.version,
    home: owner ? input.home : null,
    entries: countVisible(store, sight),
    chunks: store.countChunks(partitions),
    embedded: embedder === null ? 0 : store.countVectors(modelKey(embedder.model), partitions),
    collections: store.facet(sight, 'collection', 100),
    embedder: embedder === null ? null : { id: embedder.model.id, dimensions: embedder.model.dimensions },
    embedder_error: owner || input.embedderError === null ? input.embedderError : 'there is no embedder at the moment',
    indexes: input.indexes.map(index => ({
      name: index.name,
      bytes: owner ? index.byteLength : null,
      rows: rowsOf(index, { partitions }),
    })),
    lenses: input.lenses,
    storage: owner && input.upkeep !== undefined ? storageOf(input.upkeep) : null,
  }
}

function storageOf(upkeep: Upkeep): Status['storage'] {
  return { log_bytes: upkeep.log()?.bytes ?? 0, to_erase: upkeep.forgotten()?.isErased === false }
}

/** Of a graph, its links. */
function rowsOf(index: Index, scope: SearchScope): number | null {
  if (!('count' in index)) return null
  const counted = (index as WordIndex | VectorIndex | PointIndex | LinkIndex).count(scope)
  return typeof counted === 'number' ? counted : counted.links
}

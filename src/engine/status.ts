/** What a viewer may know of the state of things: counts over visible partitions; bytes and paths for the owner. */
import type { Turns } from '../base/turns.ts'
import { type Embedder, modelKey } from '../embed/embedder.ts'
import type { Index, LinkIndex, PointIndex, SearchScope, VectorIndex, WordIndex } from '../index/contract.ts'
import { isOwner, type Sight } from '../model/viewer.ts'
import { noticesFor } from '../pipeline/notices.ts'
import type { Upkeep } from '../store/upkeep.ts'
import type { Status } from './engine.ts'
import { countVisible } from './listing.ts'
import type { Parts } from './parts.ts'
import { VERSION } from './version.ts'

/** Collections told of, the largest first. */
const MOST_COLLECTIONS = 100

/** Loads every index, with pauses. What it says is of the moment after the last. */
export async function statusOf(
  { store, home, embedder, embedderError, indexes, registry }: Parts,
  look: () => Sight,
  turns: Turns,
): Promise<Status> {
  await turns.run(indexes.getInSteps(...indexes.names))
  const sight = look()
  const { partitions } = sight
  const owner = isOwner(sight.viewer)
  return {
    version: VERSION,
    home: owner ? home : null,
    entries: countVisible(store, sight),
    chunks: store.countChunks(partitions),
    embedded: embedder === null ? 0 : store.countVectors(modelKey(embedder.model), partitions),
    collections: store.facet(sight, 'collection', MOST_COLLECTIONS),
    embedder: embedder === null ? null : embedderOf(embedder),
    embedder_error: owner || embedderError === null ? embedderError : 'there is no embedder at the moment',
    indexes: indexes.all.map(index => ({
      name: index.name,
      bytes: owner ? index.byteLength : null,
      rows: rowsOf(index, { partitions }),
    })),
    lenses: registry.all.map(lens => lens.name),
    notices: noticesFor(store, sight.viewer),
    storage: owner && store.upkeep !== undefined ? storageOf(store.upkeep) : null,
  }
}

function embedderOf({ model, runsOn }: Embedder): Status['embedder'] {
  return { id: model.id, dimensions: model.dimensions, runs_on: runsOn?.() ?? null }
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

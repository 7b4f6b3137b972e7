/** A store in memory, with indexes over it, for as long as somebody holds it: filled once with some hundred entries, and read. */
import { must } from '../base/assert.ts'
import { type Embedder, modelKey } from '../embed/embedder.ts'
import { openReferenceVectors } from '../index/reference-vectors.ts'
import type { Scratch } from '../lenses/lens.ts'
import { openMemoryStore } from '../store/memory-store.ts'
import { IndexMakers } from './index-makers.ts'
import { IndexSet } from './index-set.ts'

/** Vectors put into it are of this embedder's model. Indexes are made when they are first asked for. */
export function openScratch(embedder: Embedder | null): Scratch {
  const store = openMemoryStore({ copies: false })
  // Among so few, looking at every vector takes less than getting ready to look at some.
  const makers = new IndexMakers(embedder, [], ({ model }) => openReferenceVectors(modelKey(model), model.dimensions))
  const indexes = new IndexSet(store, null, makers.all())
  const scratch: Scratch = {
    store,
    index: name => {
      indexes.refresh()
      return indexes.get(name)
    },
  }
  INDEXES.set(scratch, indexes)
  return scratch
}

const INDEXES = new WeakMap<Scratch, IndexSet>()

/** All indexes of a store that `openScratch` made. */
export function indexesOf(scratch: Scratch): IndexSet {
  return must(INDEXES.get(scratch), 'the indexes of a store in memory')
}

/** A store in memory, with indexes over it, for as long as somebody holds it. */
import type { Embedder } from '../embed/embedder.ts'
import type { Scratch } from '../lenses/lens.ts'
import { openMemoryStore } from '../store/memory-store.ts'
import { IndexMakers } from './index-makers.ts'
import { IndexSet } from './index-set.ts'

/** Vectors put into it are of this embedder's model. Indexes are made when they are first asked for. */
export function openScratch(embedder: Embedder | null): Scratch {
  const store = openMemoryStore()
  const indexes = new IndexSet(store, null, new IndexMakers(store, embedder, []).all())
  return {
    store,
    index: name => {
      indexes.refresh()
      return indexes.get(name)
    },
  }
}

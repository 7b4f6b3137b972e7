/**
 * Every index that an engine has: of words, of vectors where there is an embedder, and what its lenses declare. The code of an index is
 * loaded where the engine has one.
 */
import { must } from '../base/assert.ts'
import { type Embedder, modelKey } from '../embed/embedder.ts'
import type { Index } from '../index/contract.ts'
import { openWordIndex } from '../index/words.ts'
import type { Lens, Scratch } from '../lenses/lens.ts'
import { openMemoryStore } from '../store/sqlite-store.ts'
import type { Store } from '../store/store.ts'
import { IndexSet } from './index-set.ts'

type MakeIndex = () => Index
/** Of the vectors of an embedder. */
type MakeVectorIndex = (embedder: Embedder) => Index

interface VectorMakers {
  /** For a store of any size. */
  readonly large: MakeVectorIndex
  /** For a scratch store. Among so few, looking at every vector takes less than getting ready to look at some. */
  readonly small: MakeVectorIndex
}

/** By name, what makes an empty one. */
export class IndexMakers {
  readonly #makers: Map<string, MakeIndex>
  /** Null: the engine was opened without an embedder. */
  readonly #vectors: VectorMakers | null

  constructor(makers: readonly MakeIndex[], vectors: VectorMakers | null) {
    this.#makers = new Map(makers.map(make => [make().name, make]))
    this.#vectors = vectors
  }

  /** One of each. */
  all(): readonly Index[] {
    return [...this.#makers.values()].map(make => make())
  }

  /** The index of the vectors of another embedder, which `make` makes from now on too. */
  add(embedder: Embedder): Index {
    const { large } = must(this.#vectors, 'code of an index of vectors')
    const index = large(embedder)
    this.#makers.set(index.name, () => large(embedder))
    return index
  }

  make(name: string): Index {
    return must(this.#makers.get(name), `index ${name}`)()
  }

  /** Vectors put into it are of this embedder's model. Indexes are made when they are first asked for. */
  openScratch(embedder: Embedder | null): Scratch {
    const store = openMemoryStore()
    const vectors = embedder === null ? [] : [must(this.#vectors, 'code of an index of vectors').small(embedder)]
    const indexes = new IndexSet(store, null, [openWordIndex(), ...vectors])
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
}

export async function loadIndexMakers(
  store: Store,
  embedders: readonly Embedder[],
  lenses: readonly Lens[],
): Promise<IndexMakers> {
  const vectors = embedders.length === 0 ? null : await loadVectorMakers(store)
  const makers: MakeIndex[] = [openWordIndex]
  if (vectors !== null) makers.push(...embedders.map(embedder => () => vectors.large(embedder)))
  makers.push(...lenses.flatMap(lens => lens.indexes ?? []))
  const points = lenses.flatMap(lens => lens.pointIndexes ?? [])
  if (points.length > 0) {
    const { openPointIndex } = await import('../index/points.ts')
    makers.push(...points.map(each => () => openPointIndex(each)))
  }
  const links = lenses.flatMap(lens => lens.linkIndexes ?? [])
  if (links.length > 0) {
    const { openLinkIndex } = await import('../index/links.ts')
    makers.push(...links.map(each => () => openLinkIndex(each)))
  }
  return new IndexMakers(makers, vectors)
}

async function loadVectorMakers(store: Store): Promise<VectorMakers> {
  const { openVectorIndex } = await import('../index/vectors.ts')
  const { openReferenceVectors } = await import('../index/reference-vectors.ts')
  return {
    large: ({ model }) => {
      const key = modelKey(model)
      const source = (chunks: readonly number[]) => store.vectorsOnly(key, chunks)
      return openVectorIndex({ model: key, dimensions: model.dimensions, source })
    },
    small: ({ model }) => openReferenceVectors(modelKey(model), model.dimensions),
  }
}

const INDEXES = new WeakMap<Scratch, IndexSet>()

/** All indexes of a store that `openScratch` made. */
export function indexesOf(scratch: Scratch): IndexSet {
  return must(INDEXES.get(scratch), 'the indexes of a store in memory')
}

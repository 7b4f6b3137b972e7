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
/** Of the vectors that this store has of an embedder. */
type MakeVectorIndex = (embedder: Embedder, store: Store) => Index

/** By name, what makes an empty one. */
export class IndexMakers {
  readonly #makers: Map<string, MakeIndex>
  readonly #store: Store
  /** Null: the engine was opened without an embedder. */
  readonly #makeVectors: MakeVectorIndex | null

  constructor(makers: readonly MakeIndex[], store: Store, makeVectors: MakeVectorIndex | null) {
    this.#makers = new Map(makers.map(make => [make().name, make]))
    this.#store = store
    this.#makeVectors = makeVectors
  }

  /** One of each. */
  all(): readonly Index[] {
    return [...this.#makers.values()].map(make => make())
  }

  /** The index of the vectors of another embedder, which `make` makes from now on too. */
  add(embedder: Embedder): Index {
    const make = () => this.#vectorsOf(embedder, this.#store)
    const index = make()
    this.#makers.set(index.name, make)
    return index
  }

  make(name: string): Index {
    return must(this.#makers.get(name), `index ${name}`)()
  }

  /** Vectors put into it are of this embedder's model. Indexes are made when they are first asked for. */
  openScratch(embedder: Embedder | null): Scratch {
    const store = openMemoryStore()
    const vectors = embedder === null ? [] : [this.#vectorsOf(embedder, store)]
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

  #vectorsOf(embedder: Embedder, store: Store): Index {
    return must(this.#makeVectors, 'code of an index of vectors')(embedder, store)
  }
}

export async function loadIndexMakers(
  store: Store,
  embedders: readonly Embedder[],
  lenses: readonly Lens[],
): Promise<IndexMakers> {
  const makeVectors = embedders.length === 0 ? null : await loadVectorMaker()
  const makers: MakeIndex[] = [openWordIndex]
  if (makeVectors !== null) makers.push(...embedders.map(embedder => () => makeVectors(embedder, store)))
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
  return new IndexMakers(makers, store, makeVectors)
}

async function loadVectorMaker(): Promise<MakeVectorIndex> {
  const { openVectorIndex } = await import('../index/vectors.ts')
  return ({ model }, store) => {
    const key = modelKey(model)
    const source = (chunks: readonly number[]) => store.vectorsOnly(key, chunks)
    return openVectorIndex({ model: key, dimensions: model.dimensions, source })
  }
}

const INDEXES = new WeakMap<Scratch, IndexSet>()

/** All indexes of a store that `openScratch` made. */
export function indexesOf(scratch: Scratch): IndexSet {
  return must(INDEXES.get(scratch), 'the indexes of a store in memory')
}

/** Every index that an engine has: of words, of vectors where there is an embedder, and what its lenses declare. */
import { must } from '../base/assert.ts'
import { type Embedder, modelKey } from '../embed/embedder.ts'
import type { Index } from '../index/contract.ts'
import { openLinkIndex } from '../index/links.ts'
import { openPointIndex } from '../index/points.ts'
import { openReferenceVectors } from '../index/reference-vectors.ts'
import { openVectorIndex } from '../index/vectors.ts'
import { openWordIndex } from '../index/words.ts'
import type { Lens, Scratch } from '../lenses/lens.ts'
import { openMemoryStore } from '../store/sqlite-store.ts'
import type { Store } from '../store/store.ts'
import { IndexSet } from './index-set.ts'

/** By name, what makes an empty one. */
export class IndexMakers {
  readonly #makers: Map<string, () => Index>
  readonly #vectorIndex: (embedder: Embedder) => Index

  constructor(embedders: readonly Embedder[], lenses: readonly Lens[], vectorIndex: (embedder: Embedder) => Index) {
    this.#vectorIndex = vectorIndex
    const makers: (() => Index)[] = [openWordIndex]
    makers.push(...embedders.map(embedder => () => vectorIndex(embedder)))
    makers.push(...lenses.flatMap(lens => lens.indexes ?? []))
    makers.push(...lenses.flatMap(lens => (lens.pointIndexes ?? []).map(points => () => openPointIndex(points))))
    makers.push(...lenses.flatMap(lens => (lens.linkIndexes ?? []).map(links => () => openLinkIndex(links))))
    this.#makers = new Map(makers.map(make => [make().name, make]))
  }

  /** One of each. */
  all(): readonly Index[] {
    return [...this.#makers.values()].map(make => make())
  }

  /** The index of the vectors of another embedder, which `make` makes from now on too. */
  add(embedder: Embedder): Index {
    const make = () => this.#vectorIndex(embedder)
    const index = make()
    this.#makers.set(index.name, make)
    return index
  }

  make(name: string): Index {
    const maker = this.#makers.get(name)
    if (maker === undefined) throw new Error(`invariant broken: no index ${name}`)
    return maker()
  }
}

/** For a store of any size. */
export function vectorIndexOver(store: Store): (embedder: Embedder) => Index {
  return ({ model }) => {
    const key = modelKey(model)
    const source = (chunks: readonly number[]) => store.vectorsOnly(key, chunks)
    return openVectorIndex({ model: key, dimensions: model.dimensions, source })
  }
}

/** Vectors put into it are of this embedder's model. Indexes are made when they are first asked for. */
export function openScratch(embedder: Embedder | null): Scratch {
  const store = openMemoryStore()
  // Among so few, looking at every vector takes less than getting ready to look at some.
  const makers = new IndexMakers(embedder === null ? [] : [embedder], [], ({ model }) =>
    openReferenceVectors(modelKey(model), model.dimensions),
  )
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

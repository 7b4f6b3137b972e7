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

/** By name, what makes an empty one. */
export class IndexMakers {
  readonly #makers: ReadonlyMap<string, MakeIndex>
  readonly #ofScratch: readonly MakeIndex[]

  constructor(makers: readonly MakeIndex[], ofScratch: readonly MakeIndex[]) {
    this.#makers = new Map(makers.map(make => [make().name, make]))
    this.#ofScratch = ofScratch
  }

  /** One of each. */
  all(): readonly Index[] {
    return [...this.#makers.values()].map(make => make())
  }

  make(name: string): Index {
    const maker = this.#makers.get(name)
    if (maker === undefined) throw new Error(`invariant broken: no index ${name}`)
    return maker()
  }

  /** Vectors put into it are of the engine's embedder. Indexes are made when they are first asked for. */
  openScratch(): Scratch {
    const store = openMemoryStore()
    const indexes = new IndexSet(
      store,
      null,
      this.#ofScratch.map(make => make()),
    )
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
  embedder: Embedder | null,
  lenses: readonly Lens[],
): Promise<IndexMakers> {
  const makers: MakeIndex[] = [openWordIndex]
  const ofScratch: MakeIndex[] = [openWordIndex]
  if (embedder !== null) {
    const { openVectorIndex } = await import('../index/vectors.ts')
    const { openReferenceVectors } = await import('../index/reference-vectors.ts')
    const { model } = embedder
    const [key, { dimensions }] = [modelKey(model), model]
    const source = (chunks: readonly number[]) => store.vectorsOnly(key, chunks)
    makers.push(() => openVectorIndex({ model: key, dimensions, source }))
    // Among so few, looking at every vector takes less than getting ready to look at some.
    ofScratch.push(() => openReferenceVectors(key, dimensions))
  }
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
  return new IndexMakers(makers, ofScratch)
}

const INDEXES = new WeakMap<Scratch, IndexSet>()

/** All indexes of a store that `openScratch` made. */
export function indexesOf(scratch: Scratch): IndexSet {
  return must(INDEXES.get(scratch), 'the indexes of a store in memory')
}

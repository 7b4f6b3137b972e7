/** Every index that an engine has: of words, of vectors where there is an embedder, and what its lenses declare. */
import { type Embedder, modelKey } from '../embed/embedder.ts'
import type { Index } from '../index/contract.ts'
import { openLinkIndex } from '../index/links.ts'
import { openPointIndex } from '../index/points.ts'
import { openVectorIndex } from '../index/vectors.ts'
import { openWordIndex } from '../index/words.ts'
import type { Lens } from '../lenses/lens.ts'
import type { Store } from '../store/store.ts'

/** By name, what makes an empty one. */
export class IndexMakers {
  readonly #makers: ReadonlyMap<string, () => Index>

  constructor(embedder: Embedder | null, lenses: readonly Lens[], vectorIndex: (embedder: Embedder) => Index) {
    const makers: (() => Index)[] = [openWordIndex]
    if (embedder !== null) makers.push(() => vectorIndex(embedder))
    makers.push(...lenses.flatMap(lens => lens.indexes ?? []))
    makers.push(...lenses.flatMap(lens => (lens.pointIndexes ?? []).map(points => () => openPointIndex(points))))
    makers.push(...lenses.flatMap(lens => (lens.linkIndexes ?? []).map(links => () => openLinkIndex(links))))
    this.#makers = new Map(makers.map(make => [make().name, make]))
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
}

/** For a store of any size. */
export function vectorIndexOver(store: Store): (embedder: Embedder) => Index {
  return ({ model }) => {
    const key = modelKey(model)
    const source = (chunks: readonly number[]) => store.vectorsOnly(key, chunks)
    return openVectorIndex({ model: key, dimensions: model.dimensions, source })
  }
}

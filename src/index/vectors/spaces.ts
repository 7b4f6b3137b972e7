/**
 * Searches two vector indexes as if they were one: the index of the main embedding model, and the index of a second model for entries in
 * languages that the main model does not know. A query vector is the main model's vector followed by the second model's; a vector of the
 * main model alone searches only the main index. Each entry gets its score from one of the two models, and cosines of the second model are
 * converted to the scale of the main model.
 */
import type { ChunkKey, EntryKey } from '../../model/entry.ts'
import { bestFirst, type Hit, type SearchScope, type VectorSearch, type VectorSearcher } from '../contract.ts'

export interface SpacesOptions {
  readonly main: VectorSearcher
  readonly second: VectorSearcher
  /** Returns those of the given entries that are in a language the main model does not know. */
  readonly foreign: (entries: readonly EntryKey[]) => ReadonlySet<EntryKey>
  /**
   * Function that converts a cosine of the second model to the scale of the main model. It must be strictly increasing, so that the order
   * of results is kept.
   */
  readonly toMain: (cosine: number) => number
}

export function joinSpaces(options: SpacesOptions): VectorSearcher {
  return new JoinedSpaces(options)
}

class JoinedSpaces implements VectorSearcher {
  readonly model: string
  /** Number of dimensions of the main model's vectors. */
  readonly dimensions: number
  readonly #options: SpacesOptions

  constructor(options: SpacesOptions) {
    const { model, dimensions } = options.main
    this.#options = options
    this.model = model
    this.dimensions = dimensions
  }

  /**
   * An entry that the main index found has its score from that index, unless the entry's language is unknown to the main model. An entry
   * that only the second index found counts only if its language is unknown to the main model. So the second index never changes results in
   * languages of the main model.
   */
  search(request: VectorSearch): readonly Hit[] {
    const { main, second } = this.#options
    const { mine, other } = this.#split(request.vector)
    if (other === null) return main.search(request)
    const { least = Number.NEGATIVE_INFINITY, k, approximate } = request
    const found = { ...request, least: undefined }
    const byMain = main.search({ ...found, vector: mine })
    const bySecond = second.search({ ...found, vector: other })
    const foreign = this.#inSecond([...new Set([...byMain, ...bySecond].map(({ entry }) => entry))], request)
    const inSecond = bySecond.filter(({ entry }) => foreign.has(entry))
    const known = new Set(inSecond.map(({ entry }) => entry))
    const missing = byMain.flatMap(({ entry }) => (foreign.has(entry) && !known.has(entry) ? entry : []))
    const hits = [
      ...byMain.filter(({ entry }) => !foreign.has(entry)),
      ...[...inSecond, ...second.score(other, missing, request, approximate)].map(hit => this.#mapped(hit)),
    ]
    return hits
      .filter(({ score }) => score >= least)
      .sort(bestFirst)
      .slice(0, k)
  }

  score(vector: Float32Array, entries: readonly EntryKey[], scope: SearchScope, approximate?: boolean): readonly Hit[] {
    const { main, second } = this.#options
    const { mine, other } = this.#split(vector)
    if (other === null) return main.score(mine, entries, scope, approximate)
    const foreign = this.#inSecond(entries, scope)
    const of = (isSecond: boolean) => entries.filter(entry => foreign.has(entry) === isSecond)
    const hits = [
      ...main.score(mine, of(false), scope, approximate),
      ...second.score(other, of(true), scope, approximate).map(hit => this.#mapped(hit)),
    ]
    const byEntry = new Map(hits.map(hit => [hit.entry, hit]))
    return entries.flatMap(entry => byEntry.get(entry) ?? [])
  }

  scoreChunks(vector: Float32Array, entry: EntryKey, scope: SearchScope, approximate?: boolean): readonly Hit[] {
    const { main, second } = this.#options
    const { mine, other } = this.#split(vector)
    if (other === null || !this.#inSecond([entry], scope).has(entry)) {
      return main.scoreChunks(mine, entry, scope, approximate)
    }
    return second.scoreChunks(other, entry, scope, approximate).map(hit => this.#mapped(hit))
  }

  /** Counts chunks in the main index only, because every chunk has a vector of the main model. */
  count(scope: SearchScope): number {
    return this.#options.main.count(scope)
  }

  has(entry: EntryKey, scope: SearchScope, chunk?: ChunkKey): boolean {
    const { main, second } = this.#options
    return (this.#inSecond([entry], scope).has(entry) ? second : main).has(entry, scope, chunk)
  }

  /**
   * The given entries that the second model scores: entries in a language that the main model does not know and that have a vector of the
   * second model. Without a vector of the second model, an entry is scored by the main model.
   */
  #inSecond(entries: readonly EntryKey[], scope: SearchScope): ReadonlySet<EntryKey> {
    const { second, foreign } = this.#options
    return foreign(entries.filter(entry => second.has(entry, scope)))
  }

  #mapped(hit: Hit): Hit {
    return { ...hit, score: this.#options.toMain(hit.score) }
  }

  #split(vector: Float32Array): { readonly mine: Float32Array; readonly other: Float32Array | null } {
    if (vector.length === this.dimensions) return { mine: vector, other: null }
    return { mine: vector.subarray(0, this.dimensions), other: vector.subarray(this.dimensions) }
  }
}

/**
 * Returns a function that converts cosines of one model to the scale of another by quantiles: `from` and `to` have the quantiles of both
 * models at the same levels. A quantile is mapped to the other model's quantile, values in between linearly, and -1 and 1 to themselves.
 * Example: [0, .2] to [.1, .5]: .1 is half way between 0 and .2, so it becomes .3; .6 is half way from .2 to 1, so it becomes .75.
 */
export function quantileMap(from: readonly number[], to: readonly number[]): (cosine: number) => number {
  const xs = [-1, ...from, 1]
  const ys = [-1, ...to, 1]
  return cosine => {
    const above = xs.findIndex((x, at) => at > 0 && cosine <= x)
    const at = above < 0 ? xs.length - 1 : above
    const [x0, x1, y0, y1] = [xs[at - 1], xs[at], ys[at - 1], ys[at]] as [number, number, number, number]
    return x1 === x0 ? y1 : y0 + ((cosine - x0) / (x1 - x0)) * (y1 - y0)
  }
}

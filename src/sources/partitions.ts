/** A mirrored collection consists of several in the other engine, one per partition; they are found here and joined into one. */
import { type AccessScope, isOwner } from '../model/viewer.ts'
import type { CollectionAnswer, SourceRequest } from '../pipeline/source.ts'
import { notFound } from './failure.ts'
import { mirrorName, nearestFirst } from './mirrored.ts'

export interface AccessOptions {
  /**
   * Keys of the partitions that the viewer may see, by which mirrored collections are found; absent: the owner searches, and no mirrored
   * collections are looked up.
   */
  readonly partitionKeys?: ((accessScope: AccessScope) => readonly string[]) | undefined
  /** Whether viewers other than the owner may search collections that were not mirrored (default false). */
  readonly public?: boolean | undefined
}

/** A search request that has a vector. */
export type VectorRequest = Omit<SourceRequest, 'vector'> & { readonly vector: Float32Array }

/**
 * The mirrored collections of that name which the viewer may see; where there are none, the collection with exactly that name; where that
 * does not exist either, none. `find`: looks up a collection by its name in the engine; null: there is none. Throws `SourceFailure` for a
 * viewer who may not search other collections.
 */
export async function visibleCollections<T>(
  name: string,
  accessScope: AccessScope,
  options: AccessOptions,
  find: (nameThere: string, isMirrored: boolean) => Promise<T | null>,
): Promise<readonly T[]> {
  const keys = options.partitionKeys?.(accessScope) ?? []
  const mirrored = await Promise.all(keys.map(key => find(mirrorName(name, key), true)))
  const found = mirrored.filter(collection => collection !== null)
  if (found.length > 0) return found
  if (!isOwner(accessScope.viewer) && options.public !== true) throw notFound(name)
  const plain = await find(name, false)
  return plain === null ? [] : [plain]
}

/** Joins the answers of one collection's partitions. */
export function together(answers: readonly CollectionAnswer[], limit: number): CollectionAnswer {
  const [first] = answers as readonly [CollectionAnswer]
  if (answers.length === 1) return first
  const records = nearestFirst(answers.flatMap(answer => answer.records))
  const deviations = answers.map(answer => answer.deviation).filter(deviation => deviation !== null)
  return {
    ...first,
    records: records.slice(0, limit),
    exhausted: answers.every(answer => answer.exhausted) && records.length <= limit,
    deviation: deviations.length === 0 ? null : Math.max(...deviations),
  }
}

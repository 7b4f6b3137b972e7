/**
 * A mirrored collection consists of several collections in the other engine, one per partition. This module finds those that a viewer may
 * see and joins their results.
 */
import { type AccessScope, isOwner } from '../model/viewer.ts'
import type { CollectionAnswer, SourceRequest } from '../pipeline/source.ts'
import { notFound } from './failure.ts'
import { mirrorName, nearestFirst } from './mirrored.ts'

export interface AccessOptions {
  /**
   * Keys of the partitions that a viewer may see, by which mirrored collections are found. Absent: the searcher is the owner, and no
   * mirrored collections are looked up.
   */
  readonly partitionKeys?: ((accessScope: AccessScope) => readonly string[]) | undefined
  /** Whether viewers other than the owner may search collections that this program did not mirror (default false). */
  readonly public?: boolean | undefined
}

/** A search request whose vector is present. */
export type VectorRequest = Omit<SourceRequest, 'vector'> & { readonly vector: Float32Array }

/**
 * Finds the collections in the other engine that a request for the collection `name` searches: the mirrored ones of this name that the
 * viewer may see. Where there are none, the collection with exactly this name. `find`: looks up a collection in the engine; null: there is
 * none. Throws `SourceFailure` for a viewer who may only search mirrored collections.
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

/** Joins the answers for the partitions of one collection, nearest records first. */
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

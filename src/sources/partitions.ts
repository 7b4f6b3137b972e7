/** A collection mirrored to another engine lies there as several, one a partition: finding them, and taking them as one. */
import { type AccessScope, isOwner } from '../model/viewer.ts'
import type { CollectionAnswer, SourceRequest } from '../pipeline/source.ts'
import { notFound } from './failure.ts'
import { mirrorName, nearestFirst } from './mirrored.ts'

export interface AccessOptions {
  /** Keys of the partitions in sight, to find what was mirrored; absent: the owner asks, and nothing is looked for. */
  readonly partitionKeys?: ((accessScope: AccessScope) => readonly string[]) | undefined
  /** Whether viewers other than the owner may ask collections that were not mirrored (default false). */
  readonly public?: boolean | undefined
}

/** A question that has a vector. */
export type VectorRequest = Omit<SourceRequest, 'vector'> & { readonly vector: Float32Array }

/**
 * The mirrored collections of that name in sight; where there are none, the one that has the name; where that is not
 * there either, none. `find`: by the name there; null: there is none. Throws `SourceFailure` for who may not ask others.
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

/** The answers of the partitions of one collection, as one. */
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

/** Holds a point index against one built anew: by where its points are, and by what it finds near some of them. */
import type { PointIndex } from '../../index/contract.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { PartitionId } from '../../model/partition.ts'

/** Points whose neighbours are compared, and how many neighbours of each. */
const POINTS_ASKED = 20
const DEPTH = 20

export interface PointComparison {
  /** What the index does otherwise, in a few words; null: nothing. */
  readonly difference: string | null
  readonly answers: number
}

/** `scopes`: partitions to ask in, one after the other. */
export function comparePoints(
  index: PointIndex,
  rebuilt: PointIndex,
  entries: readonly EntryKey[],
  scopes: readonly (readonly PartitionId[])[],
): PointComparison {
  const pointOf = (of: PointIndex, entry: EntryKey): string => JSON.stringify(of.pointOf(entry) ?? null)
  const stray = entries.some(entry => pointOf(index, entry) !== pointOf(rebuilt, entry))
  if (stray) return { difference: 'another point of an entry', answers: 0 }
  const points = spread(entries.map(entry => rebuilt.pointOf(entry)).filter(point => point !== undefined))
  let answers = 0
  for (const [at, point] of points.entries()) {
    const request = { point, partitions: scopes[at % scopes.length] ?? [], k: DEPTH }
    answers++
    if (JSON.stringify(index.search(request)) !== JSON.stringify(rebuilt.search(request))) {
      return { difference: 'others near a point', answers }
    }
  }
  return { difference: null, answers }
}

function spread<T>(all: readonly T[]): readonly T[] {
  const step = Math.max(1, Math.floor(all.length / POINTS_ASKED))
  return all.filter((_, at) => at % step === 0).slice(0, POINTS_ASKED)
}

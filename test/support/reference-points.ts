/**
 * The point index as its contract reads: every point in a map, every question answered by looking at all of them. All
 * points of a partition are one block. The oracle of the suites.
 */

import type { PointHit, PointIndex, PointIndexDeclaration, PointSearch, SearchScope } from '../../src/index/contract.ts'
import type { PointRow } from '../../src/index/points/blocks.ts'
import { checkPointSearch } from '../../src/index/points/grid.ts'
import type { EntryKey } from '../../src/model/entry.ts'
import type { PartitionId } from '../../src/model/partition.ts'
import type { StoreReader } from '../../src/store/store.ts'

export function openReferencePoints(declared: PointIndexDeclaration): PointIndex {
  return new ReferencePoints(declared)
}

class ReferencePoints implements PointIndex {
  readonly name: string
  readonly arrivals: readonly EntryKey[] = []
  readonly #declared: PointIndexDeclaration
  #rows = new Map<EntryKey, PointRow>()
  #position = 0
  #generation = 0

  constructor(declared: PointIndexDeclaration) {
    this.name = declared.name
    this.#declared = declared
  }

  get position(): number {
    return this.#position
  }

  get byteLength(): number {
    return this.#rows.size * 100
  }

  get blocks(): number {
    return 1 + Math.max(-1, ...[...this.#rows.values()].map(row => row.partition))
  }

  get generation(): number {
    return this.#generation
  }

  refresh(reader: StoreReader): number {
    const applied = Math.max(0, reader.lastSeq() - this.#position)
    if (applied > 0) this.rebuild(reader)
    return applied
  }

  rebuild(reader: StoreReader): void {
    const [l, a, b] = this.#declared.columns
    this.#rows = new Map()
    for (const row of reader.table(this.#declared.table).scan()) {
      const entry = row['entry'] as EntryKey
      const point = [row[l], row[a], row[b]]
      const partition = reader.entry(entry)?.partition
      if (partition === undefined || point.includes(null)) continue
      this.#rows.set(entry, { entry, partition, point: point as [number, number, number] })
    }
    this.#position = reader.lastSeq()
    this.#generation++
  }

  serialise(): readonly Uint8Array[] {
    return [new TextEncoder().encode(JSON.stringify([...this.#rows.values()]))]
  }

  restore(bytes: Uint8Array, position: number): void {
    const rows = JSON.parse(new TextDecoder().decode(bytes)) as PointRow[]
    this.#rows = new Map(rows.map(row => [row.entry, row]))
    this.#position = position
    this.#generation++
  }

  search(request: PointSearch): readonly PointHit[] {
    checkPointSearch(request)
    const { k, maxDistance = Number.POSITIVE_INFINITY, scorer } = request
    const hits = [...this.#visible(request)]
      .map(({ entry, point }) => {
        const distance = distanceBetween(point, request.point)
        return { entry, distance, score: scorer === undefined ? 0 - distance : scorer.score(entry, distance) }
      })
      .filter(hit => hit.distance <= maxDistance)
      .sort((a, b) => b.score - a.score || a.distance - b.distance || a.entry - b.entry)
    const last = hits[Math.min(k, hits.length) - 1]
    if (last === undefined) return []
    return hits.filter((hit, at) => at < k || (hit.score === last.score && hit.distance === last.distance))
  }

  count(scope: SearchScope): number {
    return [...this.#visible(scope)].length
  }

  blockOf(entry: EntryKey): number {
    return this.#rows.get(entry)?.partition ?? -1
  }

  pointOf(entry: EntryKey): readonly [number, number, number] | undefined {
    return this.#rows.get(entry)?.point
  }

  *entries(partitions: readonly PartitionId[]): Iterable<EntryKey> {
    for (const { entry } of this.#visible({ partitions })) yield entry
  }

  *#visible({ partitions, allow }: SearchScope): Iterable<PointRow> {
    const seen = new Set(partitions)
    for (const row of this.#rows.values()) {
      if (seen.has(row.partition) && (allow?.has(row.entry) ?? true)) yield row
    }
  }
}

function distanceBetween(p: readonly [number, number, number], q: readonly [number, number, number]): number {
  const [dl, da, db] = [p[0] - q[0], p[1] - q[1], p[2] - q[2]]
  return Math.sqrt(dl * dl + da * da + db * db)
}

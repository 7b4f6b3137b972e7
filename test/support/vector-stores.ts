/** Memory stores filled with given vectors: an entry for each group of rows, a chunk for each row. */
import { toUnit } from '../../src/math/vector.ts'
import type { EntryKey } from '../../src/model/entry.ts'
import { type Audience, audience, type PartitionId, partitionKey } from '../../src/model/partition.ts'
import { openMemoryStore } from '../../src/store/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { draftOf, lineChunks } from './entries.ts'
import { seededNormal } from './seeded.ts'

export const MODEL = 'test@1'
export const PUBLIC: Audience = audience('public')

export class VectorStore {
  readonly store: Store = openMemoryStore()
  #entries = 0

  /** A new entry with these vectors, one a chunk. */
  add(vectors: readonly Float32Array[], of: Audience = PUBLIC): EntryKey {
    const id = `entry-${this.#entries++}`
    return this.store.write(1, writer => {
      const draft = draftOf({ id, content: vectors.map((_, line) => `${line}`).join('\n'), audience: of })
      const { key } = writer.put(draft, lineChunks(draft))
      const chunks = writer.chunksOf(key)
      writer.putVectors(
        MODEL,
        chunks.map((chunk, i) => ({ chunk: chunk.key, vector: vectors[i] as Float32Array })),
      )
      return key
    })
  }

  /** New entries with three chunks each: quicker to make than as many entries. */
  addInThrees(vectors: readonly Float32Array[], of: Audience = PUBLIC): void {
    for (let i = 0; i < vectors.length; i += 3) this.add(vectors.slice(i, i + 3), of)
  }

  partitions(of: Audience = PUBLIC): PartitionId[] {
    const wanted = partitionKey(of)
    return this.store.partitions().flatMap(({ id, audience: one }) => (partitionKey(one) === wanted ? [id] : []))
  }
}

export function randomUnits(count: number, dimensions: number, seed: number): Float32Array[] {
  const normal = seededNormal(seed)
  return Array.from({ length: count }, () => toUnit(Array.from({ length: dimensions }, normal)) as Float32Array)
}

/** Unit vectors at random round the given one: the smaller the noise, the nearer. */
export function unitsNear(centre: Float32Array, noise: number, count: number, seed: number): Float32Array[] {
  const normal = seededNormal(seed)
  const scale = noise / Math.sqrt(centre.length)
  return Array.from({ length: count }, () => toUnit(centre.map(x => x + scale * normal())) as Float32Array)
}

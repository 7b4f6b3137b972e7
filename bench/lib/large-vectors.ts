/**
 * A store of a million public vectors, made once and kept in bench/out, and filters over it: at random, and by how near
 * to the question entries are.
 */
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Bitset } from '../../src/base/bitset.ts'
import { dot } from '../../src/math/vector.ts'
import type { ChunkKey, EntryKey } from '../../src/model/entry.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { seededNormal, seededUniform } from '../../test/support/seeded.ts'
import { openVectorStore, VECTOR_MODEL, type VectorStore } from './vector-store.ts'

const FOLDER = fileURLToPath(new URL('../out', import.meta.url))
const PAGE = 4096

/** With these vectors, one an entry. */
export function keptVectorStore(vectors: Float32Array, dimensions: number): VectorStore {
  const rows = vectors.length / dimensions
  const file = `${FOLDER}/vectors-${rows}-${dimensions}.db`
  if (!existsSync(file)) {
    mkdirSync(FOLDER, { recursive: true })
    openVectorStore(`${file}.tmp`, vectors, dimensions).store.close()
    renameSync(`${file}.tmp`, file)
  }
  const store = openSqliteStore({ file })
  const entries: EntryKey[] = []
  const chunks: ChunkKey[] = []
  for (let after = -1; ; ) {
    const page = store.scanVectors(VECTOR_MODEL, after, PAGE)
    for (const { entry, chunk } of page) {
      entries.push(entry)
      chunks.push(chunk)
    }
    after = page.at(-1)?.chunk ?? after
    if (page.length === 0) break
  }
  return { store, model: VECTOR_MODEL, partitions: store.partitions().map(({ id }) => id), entries, chunks }
}

/** A filter that keeps about this share of the entries, regardless of what they hold. */
export function anyOf(entries: readonly EntryKey[], share: number, seed: number): Bitset {
  const uniform = seededUniform(seed)
  return Bitset.of(entries.filter(() => uniform() < share))
}

/**
 * Filters that keep this share of the entries, rather near to the question or rather far from it: by the cosine and as much
 * chance. (Were it the cosine alone, the best of the far ones would be alike to the sixth digit, which no code tells apart.)
 */
export function nearAndFar(
  { entries }: VectorStore,
  vectors: Float32Array,
  question: Float32Array,
  shares: readonly number[],
): { readonly near: readonly Bitset[]; readonly far: readonly Bitset[] } {
  const cosines = Float32Array.from(entries, (_, row) => dot(question, vectors, row * question.length))
  const spread = Math.sqrt(cosines.reduce((sum, cosine) => sum + cosine * cosine, 0) / cosines.length)
  const normal = seededNormal(entries.length)
  for (let row = 0; row < cosines.length; row++) cosines[row] = (cosines[row] as number) + spread * normal()
  const sorted = cosines.toSorted()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number
  const kept = (keep: (cosine: number) => boolean) =>
    Bitset.of(entries.filter((_, row) => keep(cosines[row] as number)))
  return {
    near: shares.map(share => kept(cosine => cosine >= at(1 - share))),
    far: shares.map(share => kept(cosine => cosine < at(share))),
  }
}

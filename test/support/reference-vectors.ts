/** The vector index as its contract reads: every vector in a map, every question answered by looking at all of them. */
import {
  bestFirst,
  bestOfEntries,
  type Hit,
  type SearchScope,
  type VectorIndex,
  type VectorSearch,
  vectorsName,
} from '../../src/index/contract.ts'
import { checkQuery } from '../../src/index/vectors/check.ts'
import { cosine } from '../../src/math/vector.ts'
import type { ChunkKey, EntryKey } from '../../src/model/entry.ts'
import type { ChunkVector, StoreReader } from '../../src/store/store.ts'

const PAGE = 4096

export function openReferenceVectors(model: string, dimensions: number): VectorIndex {
  return new ReferenceVectors(model, dimensions)
}

class ReferenceVectors implements VectorIndex {
  readonly name: string
  readonly model: string
  readonly dimensions: number
  #rows = new Map<ChunkKey, ChunkVector>()
  #position = 0

  constructor(model: string, dimensions: number) {
    this.name = vectorsName(model)
    this.model = model
    this.dimensions = dimensions
  }

  get position(): number {
    return this.#position
  }

  get byteLength(): number {
    return this.#rows.size * (this.dimensions * 4 + 12)
  }

  refresh(reader: StoreReader): number {
    const applied = Math.max(0, reader.lastSeq() - this.#position)
    this.rebuild(reader)
    return applied
  }

  rebuild(reader: StoreReader): void {
    this.#rows = new Map()
    this.#position = reader.lastSeq()
    let after = -1
    for (;;) {
      const page = reader.scanVectors(this.model, after, PAGE)
      for (const row of page) this.#rows.set(row.chunk, row)
      const last = page.at(-1)
      if (last === undefined) return
      after = last.chunk
    }
  }

  search(request: VectorSearch): readonly Hit[] {
    checkQuery(request, this.dimensions)
    const { vector, least = Number.NEGATIVE_INFINITY, k } = request
    const hits = [...this.#best(request, row => cosine(vector, row.vector)).values()]
    return hits
      .filter(({ score }) => score >= least)
      .sort(bestFirst)
      .slice(0, k)
  }

  score(vector: Float32Array, entries: readonly EntryKey[], scope: SearchScope): readonly Hit[] {
    checkQuery({ vector, k: 0 }, this.dimensions)
    const wanted = new Set(entries)
    const hits = this.#best(scope, row => (wanted.has(row.entry) ? cosine(vector, row.vector) : undefined))
    return entries.map(entry => hits.get(entry)).filter(hit => hit !== undefined)
  }

  scoreChunks(vector: Float32Array, entry: EntryKey, scope: SearchScope): readonly Hit[] {
    checkQuery({ vector, k: 0 }, this.dimensions)
    return [...this.#visible(scope)]
      .filter(row => row.entry === entry)
      .map(({ chunk, vector: of }) => ({ entry, chunk, score: cosine(vector, of) }))
      .sort((a, b) => a.chunk - b.chunk)
  }

  count(scope: SearchScope): number {
    return [...this.#visible(scope)].length
  }

  has(entry: EntryKey, scope: SearchScope, chunk?: ChunkKey): boolean {
    return [...this.#visible(scope)].some(row => row.entry === entry && (chunk ?? row.chunk) === row.chunk)
  }

  serialise(): readonly Uint8Array[] {
    const rows = [...this.#rows.values()].map(row => ({ ...row, vector: [...row.vector] }))
    return [new TextEncoder().encode(JSON.stringify(rows))]
  }

  restore(bytes: Uint8Array, position: number): void {
    const rows = JSON.parse(new TextDecoder().decode(bytes)) as (Omit<ChunkVector, 'vector'> & { vector: number[] })[]
    this.#rows = new Map(rows.map(row => [row.chunk, { ...row, vector: Float32Array.from(row.vector) }]))
    this.#position = position
  }

  *#visible(scope: SearchScope): Iterable<ChunkVector> {
    const partitions = new Set(scope.partitions)
    for (const row of this.#rows.values()) {
      if (partitions.has(row.partition) && (scope.allow?.has(row.entry) ?? true)) yield row
    }
  }

  /** Each visible entry's best chunk by `rate`; rows rated undefined are passed over. */
  #best(scope: SearchScope, rate: (row: ChunkVector) => number | undefined): Map<EntryKey, Hit> {
    const hits = [...this.#visible(scope)].flatMap((row): readonly Hit[] => {
      const score = rate(row)
      return score === undefined ? [] : [{ entry: row.entry, chunk: row.chunk, score }]
    })
    return bestOfEntries(hits)
  }
}

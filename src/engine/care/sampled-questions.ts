/** Questions made from what a store holds, spread evenly over its entries: the same ones each time, for self-checks. */
import type { Steps } from '../../base/turns.ts'
import { toUnit } from '../../math/vector.ts'
import { type Chunk, chunkText, type Entry, type EntryKey } from '../../model/entry.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { StoreReader } from '../../store/store.ts'
import { tokenise } from '../../text/tokenise.ts'
import { entryKeys } from '../entry-keys.ts'

export interface SampledQuestion {
  /** Of the passage it was made from. */
  readonly partition: PartitionId
  readonly words: readonly string[]
  /** Between the passage's vector and that of another; null where there is none. */
  readonly vector: Float32Array | null
}

interface Passage {
  readonly entry: Entry
  readonly chunk: Chunk
}

const PAGE = 10_000
const WORDS = 3

/** `model` null: without vectors. In steps, the last of which reads the passages. */
export function* sampleQuestions(
  reader: StoreReader,
  model: string | null,
  count: number,
): Steps<readonly SampledQuestion[]> {
  const all: EntryKey[] = []
  for (const page of entryKeys(reader, PAGE)) {
    all.push(...page)
    yield
  }
  const passages = reader.entries(spread(all, count)).flatMap((entry): Passage[] => {
    const chunks = reader.chunksOf(entry.key)
    const chunk = chunks[Math.floor(chunks.length / 2)]
    return chunk === undefined ? [] : [{ entry, chunk }]
  })
  const keys = passages.map(({ chunk }) => chunk.key)
  const vectors = model === null ? [] : reader.vectors(model, keys)
  const byChunk = new Map(vectors.map(({ chunk, vector }) => [chunk, vector]))
  return passages.map(({ entry, chunk }, at) => {
    const [own, next] = [chunk, passages[(at + 1) % passages.length]?.chunk].map(one => byChunk.get(one?.key ?? -1))
    return {
      partition: entry.partition,
      words: spread(distinctWords(chunkText(entry, chunk)), WORDS),
      vector: own === undefined ? null : between(own, next ?? own),
    }
  })
}

function distinctWords(text: string): readonly string[] {
  return [...new Set(tokenise(text).map(({ term }) => term))]
}

/** So many of them, evenly; all when they are fewer. */
function spread<T>(all: readonly T[], count: number): readonly T[] {
  if (all.length <= count) return all
  return Array.from({ length: count }, (_, at) => all[Math.floor(((at + 0.5) * all.length) / count)] as T)
}

/** Questions lie beside passages, not on them. */
function between(one: Float32Array, other: Float32Array): Float32Array {
  return toUnit(one.map((value, at) => value + 0.5 * (other[at] as number))) ?? one
}

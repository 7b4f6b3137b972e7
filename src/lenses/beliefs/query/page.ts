/** What diversity picks from the beginning of the total order. */
import { cosine } from '../../../math/vector.ts'
import type { ShowView } from '../access/show.ts'
import type { CheckedDiversity } from '../check/checked.ts'
import type { Evaluation } from './evaluation.ts'
import type { ScoredBelief } from './scored.ts'
import { type Picked, POOL, spread } from './spread.ts'

/** What diversity picks, as far as it is asked for. Goes on picking alike, whatever changes meanwhile. */
export function diversely(
  evaluation: Evaluation,
  diversity: CheckedDiversity,
): { readonly pool: readonly ScoredBelief[]; readonly picks: Generator<Picked> } {
  const { columns } = evaluation.view
  const pool = evaluation.best(POOL)
  const needsVectors = diversity.minDistance !== null || diversity.lambda < 1
  const vectors = needsVectors ? vectorsOf(evaluation.view, pool) : []
  const domains = new Map(pool.map(({ row }) => [row, columns.domainSet(columns.arrays.domainSets[row] as number)]))
  const picks = spread({
    ...diversity,
    pool,
    domains: ({ row }) => domains.get(row) as readonly string[],
    likeness: (a, b) => {
      const [one, other] = [vectors[a], vectors[b]]
      return one === undefined || other === undefined ? 0 : cosine(one, other)
    },
  })
  return { pool, picks }
}

/** At most so many; the rest can be had later. */
export function* take<T>(from: Iterator<T>, count: number): Generator<T> {
  for (let taken = 0; taken < count; taken++) {
    const next = from.next()
    if (next.done === true) return
    yield next.value
  }
}

/** Vectors of beliefs, by place; undefined: there is none yet. */
export function vectorsOf(
  { reader, model, columns }: ShowView,
  beliefs: readonly Pick<ScoredBelief, 'entry'>[],
): readonly (Float32Array | undefined)[] {
  if (model === null) return beliefs.map(() => undefined)
  const keys = beliefs.map(({ entry }) => entry)
  const found = columns.lastRead.vectors(keys, unknown => {
    const chunks = reader.firstChunks(unknown)
    const vectors = reader.vectorsOnly(model, [...chunks.values()])
    const byChunk = new Map(vectors.map(({ chunk, vector }) => [chunk, vector]))
    return [...chunks].flatMap(([entry, chunk]) => {
      const vector = byChunk.get(chunk)
      return vector === undefined ? [] : [[entry, vector] as const]
    })
  })
  return keys.map(key => found.get(key))
}

/** The two legs that need no name: concepts near the question, and concepts of files whose text has its words. */
import type { VectorIndex, WordTerm } from '../../../index/contract.ts'
import type { PartitionId } from '../../../model/partition.ts'
import { entrySet } from '../../../pipeline/columns.ts'
import type { Call } from '../call.ts'
import type { Concept } from '../concepts.ts'
import type { Look } from '../mind/look.ts'
import { vectorIndex } from '../vectors.ts'
import type { Meant } from './anchors.ts'
import { passageConcepts } from './passages.ts'

export interface MeaningAnswer {
  /** Nearest first; ties by id. */
  readonly meant: readonly Meant[]
  /** Why there may be less than there should. */
  readonly warnings: readonly string[]
}

/** Concepts looked at before the cut. */
const DEPTH = 50
/** Constant of reciprocal rank fusion. */
const RRF = 60

/** Where a question stands among vectors. */
export interface Space {
  readonly index: VectorIndex
  readonly vector: Float32Array
  readonly partitions: readonly PartitionId[]
}

/** `limit` is how many are of use; `withText` asks the text of files too. */
export async function meantConcepts(
  call: Call,
  seen: Look,
  query: string,
  limit: number,
  withText: boolean,
): Promise<MeaningAnswer> {
  if (seen.concepts.all.length === 0) return { meant: [], warnings: [] }
  const { space, warning } = await spaceOf(call, seen, query)
  if (space === null) return { meant: [], warnings: [withText ? `${warning}: answered from names alone` : warning] }
  const near = nearest(call, seen, space)
  const text = withText ? textual(call, seen, space, query) : []
  return { meant: fused(near, text, limit), warnings: [] }
}

/** By meaning alone, without a cut: `/mind/search`. */
export async function nearestConcepts(call: Call, seen: Look, query: string, limit: number): Promise<MeaningAnswer> {
  if (seen.concepts.all.length === 0) return { meant: [], warnings: [] }
  const { space, warning } = await spaceOf(call, seen, query)
  if (space === null) return { meant: [], warnings: [warning] }
  return { meant: search(seen, space, limit), warnings: [] }
}

/** Null with the reason where nothing can be asked by meaning. */
export async function spaceOf(
  { host, signal }: Call,
  { concepts, sight }: Look,
  query: string,
): Promise<{ readonly space: Space | null; readonly warning: string }> {
  const index = await vectorIndex(host)
  if (index === null || host.embedder === null) return no('there is no embedder')
  const { partitions } = sight
  if (index.count({ partitions, allow: entrySet(concepts.all) }) === 0) {
    return no('no concept has a vector yet')
  }
  try {
    const [vector] = await host.embedder.embed([query], 'query', signal)
    return vector === undefined
      ? no('the embedder gave no vector')
      : { space: { index, vector, partitions }, warning: '' }
  } catch (error) {
    return no(`the embedder failed: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function no(reason: string): { readonly space: null; readonly warning: string } {
  return { space: null, warning: `semantic search is unavailable: ${reason}` }
}

/** Those near enough to count, nearest first (CX-021). */
export function nearest({ state }: Call, seen: Look, space: Space): readonly Meant[] {
  const found = search(seen, space, DEPTH)
  const { least_score, least_share } = state.settings
  const least = Math.max(least_score, least_share * (found[0]?.cosine ?? 0))
  return found.filter(({ cosine }) => cosine >= least)
}

function search({ concepts }: Look, { index, vector, partitions }: Space, k: number): readonly Meant[] {
  const hits = index.search({ vector, k, partitions, allow: entrySet(concepts.all) })
  return hits
    .flatMap(({ entry, score }): readonly Meant[] => {
      const concept = concepts.byEntry(entry)
      return concept === undefined ? [] : [{ concept, cosine: score, match: 'meaning' }]
    })
    .sort(byCosine)
}

/** Concepts of the files whose text has the words, in the order of the files' best passages. */
function textual(call: Call, seen: Look, { index, vector, partitions }: Space, query: string): readonly Meant[] {
  const entries = [...passageConcepts(call, seen, termsOf(query)).keys()].map(({ entry }) => entry)
  return index.score(vector, entries, { partitions }).flatMap(({ entry, score }): readonly Meant[] => {
    const concept = seen.concepts.byEntry(entry)
    return concept === undefined ? [] : [{ concept, cosine: score, match: 'text' }]
  })
}

export function termsOf(query: string): readonly WordTerm[] {
  return query.split(/\s+/u).map(text => ({ text, boost: 1 }))
}

/** Chosen by their ranks in both lists, then told nearest first (CX-022, CX-025). */
function fused(near: readonly Meant[], text: readonly Meant[], limit: number): readonly Meant[] {
  if (text.length === 0) return near
  const all = new Map<Concept, { readonly meant: Meant; score: number }>()
  for (const list of [near, text]) {
    for (const [rank, meant] of list.entries()) {
      const known = all.get(meant.concept) ?? { meant, score: 0 }
      known.score += 1 / (RRF + rank + 1)
      all.set(meant.concept, known)
    }
  }
  return [...all.values()]
    .sort((a, b) => b.score - a.score || a.meant.concept.id - b.meant.concept.id)
    .slice(0, limit)
    .map(({ meant }) => meant)
    .sort(byCosine)
}

function byCosine(a: Meant, b: Meant): number {
  return b.cosine - a.cosine || a.concept.id - b.concept.id
}

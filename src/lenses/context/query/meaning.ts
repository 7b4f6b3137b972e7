/** The two legs that need no name: concepts near the question, and concepts of files whose text has its words. */
import type { VectorIndex, WordIndex } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { PartitionId } from '../../../model/partition.ts'
import type { Call } from '../call.ts'
import type { Concept } from '../concepts.ts'
import { entrySet } from '../entry-rows.ts'
import type { Look } from '../mind/look.ts'
import { PROVENANCE } from '../tables.ts'
import { vectorIndex } from '../vectors.ts'
import type { Meant } from './anchors.ts'

export interface MeaningAnswer {
  /** Nearest first; ties by id. */
  readonly meant: readonly Meant[]
  /** Why there may be less than there should. */
  readonly warnings: readonly string[]
}

/** Concepts looked at before the cut. */
const DEPTH = 50
/** Files whose text is followed to concepts, and concepts of each. */
const TEXT_FILES = 10
const CONCEPTS_A_FILE = 3
/** Constant of reciprocal rank fusion. */
const RRF = 60

interface Space {
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
  if (space === null) return { meant: [], warnings: [warning] }
  const near = nearest(call, seen, space)
  const text = withText ? await textual(call, seen, space, query) : []
  return { meant: fused(near, text, limit), warnings: [] }
}

/** By meaning alone, without a cut: `/mind/search`. */
export async function nearestConcepts(call: Call, seen: Look, query: string, limit: number): Promise<MeaningAnswer> {
  if (seen.concepts.all.length === 0) return { meant: [], warnings: [] }
  const { space, warning } = await spaceOf(call, seen, query)
  if (space === null) return { meant: [], warnings: [warning] }
  return { meant: search(seen, space, limit), warnings: [] }
}

async function spaceOf(
  { host, signal }: Call,
  { concepts, sight }: Look,
  query: string,
): Promise<{ readonly space: Space | null; readonly warning: string }> {
  const index = vectorIndex(host)
  if (index === null || host.embedder === null) return no('there is no embedder: answered from names alone')
  const { partitions } = sight
  if (index.count({ partitions, allow: entrySet(concepts.all) }) === 0) {
    return no('no concept has a vector yet: answered from names alone')
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

function nearest({ state }: Call, seen: Look, space: Space): readonly Meant[] {
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
async function textual(call: Call, seen: Look, space: Space, query: string): Promise<readonly Meant[]> {
  const { host, state } = call
  const files = state.files.visible(seen.sight.partitions)
  if (files.all.length === 0) return []
  const terms = query.split(/\s+/u).map(text => ({ text, boost: 1 }))
  const words = host.index('words') as WordIndex
  const { partitions } = seen.sight
  const hits = words.search({ terms, k: TEXT_FILES, partitions, allow: entrySet(files.all) })
  const chunks = new Map(host.store.chunks(hits.map(({ chunk }) => chunk)).map(chunk => [chunk.key, chunk]))
  const found = new Set<Concept>()
  for (const { entry, chunk } of hits) {
    const url = files.byEntry(entry)?.url
    const lines = chunks.get(chunk)
    if (url === undefined || lines === undefined) continue
    const linked = host.store.table(PROVENANCE).scan({ url }, { columns: ['entry', 'url'] })
    const concepts = linked.flatMap(row => seen.concepts.byEntry(row['entry'] as EntryKey) ?? [])
    for (const concept of nearestTo(concepts, url, lines.startLine, lines.endLine)) found.add(concept)
  }
  const entries = [...found].map(({ entry }) => entry)
  return space.index.score(space.vector, entries, { partitions }).flatMap(({ entry, score }): readonly Meant[] => {
    const concept = seen.concepts.byEntry(entry)
    return concept === undefined ? [] : [{ concept, cosine: score, match: 'text' }]
  })
}

/** Those that stand in these lines, the smallest first; then those without a place. */
function nearestTo(concepts: readonly Concept[], url: string, start: number, end: number): readonly Concept[] {
  const span = ({ url: own, startLine, endLine }: Concept): number => {
    if (own !== url || startLine === null || endLine === null) return Number.MAX_SAFE_INTEGER
    return startLine <= end && endLine >= start ? endLine - startLine : Number.POSITIVE_INFINITY
  }
  return concepts
    .filter(concept => span(concept) !== Number.POSITIVE_INFINITY)
    .sort((a, b) => span(a) - span(b) || a.id - b.id)
    .slice(0, CONCEPTS_A_FILE)
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

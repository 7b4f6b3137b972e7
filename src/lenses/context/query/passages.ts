/** Concepts of the files whose text has a question's words: those that stand in the passages found. */
import type { WordIndex, WordTerm } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { entrySet } from '../../../pipeline/columns.ts'
import type { Call } from '../call.ts'
import type { Concept } from '../concepts.ts'
import type { Look } from '../mind/look.ts'
import { PROVENANCE } from '../tables.ts'

/** Files whose text is followed to concepts, and concepts of each. */
const FILES = 10
const CONCEPTS_A_FILE = 3

/** In the order of the files' best passages, each with its passage's score as a share of the best one's. */
export function passageConcepts(
  { host, state }: Call,
  seen: Look,
  terms: readonly WordTerm[],
): ReadonlyMap<Concept, number> {
  const { partitions } = seen.sight
  const files = state.files.visible(partitions)
  if (files.all.length === 0) return new Map()
  const words = host.index('words') as WordIndex
  const hits = words.search({ terms, k: FILES, partitions, allow: entrySet(files.all) })
  const chunks = new Map(host.store.chunks(hits.map(({ chunk }) => chunk)).map(chunk => [chunk.key, chunk]))
  const found = new Map<Concept, number>()
  for (const { entry, chunk, score } of hits) {
    const url = files.byEntry(entry)?.url
    const lines = chunks.get(chunk)
    if (url === undefined || lines === undefined) continue
    const linked = host.store.table(PROVENANCE).scan({ url }, { columns: ['entry', 'url'] })
    const concepts = linked.flatMap(row => seen.concepts.byEntry(row['entry'] as EntryKey) ?? [])
    for (const concept of nearestTo(concepts, url, lines.startLine, lines.endLine)) {
      if (!found.has(concept)) found.set(concept, score / (hits[0]?.score ?? score))
    }
  }
  return found
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

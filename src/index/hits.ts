/** Hits in the order of every answer, and folded to entries. */
import type { EntryKey } from '../model/entry.ts'
import type { Hit } from './contract.ts'

/** By score, descending; ties by chunk key. Whole numbers: a fraction would be a new object at each comparison. */
export function bestFirst(a: Hit, b: Hit): number {
  if (a.score !== b.score) return a.score < b.score ? 1 : -1
  return a.chunk - b.chunk
}

/** Each entry once, with its best chunk; in no particular order. */
export function bestOfEntries(hits: Iterable<Hit>): Map<EntryKey, Hit> {
  const best = new Map<EntryKey, Hit>()
  for (const hit of hits) {
    const before = best.get(hit.entry)
    if (before === undefined || bestFirst(hit, before) < 0) best.set(hit.entry, hit)
  }
  return best
}

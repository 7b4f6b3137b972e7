/** Terms that begin with a prefix, by the number of visible chunks that have them. */
import type { PartitionId } from '../../model/partition.ts'
import { fold } from '../../text/normalise.ts'
import { decodeTerm, encodeTerm } from './bytes.ts'
import { deadWith } from './dead.ts'
import { viewsOf } from './lists.ts'
import { readRuns } from './runs.ts'
import type { Segment } from './segment.ts'
import type { SegmentSet } from './segments.ts'
import { termKey } from './terms.ts'

export interface Completion {
  readonly term: string
  readonly df: number
}

interface Candidate {
  readonly term: string
  /** With the dead. */
  readonly most: number
  readonly found: readonly { readonly segment: Segment; readonly number: number; readonly visible: Uint8Array | null }[]
}

/** By df descending, then by term. Stop words are terms too. */
export function completeTerm(
  set: SegmentSet,
  prefix: string,
  partitions: ReadonlySet<PartitionId>,
  limit: number,
): readonly Completion[] {
  const best: Completion[] = []
  for (const candidate of candidatesOf(set, fold(prefix), partitions)) {
    // The rest have no more than this with their dead: nothing of it can come before what is there.
    const last = best[limit - 1]
    if (!(limit > 0) || (last !== undefined && candidate.most < last.df)) break
    const dead = candidate.found.reduce(
      (sum, { segment, number, visible }) => sum + deadWith(segment, number, visible),
      0,
    )
    if (candidate.most === dead) continue
    best.push({ term: candidate.term, df: candidate.most - dead })
    best.sort(byDf)
    if (best.length > limit) best.length = limit
  }
  return best
}

function candidatesOf(set: SegmentSet, prefix: string, partitions: ReadonlySet<PartitionId>): readonly Candidate[] {
  const byTerm = new Map<string, { term: string; most: number; found: Candidate['found'][number][] }>()
  for (const { segment, visible } of viewsOf(set, partitions)) {
    const { terms } = segment
    for (const language of terms.languages) {
      const start = encodeTerm(termKey(language, prefix))
      for (let number = terms.lowerBound(start); number < terms.count; number++) {
        const bytes = terms.bytes(number)
        if (!startsWith(bytes, start)) break
        const df = readRuns(segment, number, visible).reduce((sum, run) => sum + run.df, 0)
        if (df === 0) continue
        const term = decodeTerm(bytes.subarray(1))
        const candidate = byTerm.get(term) ?? { term, most: 0, found: [] }
        byTerm.set(term, candidate)
        candidate.most += df
        candidate.found.push({ segment, number, visible })
      }
    }
  }
  return [...byTerm.values()].sort((a, b) => b.most - a.most)
}

function startsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  if (bytes.length < start.length) return false
  for (let at = 0; at < start.length; at++) if (bytes[at] !== start[at]) return false
  return true
}

function byDf(a: Completion, b: Completion): number {
  return b.df - a.df || (a.term < b.term ? -1 : 1)
}

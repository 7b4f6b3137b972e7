/**
 * How many dead rows of a segment have a term, so that document frequencies stay exact while the dead still lie in its
 * lists. Found when a term is first asked for, then kept up with new deaths by looking just those up.
 */
import { PostingCursor } from './cursor.ts'
import { readRuns } from './runs.ts'
import type { Segment } from './segment.ts'

interface Deaths {
  /** Rows of `deadRows` looked at. */
  seen: number
  /** Those that have the term. */
  readonly rows: number[]
}

const known = new WeakMap<Segment, Map<number, Deaths>>()
/** Terms remembered for a segment. */
const MOST_TERMS = 10_000

/** Dead rows with the term in visible partitions. */
export function deadWith(segment: Segment, term: number, visible: Uint8Array | null): number {
  if (segment.deadRows.length === 0) return 0
  const { rows } = deathsOf(segment, term)
  return visible === null ? rows.length : rows.filter(row => visible[segment.rankOf(row)] === 1).length
}

function deathsOf(segment: Segment, term: number): Deaths {
  const terms = known.get(segment) ?? new Map<number, Deaths>()
  known.set(segment, terms)
  const deaths = terms.get(term) ?? { seen: 0, rows: [] }
  if (terms.size >= MOST_TERMS) terms.clear()
  terms.set(term, deaths)
  const fresh = segment.deadRows.slice(deaths.seen).sort((a, b) => a - b)
  if (fresh.length === 0) return deaths
  const cursor = new PostingCursor(segment, readRuns(segment, term, null))
  for (const row of fresh) if (cursor.tfAt(row) > 0) deaths.rows.push(row)
  deaths.seen = segment.deadRows.length
  return deaths
}

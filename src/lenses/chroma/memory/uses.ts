/**
 * The log of which memories of a viewer changed. Numbered without gaps, of bounded length: lines older than the newest
 * `KEPT` go, some at a time. So a reader finds the news by looking up the number after the last it saw, and knows that it
 * missed some when even that last one is gone.
 */
import type { EntryKey } from '../../../model/entry.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { USES } from '../tables.ts'

const KEPT = 4096
/** Lines removed together: neighbours lie in one page of the file. */
const SWEPT = 64

/** Appends a line, and says its number. `entries` null: read all again. `last`: the newest number, where it is known. */
export function tellUses(
  writer: StoreWriter,
  viewer: string,
  entries: readonly EntryKey[] | null,
  last: number = lastUse(writer, viewer),
): number {
  const table = writer.table(USES)
  const seq = last + 1
  table.put({ viewer, seq, entries: entries === null ? null : JSON.stringify(entries) })
  if (seq > KEPT && seq % SWEPT === 0) {
    for (let old = seq - KEPT - SWEPT + 1; old <= seq - KEPT; old++) table.delete({ viewer, seq: old })
  }
  return seq
}

/** The newest number; 0 when there is none. Some dozen look-ups: the store tells the first of a range, not the last. */
export function lastUse(reader: StoreReader, viewer: string): number {
  const table = reader.table(USES)
  const [first] = table.scan({ viewer }, { limit: 1 })
  if (first === undefined) return 0
  let there = first['seq'] as number
  let gone = there + KEPT + SWEPT + 1
  while (gone - there > 1) {
    const middle = there + ((gone - there) >>> 1)
    if (table.get({ viewer, seq: middle }) === undefined) gone = middle
    else there = middle
  }
  return there
}

export interface UseNews {
  /** Those changed since, some perhaps more than once; null: more than is told. */
  readonly entries: readonly EntryKey[] | null
  readonly last: number
}

/** What happened after the line `seen`. */
export function usesSince(reader: StoreReader, viewer: string, seen: number): UseNews {
  const table = reader.table(USES)
  const entries: EntryKey[] = []
  let last = seen
  for (;;) {
    const row = table.get({ viewer, seq: last + 1 })
    if (row === undefined) break
    if (row['entries'] === null) return { entries: null, last: lastUse(reader, viewer) }
    entries.push(...(JSON.parse(row['entries'] as string) as EntryKey[]))
    last++
  }
  if (last === seen && isMissing(reader, viewer, seen)) return { entries: null, last: lastUse(reader, viewer) }
  return { entries, last }
}

/** Whether the log no longer reaches back to the line `seen`. */
function isMissing(reader: StoreReader, viewer: string, seen: number): boolean {
  const table = reader.table(USES)
  if (seen > 0) return table.get({ viewer, seq: seen }) === undefined
  return table.scan({ viewer }, { limit: 1 }).length > 0
}

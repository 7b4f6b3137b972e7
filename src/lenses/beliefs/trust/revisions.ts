/**
 * By what other processes notice what changed: counters that rise in the write that changes it, and the log of which edges changed,
 * numbered without gaps and of bounded length. A reader looks up the numbers after the last it saw; when the first of them is gone
 * already, it reads all edges again.
 */
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { REVISIONS, TRUST_CHANGES } from '../tables.ts'

/** `agents`: who is hosted, with which key and reputation. `members`: federations and who is in them. */
type RevisionName = 'agents' | 'members' | 'trust'

/** 0: nothing changed ever. */
export function revision(reader: StoreReader, name: RevisionName): number {
  return (reader.table(REVISIONS).get({ name })?.['revision'] as number | undefined) ?? 0
}

export function raiseRevision(writer: StoreWriter, name: RevisionName, by = 1): number {
  const raised = revision(writer, name) + by
  writer.table(REVISIONS).put({ name, revision: raised })
  return raised
}

const KEPT = 8192

export interface EdgeName {
  readonly owner: string
  readonly target: string
}

/** For many at once only the newest are told, so that readers find a gap and read all again. */
export function tellEdges(writer: StoreWriter, edges: readonly EdgeName[]): void {
  const table = writer.table(TRUST_CHANGES)
  const before = revision(writer, 'trust')
  const last = raiseRevision(writer, 'trust', edges.length)
  for (let seq = Math.max(before, last - KEPT) + 1; seq <= last; seq++) {
    const { owner, target } = edges[seq - before - 1] as EdgeName
    table.put({ seq, owner, target })
  }
  for (let old = Math.max(1, before - KEPT + 1); old <= Math.min(before, last - KEPT); old++) table.delete({ seq: old })
}

interface EdgeNews {
  /** Each once; null: more than is told. */
  readonly edges: readonly EdgeName[] | null
  readonly last: number
}

/** What happened after the number `seen`. */
export function edgesSince(reader: StoreReader, seen: number): EdgeNews {
  const last = revision(reader, 'trust')
  if (last - seen > KEPT || last < seen) return { edges: null, last }
  const table = reader.table(TRUST_CHANGES)
  const edges = new Map<string, EdgeName>()
  for (let seq = seen + 1; seq <= last; seq++) {
    const row = table.get({ seq })
    if (row === undefined) return { edges: null, last }
    const edge = { owner: row['owner'] as string, target: row['target'] as string }
    edges.set(JSON.stringify([edge.owner, edge.target]), edge)
  }
  return { edges: [...edges.values()], last }
}

/** Counters in the store by which other processes notice what changed. They rise in the write that changes it. */
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { REVISIONS } from '../tables.ts'

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

/** The entry that is there already, and what a new draft takes over from it. */
import type { Entry, EntryDraft } from '../model/entry.ts'
import type { StoreReader } from '../store/store.ts'

/** Finds the holder's entry of an id, whoever may see it. */
export function ownEntries(reader: StoreReader, holder: string): (id: string) => Entry | undefined {
  const partitions = reader.partitions().map(partition => partition.id)
  return id => {
    // One that is damaged is written again as if it were not there.
    const entries = reader.around(
      () => undefined,
      () => reader.entries(reader.find(id, partitions)),
    )
    return entries.find(entry => entry.audience.holder === holder)
  }
}

/**
 * The draft as a change of that entry. It was created when it was; the same title and text were known before and did not
 * change now.
 */
export function withTimesOf(before: Entry, draft: EntryDraft): EntryDraft {
  const { createdAt } = before
  if (before.content !== draft.content || before.title !== draft.title) return { ...draft, createdAt }
  return { ...draft, createdAt, knownAt: before.knownAt, updatedAt: before.updatedAt }
}

import type { EntryKey } from '../../../model/entry.ts'
import type { View } from '../record/read.ts'
import type { EnabledSources } from './requester.ts'

/** Whether a current belief is there, and some enabled source has it. */
export function isSeen({ columns, requester }: View, entry: EntryKey, enabled: EnabledSources): boolean {
  const row = columns.rowOf(entry)
  if (row === -1) return false
  return requester.sourceOf(columns.arrays.partitions[row] as number, columns.holderOf(row), enabled) !== null
}

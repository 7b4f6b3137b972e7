/**
 * An answer is found by the question before it, whose words stand with it in the indexes. When a question goes or changes,
 * they go or change there too: deleting means deleting.
 */
import { lowerBound } from '../../base/lower-bound.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { Row } from '../../model/table.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import { chunksOf, type Said } from './indexed-text.ts'
import type { Profile } from './model.ts'
import { MESSAGES } from './tables.ts'
import { messagesOf } from './thread.ts'

/** Of those of the entries that are messages. */
export function messageRows(reader: StoreReader, entries: readonly EntryKey[]): readonly Row[] {
  return entries.length === 0 ? [] : reader.table(MESSAGES).scan({}, { entries })
}

/** `rows`: of messages as they were before they were deleted or changed. */
export function requoteAfter(writer: StoreWriter, rows: readonly Row[]): void {
  for (const [thread, changed] of Map.groupBy(rows, row => row['thread'] as string)) {
    const left = messagesOf(writer, thread)
    const followers = new Set(changed.map(row => firstBehind(left, placeOf(row))))
    for (const at of followers) {
      const row = left[at]
      if (row !== undefined) indexAgain(writer, row, left[at - 1])
    }
  }
}

/** `rows`: by position; their number when there is none. */
function firstBehind(rows: readonly Row[], position: number): number {
  return lowerBound(rows.length, at => placeOf(rows[at] as Row) <= position)
}

function indexAgain(writer: StoreWriter, row: Row, previous: Row | undefined): void {
  const entry = writer.entry(row['entry'] as EntryKey)
  if (entry === undefined) return
  const { key, partition, contentHash, ...draft } = entry
  const chunks = chunksOf({
    speaker: row['speaker'] as string,
    body: entry.content,
    at: row['at'] as number | null,
    zone: row['zone'] as number | null,
    profile: row['profile'] as Profile,
    before: previous?.['session'] === row['session'] ? saidIn(writer, previous as Row) : null,
    dates: row['dates'] === null ? [] : (row['dates'] as string).split('; '),
  })
  writer.put(draft, chunks)
}

/** What a message says; null when it is gone. */
export function saidIn(reader: StoreReader, row: Row): Said | null {
  const entry = reader.entry(row['entry'] as EntryKey)
  return entry === undefined ? null : { speaker: row['speaker'] as string, body: entry.content }
}

function placeOf(row: Row): number {
  return Number(row['position'])
}

/** The messages of a conversation that one audience may see: their order knows nothing of those that others hold. */
import { canonicalJson, sha256 } from '../../base/canonical.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { Audience } from '../../model/partition.ts'
import type { Row } from '../../model/table.ts'
import type { StoreReader } from '../../store/store.ts'
import { LAST, MESSAGES } from './tables.ts'

/** By holder too: all public messages share one partition, whoever holds them. */
export function threadOf(conversation: string, { ...of }: Audience): string {
  return sha256(canonicalJson([conversation, of])).slice(0, 32)
}

/** Rows of its messages, by position. */
export function messagesOf(reader: StoreReader, thread: string): readonly Row[] {
  const rows = reader.table(MESSAGES).scan({ thread })
  return [...rows].sort((a, b) => Number(a['position']) - Number(b['position']))
}

export function lastOf(reader: StoreReader, thread: string): Row | undefined {
  const last = reader.table(LAST).get({ thread })
  if (last !== undefined) return reader.table(MESSAGES).get({ entry: last['entry'] as EntryKey })
  // The last one was deleted, or there is none.
  return messagesOf(reader, thread).at(-1)
}

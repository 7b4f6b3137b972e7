/** What the lens keeps of a message beside its entry. Deleting the entry takes its rows along. Times are Unix milliseconds. */
import { canonicalJson, sha256 } from '../../base/canonical.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { Audience } from '../../model/partition.ts'
import type { Row, TableDeclaration } from '../../model/table.ts'
import type { StoreReader } from '../../store/store.ts'

/** The aspect that makes an entry a message: filters name `conversations.speaker` and so on. */
export const MESSAGES: TableDeclaration = {
  name: 'conversations_messages',
  aspect: 'conversations',
  ofEntry: true,
  key: ['entry'],
  columns: [
    { name: 'entry', type: 'integer' },
    { name: 'conversation', type: 'text' },
    { name: 'session', type: 'text' },
    /** From 0, within the thread. */
    { name: 'position', type: 'integer' },
    /** Empty where nobody says who it was. */
    { name: 'speaker', type: 'text' },
    { name: 'role', type: 'text', nullable: true },
    { name: 'at', type: 'integer', nullable: true },
    /** Minutes that its writer's clock was ahead of UTC. */
    { name: 'zone', type: 'integer', nullable: true },
    /** Id of the entry that it answers, whether or not that is there. */
    { name: 'reply_to', type: 'text', nullable: true },
    /** `people` or `assistant`. */
    { name: 'profile', type: 'text' },
    /** Its relative dates, resolved and joined by `; `. */
    { name: 'dates', type: 'text', nullable: true },
    /** Which messages have positions in one order: see `threadOf`. */
    { name: 'thread', type: 'text', unasked: true },
  ],
  indexes: [['thread', 'position'], ['conversation']],
}

/** The last message of a thread, so that one more is put behind it without a look at all. Goes with that message. */
export const LAST: TableDeclaration = {
  name: 'conversations_last',
  ofEntry: true,
  key: ['thread'],
  columns: [
    { name: 'thread', type: 'text' },
    { name: 'entry', type: 'integer' },
  ],
  indexes: [['entry']],
}

export const CONVERSATIONS_TABLES: readonly TableDeclaration[] = [MESSAGES, LAST]

/** Of the entries that messages are. */
export const MESSAGE_KINDS: readonly string[] = ['message']

/**
 * The id of a thread: the messages of a conversation that one audience may see, whose order knows nothing of those that others
 * hold. By holder too: all public messages share one partition, whoever holds them.
 */
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

/** Of those of the entries that are messages. */
export function messageRows(reader: StoreReader, entries: readonly EntryKey[]): readonly Row[] {
  return entries.length === 0 ? [] : reader.table(MESSAGES).scan({}, { entries })
}

/** The resolved relative dates of a message. */
export function datesIn({ dates }: Row): readonly string[] {
  return dates === null ? [] : (dates as string).split('; ')
}

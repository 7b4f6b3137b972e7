/**
 * Table columns that the lens keeps for a message, in addition to its entry. Deleting the entry deletes its rows. Times are Unix
 * milliseconds.
 */
import { canonicalJson, sha256 } from '../../base/canonical.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { Audience } from '../../model/partition.ts'
import type { Row, TableDeclaration } from '../../model/table.ts'
import type { StoreReader } from '../../store/store.ts'

/** The aspect (table) whose rows make entries messages; filters use its columns as `conversations.speaker` and so on. */
export const MESSAGES: TableDeclaration = {
  name: 'conversations_messages',
  aspect: 'conversations',
  ofEntry: true,
  key: ['entry'],
  columns: [
    { name: 'entry', type: 'integer' },
    { name: 'conversation', type: 'text' },
    { name: 'session', type: 'text' },
    /** Position of the message within its thread, from 0. */
    { name: 'position', type: 'integer' },
    /** Name of the message's speaker; empty where it is unknown. */
    { name: 'speaker', type: 'text' },
    { name: 'role', type: 'text', nullable: true },
    { name: 'at', type: 'integer', nullable: true },
    /** Offset of the writer's clock from UTC in minutes; null where it is unknown. */
    { name: 'zone', type: 'integer', nullable: true },
    /** Id of the entry that this message answers, which may not exist in the store; null: the message is no answer. */
    { name: 'reply_to', type: 'text', nullable: true },
    /** Profile of the conversation: `people` or `assistant`. */
    { name: 'profile', type: 'text' },
    /** Relative dates in the message, resolved and joined by `; `. */
    { name: 'dates', type: 'text', nullable: true },
    /** Id of the message's thread (the messages of a conversation with one audience); positions are ordered within a thread. */
    { name: 'thread', type: 'text', unasked: true },
  ],
  indexes: [['thread', 'position'], ['conversation']],
}

/** The last message of each thread, so that appending a message needs no search. The row is deleted with the message. */
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

/** Kinds of entries that are messages. */
export const MESSAGE_KINDS: readonly string[] = ['message']

/**
 * Id of the thread of a message: the messages of a conversation with one audience. Separate threads keep positions from revealing anything
 * about messages with other audiences; public messages of different holders are also separate, although they share a partition.
 */
export function threadOf(conversation: string, { ...of }: Audience): string {
  return sha256(canonicalJson([conversation, of])).slice(0, 32)
}

/** Rows of all messages of a thread, ordered by position. */
export function messagesOf(reader: StoreReader, thread: string): readonly Row[] {
  const rows = reader.table(MESSAGES).scan({ thread })
  return [...rows].sort((a, b) => Number(a['position']) - Number(b['position']))
}

export function lastOf(reader: StoreReader, thread: string): Row | undefined {
  const last = reader.table(LAST).get({ thread })
  if (last !== undefined) return reader.table(MESSAGES).get({ entry: last['entry'] as EntryKey })
  // Where the table has no row for the thread, the thread's last message was deleted, or the thread has no message.
  return messagesOf(reader, thread).at(-1)
}

/** Rows of those of the given entries that are messages. */
export function messageRows(reader: StoreReader, entries: readonly EntryKey[]): readonly Row[] {
  return entries.length === 0 ? [] : reader.table(MESSAGES).scan({}, { entries })
}

/** The resolved relative dates of a message. */
export function datesIn({ dates }: Row): readonly string[] {
  return dates === null ? [] : (dates as string).split('; ')
}

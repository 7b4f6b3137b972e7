/** What the lens keeps of a message beside its entry. Deleting the entry takes its rows along. Times are Unix milliseconds. */
import type { TableDeclaration } from '../../model/table.ts'

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
    /** What its relative dates stand for, joined by `; `. */
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

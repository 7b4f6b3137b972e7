/** The lens `conversations`: messages of people and of assistants' chats, as a memory to ask. */
import type { Lens } from '../lens.ts'
import { conversationStages } from './asking/stages.ts'
import { importConversations } from './import-conversations.ts'
import { CONVERSATIONS_OPERATIONS } from './operations.ts'
import { CONVERSATIONS_TABLES, MESSAGE_KINDS, messageRows } from './tables.ts'
import { reindexFollowers } from './write-message.ts'

export const conversationsLens: Lens = {
  name: 'conversations',
  summary: 'Messages of conversations, with speaker and time',
  tables: CONVERSATIONS_TABLES,
  kinds: MESSAGE_KINDS,
  stages: conversationStages,
  operations: CONVERSATIONS_OPERATIONS,
  importChat: importConversations,
  beforeWrite: (writer, entries) => {
    const rows = messageRows(writer, entries)
    return () => reindexFollowers(writer, rows)
  },
}

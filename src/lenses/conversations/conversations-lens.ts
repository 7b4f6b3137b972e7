/** The lens `conversations`: messages of people and of chats with assistants, as a searchable memory. */

import { costOfAsking } from '../../model/query-input.ts'
import { embedEntries } from '../embed-entries.ts'
import type { Lens } from '../lens.ts'
import { lensOperation } from '../lens-operation.ts'
import { queryOperations } from '../query-operations.ts'
import { askConversations, questionFor } from './asking/ask.ts'
import { conversationQueryInput, conversationQueryOutput } from './asking/ask-schema.ts'
import { conversationStages } from './asking/stages.ts'
import { importConversations } from './import-conversations.ts'
import { remember, rememberInput, rememberOutput } from './remember.ts'
import { CONVERSATIONS_TABLES, MESSAGE_KINDS, messageRows } from './tables.ts'
import { reindexFollowers } from './write-message.ts'

// The operations of the lens `conversations`, which every interface offers.

const rememberOperation = lensOperation({
  name: 'conversations.remember',
  summary: 'Store one message or note with its speaker, time and conversation',
  input: rememberInput,
  output: rememberOutput,
  effect: { kind: 'write', idempotent: false },
  async run(host, input, { viewer, signal }) {
    const { key, answer } = await remember(host, input, viewer)
    if (input.wait === true) {
      try {
        await embedEntries(host, [key], signal)
      } catch {
        // A message can be found by its words as soon as it is stored; a background job adds its vector later, and the doctor command
        // reports if that fails.
      }
    }
    return answer
  },
})

const queryOperation = lensOperation({
  name: 'conversations.query',
  summary: 'Search messages, with speaker and time, marks on newer statements, and a token budget',
  input: conversationQueryInput,
  output: conversationQueryOutput,
  effect: { kind: 'read', idempotent: false },
  cost: costOfAsking,
  run: askConversations,
})

export const CONVERSATIONS_OPERATIONS = [
  rememberOperation,
  queryOperation,
  ...queryOperations({
    name: 'conversations',
    input: conversationQueryInput.omit({ cursor: true, max_tokens: true, neighbours: true }),
    toQuery: (_, input) => questionFor(input),
  }),
] as const

export const conversationsLens: Lens = {
  name: 'conversations',
  summary: 'Messages of conversations, with speaker and time',
  tables: CONVERSATIONS_TABLES,
  kinds: MESSAGE_KINDS,
  knowsLanguages: true,
  stages: conversationStages,
  operations: CONVERSATIONS_OPERATIONS,
  importChat: importConversations,
  beforeWrite: (writer, entries) => {
    const rows = messageRows(writer, entries)
    return () => reindexFollowers(writer, rows)
  },
}

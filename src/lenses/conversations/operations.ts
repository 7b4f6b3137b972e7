/** The lens's operations: what every interface offers of it. */
import { costOfAsking } from '../../model/query-cost.ts'
import { embedEntries } from '../embed-entries.ts'
import { lensOperation } from '../lens-operation.ts'
import { queryOperations } from '../query-operations.ts'
import { askConversations, questionFor } from './asking/ask.ts'
import { conversationQueryInput, conversationQueryOutput } from './asking/ask-schema.ts'
import { remember, rememberInput, rememberOutput } from './remember.ts'

const rememberOperation = lensOperation({
  name: 'conversations.remember',
  summary: 'Store one message or note with its speaker, time and conversation',
  input: rememberInput,
  output: rememberOutput,
  effect: { kind: 'write', idempotent: false },
  async run(host, input, { viewer, signal }) {
    const { key, answer } = await remember(host, input, viewer)
    if (input.wait === true) await embedEntries(host, [key], signal)
    return answer
  },
})

const queryOperation = lensOperation({
  name: 'conversations.query',
  summary:
    'Ask what was said: messages with speaker and time, the newer of two statements marked, within a budget of tokens',
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

/** The lens's operations, with their schemas: what every door offers of it. */
import { z } from 'zod'
import { keptText } from '../../model/entry-input.ts'
import { MAX_CONTENT_LENGTH, MAX_ID_LENGTH, MAX_NAME_LENGTH, MAX_TAGS } from '../../model/limits.ts'
import { costOfAsking } from '../../model/query-cost.ts'
import { instantInput } from '../../model/query-input.ts'
import { embedEntries } from '../embed-entries.ts'
import { lensOperation } from '../lens-operation.ts'
import { queryOperations } from '../query-operations.ts'
import { askConversations, questionFor } from './asking/ask.ts'
import { type ConversationQuery, conversationQueryInput, conversationQueryOutput } from './asking/ask-schema.ts'
import { ROLES } from './model.ts'
import { type Remembered, type RememberInput, remember } from './remember.ts'

const name = z.string().trim().min(1).max(MAX_NAME_LENGTH)
const id = keptText(z.string().min(1).max(MAX_ID_LENGTH))

const rememberInput: z.ZodType<RememberInput> = z.strictObject({
  text: keptText(z.string().min(1).max(MAX_CONTENT_LENGTH)).describe(
    `What was said or noted, 1 to ${MAX_CONTENT_LENGTH} characters`,
  ),
  speaker: keptText(z.string().trim().max(MAX_NAME_LENGTH))
    .optional()
    .describe('Who said it. Default: nobody is named'),
  conversation: id.optional().describe('Which conversation it belongs to. Default: notes'),
  at: instantInput
    .optional()
    .describe('Moment at which it was said: ISO 8601 with a zone, a date, or milliseconds since 1970. Default: now'),
  role: z
    .enum([...ROLES])
    .optional()
    .describe('Part of the speaker in a chat with an assistant. Default: none'),
  session: id
    .optional()
    .describe('Sitting that it belongs to. Default: that of the message before, unless six hours lie between them'),
  reply_to: id.optional().describe('Id, within the conversation, of the message it answers. Default: none'),
  id: id
    .optional()
    .describe(
      'Within the conversation; a message of yours that has it gets this text and keeps what is not said. Default: a new random one',
    ),
  profile: z
    .enum(['people', 'assistant'])
    .optional()
    .describe('Of whom the conversation is. Default: as before; assistant where a role is given'),
  collection: name.optional().describe('Collection of the entry. Default: conversations'),
  tags: z.array(name).max(MAX_TAGS).optional().describe('Words to find it by. Default: none'),
  visibility: z
    .enum(['private', 'public', 'shared'])
    .optional()
    .describe('Who may see it. Default: as before; private for a new one'),
  federations: z
    .array(name)
    .max(100)
    .optional()
    .describe('Ids of those whose members may see it, with visibility shared. Default: none'),
  wait: z.boolean().optional().describe('Wait until it has its vector. Default: false; words find it at once'),
})

const rememberOutput: z.ZodType<Remembered> = z.strictObject({
  id: z.string().describe('Of the entry'),
  conversation: z.string().describe('Id of the one it belongs to'),
  session: z.string().describe('Id of the sitting it belongs to'),
  position: z.int().describe('Within the conversation, from 0'),
  at: z.string().describe('When it was said, ISO 8601 in UTC'),
  created: z.boolean().describe('False: it was there already'),
})

const rememberOperation = lensOperation({
  name: 'conversations.remember',
  summary: 'Remember one message or note, with who said it, when and in which conversation',
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
    // The cast: the schema of the question is an object, whatever type it is given.
    input: (conversationQueryInput as unknown as z.ZodObject).omit({
      cursor: true,
      max_tokens: true,
      neighbours: true,
    }),
    toQuery: (_, input) => questionFor(input as unknown as ConversationQuery),
  }),
] as const

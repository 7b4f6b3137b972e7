/** The lens's operations, with their schemas: what every door offers of it. */
import { z } from 'zod'
import { keptText } from '../../model/entry-input.ts'
import { MAX_CONTENT_LENGTH, MAX_ID_LENGTH, MAX_NAME_LENGTH, MAX_TAGS } from '../../model/limits.ts'
import type { Operation } from '../../model/operation.ts'
import { costOfAsking } from '../../model/query-cost.ts'
import { instantInput } from '../../model/query-input.ts'
import { embedEntries } from '../embed-entries.ts'
import type { LensHost } from '../lens.ts'
import { askConversations } from './asking/ask.ts'
import { conversationQueryInput, conversationQueryOutput } from './asking/ask-schema.ts'
import { ROLES } from './model.ts'
import { type Remembered, type RememberInput, remember } from './remember.ts'

const name = z.string().trim().min(1).max(MAX_NAME_LENGTH)
const id = keptText(z.string().min(1).max(MAX_ID_LENGTH))

const rememberInput: z.ZodType<RememberInput> = z.strictObject({
  text: keptText(z.string().min(1).max(MAX_CONTENT_LENGTH)).describe('The message or note'),
  speaker: keptText(z.string().trim().max(MAX_NAME_LENGTH))
    .optional()
    .describe('Who said it. Default: nobody is named'),
  conversation: id.optional().describe('Which conversation it belongs to. Default: notes'),
  at: instantInput.optional().describe('When it was said. Default: now'),
  role: z
    .enum([...ROLES])
    .optional()
    .describe('In a chat with an assistant'),
  session: id.optional().describe('Default: that of the message before, unless six hours lie between them'),
  reply_to: id.optional().describe('Id, within the conversation, of the message it answers'),
  id: id
    .optional()
    .describe(
      'Within the conversation; a message of yours that has it gets this text and keeps what is not said. Default: a new random one',
    ),
  profile: z
    .enum(['people', 'assistant'])
    .optional()
    .describe('Of whom the conversation is. Default: as before; assistant where a role is given'),
  collection: name.optional().describe('Default: conversations'),
  tags: z.array(name).max(MAX_TAGS).optional().describe('Words to find it by'),
  visibility: z
    .enum(['private', 'public', 'shared'])
    .optional()
    .describe('Who may see it. Default: as before; private for a new one'),
  federations: z.array(name).max(100).optional().describe('With shared: those that may see it'),
  wait: z.boolean().optional().describe('Wait until it has its vector. Default: false; words find it at once'),
})

const rememberOutput: z.ZodType<Remembered> = z.strictObject({
  id: z.string().describe('Of the entry'),
  conversation: z.string(),
  session: z.string(),
  position: z.int().describe('Within the conversation, from 0'),
  at: z.string(),
  created: z.boolean().describe('False: it was there already'),
})

const rememberOperation: Operation<LensHost, typeof rememberInput, typeof rememberOutput> = {
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
}

const queryOperation: Operation<LensHost, typeof conversationQueryInput, typeof conversationQueryOutput> = {
  name: 'conversations.query',
  summary:
    'Ask what was said: messages with speaker and time, the newer of two statements marked, within a budget of tokens',
  input: conversationQueryInput,
  output: conversationQueryOutput,
  effect: { kind: 'read', idempotent: false },
  cost: costOfAsking,
  run: askConversations,
}

export const CONVERSATIONS_OPERATIONS: readonly Operation<LensHost>[] = [rememberOperation, queryOperation]

/** Input and output schemas of `conversations.query`. */
import { z } from 'zod'
import type { ReadonlyDeep } from '../../../base/readonly-deep.ts'
import { MAX_ID_LENGTH, MAX_LIMIT, MAX_NAME_LENGTH } from '../../../model/limits.ts'
import { explanationOutput } from '../../../model/page.ts'
import { instantInput, questionFields } from '../../../model/query-input.ts'
import { ROLES } from '../model.ts'

const ids = z.array(z.string().min(1).max(MAX_ID_LENGTH)).min(1).max(100).optional()
const names = z.array(z.string().min(1).max(MAX_NAME_LENGTH)).min(1).max(100).optional()

export const conversationQueryInput = z.strictObject({
  text: z
    .string()
    .describe(
      'The query, in plain words or in the query language; of longer texts the first 10,000 characters are read',
    ),
  syntax: questionFields.syntax,
  phrase: questionFields.phrase,
  conversations: ids.describe('Only these conversations. Default: all'),
  speakers: names.describe('Only messages of these speakers, by name. Default: all'),
  roles: z
    .array(z.enum([...ROLES]))
    .min(1)
    .optional()
    .describe('Only messages of these roles, in chats with an assistant. Default: all'),
  sessions: ids.describe('Only these sessions, by id. Default: all'),
  since: instantInput.optional().describe('Only messages from this time on. Default: any time'),
  until: instantInput.optional().describe('Only messages before this time. Default: any time'),
  collections: names.describe('Only these collections. Default: all'),
  tags: names.describe('Only messages with all of these tags. Default: any'),
  limit: z
    .int()
    .min(1)
    .max(MAX_LIMIT)
    .optional()
    .describe('Number of messages, 1 to 1000. Default: 10; with max_tokens as many as fit, at most 100'),
  cursor: questionFields.cursor,
  max_tokens: z
    .int()
    .min(20)
    .max(1_000_000)
    .optional()
    .describe(
      'Return the best messages that fit into this many tokens, in the order of time; 20 to 1000000. A token counts as 4 characters, a message as 10 tokens more. Default: no limit',
    ),
  neighbours: z
    .int()
    .min(0)
    .max(10)
    .optional()
    .describe('Messages to show before and after each result, 0 to 10. Default: 0'),
  as_of: questionFields.as_of.describe('Query as of this time: ignore later messages. Default: now'),
  mode: questionFields.mode,
  meaning_weight: questionFields.meaning_weight.describe(
    'Weight of meaning in the score, 0 to 1; words have the rest. Default: 0.4',
  ),
  explain: questionFields.explain,
  touch: questionFields.touch,
  approximate: questionFields.approximate.describe('Allow approximate cosines; exact ones take longer. Default: true'),
  timeout_ms: questionFields.timeout_ms,
})

export type ConversationQuery = ReadonlyDeep<z.output<typeof conversationQueryInput>>

const neighbour = z.strictObject({
  id: z.string().describe('Id of the entry'),
  speaker: z.string().describe('Speaker; empty: unknown'),
  position: z.int().describe('Within the conversation, from 0'),
  at: z.string().nullable().describe('Time of the message, ISO 8601; null: unknown'),
  text: z.string().describe('The message, or a piece of it'),
})
export type NeighbourResult = ReadonlyDeep<z.output<typeof neighbour>>

const message = z.strictObject({
  rank: z.int().min(1).describe('Rank, from 1'),
  ...neighbour.shape,
  holder: z.string().describe('Id of the agent that holds the entry'),
  conversation: z.string().describe('Id of its conversation'),
  session: z.string().describe('Id of its session'),
  role: z.string().nullable().describe('Role of the speaker in a chat with an assistant; null: none'),
  partial: z.boolean().describe('True: text is a piece of the message; get gives all of it'),
  score: z.number().describe('Higher is better; comparable within one answer'),
  dates: z.array(z.string()).describe('Its relative dates, resolved'),
  reply_to: z.string().nullable().describe('Id of the message it answers; null: none'),
  newer_statement_of: z.array(z.string()).describe('Ids of earlier results by the same speaker on the same subject'),
  why: z.string().describe('Parts of its score, in one line'),
  neighbours: z.array(neighbour).optional().describe('Messages before and after it, in their order'),
  explanation: explanationOutput.optional().describe('With explain: the score as a tree'),
})
export type MessageResult = ReadonlyDeep<z.output<typeof message>>

export const conversationQueryOutput = z.strictObject({
  messages: z.array(message).describe('Messages found'),
  order: z.enum(['rank', 'time']).describe('rank: best first; time: with max_tokens, in the order of time'),
  tokens: z.int().min(0).describe('Approximate number of tokens of the texts'),
  cursor: z.string().nullable().describe('Cursor of the next page; null at the end'),
  verdict: z.enum(['answered', 'weak', 'nothing_relevant']).describe('Whether the messages answer the query'),
  reason: z.string().nullable().describe('Why nothing is relevant; null: something is'),
  verdict_by: z.enum(['meaning', 'words']).optional().describe('Evidence of the verdict'),
  nearest: z.array(message).optional().describe('Nearest messages if nothing is relevant; they are not answers'),
  did_you_mean: z.string().optional().describe('Spelling that was used, if the text as given found nothing'),
  mode: z.enum(['hybrid', 'words', 'meaning', 'list']).describe('What the messages were ranked by'),
  as_of: z.string().describe('Time that the answer refers to, ISO 8601'),
  notes: z
    .array(
      z.strictObject({
        code: z.string().describe('Code in snake_case'),
        message: z.string().describe('A sentence for people'),
      }),
    )
    .describe('What differs from the request without being an error'),
})
export type ConversationQueryAnswer = ReadonlyDeep<z.output<typeof conversationQueryOutput>>

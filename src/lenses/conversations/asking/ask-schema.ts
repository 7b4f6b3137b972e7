/** What `conversations.query` takes and returns. */
import { z } from 'zod'
import type { ReadonlyDeep } from '../../../base/readonly-deep.ts'
import { explanationOutput } from '../../../model/explanation-output.ts'
import { MAX_ID_LENGTH, MAX_LIMIT, MAX_NAME_LENGTH } from '../../../model/limits.ts'
import { instantInput, questionFields } from '../../../model/query-input.ts'
import { ROLES } from '../model.ts'

const ids = z.array(z.string().min(1).max(MAX_ID_LENGTH)).min(1).max(100).optional()
const names = z.array(z.string().min(1).max(MAX_NAME_LENGTH)).min(1).max(100).optional()

export const conversationQueryInput = z.strictObject({
  text: z
    .string()
    .describe(
      'The question, in plain words or in the query language; of longer texts the first 10,000 characters are read',
    ),
  syntax: questionFields.syntax,
  phrase: questionFields.phrase,
  conversations: ids.describe('Only in these conversations. Default: in all'),
  speakers: names.describe('Only what one of these people said, by name. Default: anybody'),
  roles: z
    .array(z.enum([...ROLES]))
    .min(1)
    .optional()
    .describe('Only what was said in one of these roles of a chat with an assistant. Default: any'),
  sessions: ids.describe('Only in these sittings, by id. Default: in all'),
  since: instantInput.optional().describe('Only what was said from this moment on. Default: any time'),
  until: instantInput.optional().describe('Only what was said before this moment. Default: any time'),
  collections: names.describe('Only in collections of these names. Default: in all'),
  tags: names.describe('Only what has all of these tags. Default: any'),
  limit: z
    .int()
    .min(1)
    .max(MAX_LIMIT)
    .optional()
    .describe('Most messages, 1 to 1000. Default: 10; with max_tokens as many as fit, at most 100'),
  cursor: questionFields.cursor,
  max_tokens: z
    .int()
    .min(20)
    .max(1_000_000)
    .optional()
    .describe(
      'The best messages that fit into so many tokens (4 characters each, and 10 a message), in the order in which they were said; 20 to 1000000. Default: no bound',
    ),
  neighbours: z.int().min(0).max(10).optional().describe('So many messages before and after each, 0 to 10. Default: 0'),
  as_of: questionFields.as_of.describe('Ask as if it were this moment: what was said later is not there. Default: now'),
  mode: questionFields.mode,
  meaning_weight: questionFields.meaning_weight.describe(
    'Share of meaning in the score, 0 to 1; words have the rest. Default: 0.4',
  ),
  explain: questionFields.explain,
  touch: questionFields.touch,
  approximate: questionFields.approximate.describe(
    'Whether cosines may be approximate; false: exact, whatever it costs. Default: true',
  ),
  timeout_ms: questionFields.timeout_ms,
})

export type ConversationQuery = ReadonlyDeep<z.output<typeof conversationQueryInput>>

const neighbour = z.strictObject({
  id: z.string().describe('Of the entry'),
  speaker: z.string().describe('Who said it; empty: not known'),
  position: z.int().describe('Within the conversation, from 0'),
  at: z.string().nullable().describe('When it was said, ISO 8601; null: not known'),
  text: z.string().describe('The message, or a piece of it'),
})
export type NeighbourResult = ReadonlyDeep<z.output<typeof neighbour>>

const message = z.strictObject({
  rank: z.int().min(1).describe('Place in the answer, from 1'),
  ...neighbour.shape,
  holder: z.string().describe('Id of the viewer whose entry it is'),
  conversation: z.string().describe('Id of the one it belongs to'),
  session: z.string().describe('Id of the sitting it belongs to'),
  role: z.string().nullable().describe('Part of the speaker in a chat with an assistant; null: none'),
  partial: z.boolean().describe('True: text is a piece of the message; get gives all of it'),
  score: z.number().describe('Higher is better; comparable within one answer'),
  dates: z.array(z.string()).describe('What its relative dates stand for'),
  reply_to: z.string().nullable().describe('Id of the message it answers; null: none'),
  newer_statement_of: z
    .array(z.string())
    .describe('Ids of earlier messages here by the same speaker on the same subject: this one is the newer'),
  why: z.string().describe('In a line what its score is made of'),
  neighbours: z.array(neighbour).optional().describe('Messages before and after it, in their order'),
  explanation: explanationOutput.optional().describe('With explain: how its score was made, as a tree'),
})
export type MessageResult = ReadonlyDeep<z.output<typeof message>>

export const conversationQueryOutput = z.strictObject({
  messages: z.array(message).describe('What was found'),
  order: z.enum(['rank', 'time']).describe('Best first, or with max_tokens in the order in which they were said'),
  tokens: z.int().min(0).describe('About how many the texts take'),
  cursor: z.string().nullable().describe('For more; null at the end'),
  verdict: z.enum(['answered', 'weak', 'nothing_relevant']).describe('Whether something here answers the question'),
  reason: z.string().nullable().describe('Why nothing is relevant; null: something is'),
  verdict_by: z.enum(['meaning', 'words']).optional().describe('What the verdict rests on'),
  nearest: z.array(message).optional().describe('What came nearest where nothing is relevant: not an answer'),
  did_you_mean: z.string().optional().describe('The spelling that was asked, where the text as given found nothing'),
  mode: z.enum(['hybrid', 'words', 'meaning', 'list']).describe('What the messages were ranked by'),
  as_of: z.string().describe('The moment of which it is true, ISO 8601'),
  notes: z
    .array(
      z.strictObject({
        code: z.string().describe('What it is about, in snake_case'),
        message: z.string().describe('A sentence for people'),
      }),
    )
    .describe('What did not go as asked, without being an error'),
})
export type ConversationQueryAnswer = ReadonlyDeep<z.output<typeof conversationQueryOutput>>

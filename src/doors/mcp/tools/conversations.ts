/** The tools of the lens conversations: a memory of what was said, and how it is read and corrected. */
import type { ToolChoice } from './choice.ts'
import { COMMON_TOOLS } from './common.ts'

const READING: ReadonlySet<string> = new Set(['explain', 'get', 'list', 'delete'])

/** `explain` asks as the lens that its question names. */
const EXPLAIN =
  'Say why message `id` has its rank for a question, why it is missing, or why it stands over another: as query ranks where query.lens is conversations.'

export const CONVERSATIONS_TOOLS: readonly ToolChoice[] = [
  {
    operation: 'conversations.remember',
    name: 'remember',
    title: 'Remember',
    description:
      'Remember one message or note: say who said it (speaker), when (at) and in which conversation. query finds it at once. A message of yours with the same id gets the new text.',
    fields: ['text', 'speaker', 'conversation', 'at', 'role', 'session', 'reply_to', 'id', 'tags'],
  },
  {
    operation: 'conversations.query',
    name: 'query',
    title: 'Ask what was said',
    description:
      'Search what was said and remembered. Returns messages with speaker and time. newer_statement_of: the same speaker said something earlier on the subject; trust the newer. max_tokens: the best that fit, in the order they were said. For a whole message use get.',
    fields: [
      ...['text', 'syntax', 'conversations', 'speakers', 'roles', 'since', 'until', 'limit', 'cursor'],
      ...['max_tokens', 'neighbours', 'as_of'],
    ],
    stored: true,
  },
  ...COMMON_TOOLS.filter(({ operation }) => READING.has(operation)).map(tool =>
    tool.operation === 'explain' ? { ...tool, description: EXPLAIN } : tool,
  ),
]

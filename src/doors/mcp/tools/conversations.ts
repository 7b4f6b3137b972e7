/** The tools of the lens conversations: a memory of what was said, and how it is read and corrected. */
import type { ToolChoice } from './choice.ts'
import { COMMON_TOOLS } from './common.ts'

const READING: ReadonlySet<string> = new Set(['query', 'explain', 'get', 'list', 'delete'])

export const CONVERSATIONS_TOOLS: readonly ToolChoice[] = [
  {
    operation: 'conversations.remember',
    name: 'remember',
    title: 'Remember',
    description:
      'Remember one message or note: say who said it (speaker), when (at) and in which conversation. query finds it at once. A message of yours with the same id gets the new text.',
    fields: ['text', 'speaker', 'conversation', 'at', 'role', 'session', 'reply_to', 'id', 'tags'],
  },
  ...COMMON_TOOLS.filter(({ operation }) => READING.has(operation)),
]

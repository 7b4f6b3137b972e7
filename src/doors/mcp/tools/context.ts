/** The tools of the lens context: finding one's way in code. What builds the graph by hand is left to other doors. */
import type { JsonObject } from '../../../base/canonical.ts'
import type { ToolChoice } from './choice.ts'

const CHOICES: readonly ToolChoice[] = [
  {
    operation: 'context.query',
    title: 'Find in the code',
    description:
      'Find concepts of the code for a question, with neighbours, files and links. Use it first; `max_tokens` bounds the answer. For one name use context_definition.',
    stored: true,
  },
  {
    operation: 'context.map',
    title: 'Map of the code',
    description: 'Give an overview of the code in a number of tokens: its most used symbols by file.',
    stored: true,
  },
  {
    operation: 'context.definition',
    title: 'Show a definition',
    description: 'Show where a name is defined: place, signature, documentation and text.',
    stored: true,
  },
  {
    operation: 'context.references',
    title: 'List references',
    description: 'List what refers to a concept, and how. For calls alone use context_callers.',
    stored: true,
  },
  {
    operation: 'context.callers',
    title: 'List callers',
    description: 'List what calls a function, directly or through others.',
    stored: true,
  },
  {
    operation: 'context.impact',
    title: 'Tell what a change touches',
    description: 'Tell what changed files or a diff touch: concepts, what depends on them, and files.',
    stored: true,
  },
  {
    operation: 'context.index',
    title: 'Read the code anew',
    description: 'Read the code of the workspace, or what changed in it since. Use it when answers are out of date.',
  },
  {
    operation: 'context.extract',
    title: 'Add what was read',
    description: 'Apply the concepts and links that you have read out of one file, all of them or none.',
  },
]

/** The contract of the lens ignores parameters that it does not know; an agent should hear of its mistake. */
export const CONTEXT_TOOLS: readonly ToolChoice[] = CHOICES.map(choice => ({
  ...choice,
  ignoresUnknown: true,
  nextAfter,
}))

/** A call of the lens never throws: its envelope says what is wrong, by parameter. */
function nextAfter({ status, errors }: JsonObject): string | null {
  if (status !== 'error') return null
  const details = Object.values((errors ?? {}) as Readonly<Record<string, unknown>>).flat()
  const codes = details.map(detail => (detail as { readonly code?: unknown } | null)?.code)
  if (codes.includes('not_initialized')) return 'Call context_index first: the code has not been read yet.'
  if (codes.includes('exception')) return 'Do not try again: the owner of the store should run `querent doctor`.'
  return 'Correct what the errors name and call again; nothing was changed.'
}

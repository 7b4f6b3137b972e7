/** The tools of the lens c64. */
import type { ToolChoice } from './choice.ts'

export const C64_TOOLS: readonly ToolChoice[] = [
  {
    operation: 'c64.query',
    title: 'Ask about the C64',
    description:
      'Ask about the Commodore 64: registers, routines, instructions, memory, colours. Returns results with their files, and what numbers and names in the question stand for. For those alone use c64_enrich.',
    answer: { items: 'results' },
    stored: true,
  },
  {
    operation: 'c64.enrich',
    title: 'Explain numbers and names',
    description: 'Say what the numbers and names of a question stand for on the Commodore 64. Searches nothing.',
    stored: true,
  },
]

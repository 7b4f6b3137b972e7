/** The tools of the lens collections: asking over several, laying the answer out, and reading what it names. */
import type { ToolChoice } from './choice.ts'

export const COLLECTIONS_TOOLS: readonly ToolChoice[] = [
  {
    operation: 'collections.query',
    title: 'Ask collections',
    description:
      'Ask one question over several collections, by meaning. `days` leaves out what is older. Returns results with their collection, warnings and meta; go on with `offset`. To lay them out use collections_format.',
    answer: { items: 'results' },
    stored: true,
  },
  {
    operation: 'collections.format',
    title: 'Lay results out',
    description: 'Lay results of collections_query out as Markdown, in Spanish or English.',
    stored: true,
  },
]

/** The tools that are there without a lens: eight, and together under 2,000 tokens. */
import type { AnswerShape, ToolChoice } from './choice.ts'

const FILTER = ['filter.collections', 'filter.kinds', 'filter.tags', 'filter.metadata', 'filter.created']
const PASSAGE = ['rank', 'id', 'passage', 'collection', 'title', 'score', 'excerpt', 'passages', 'source', 'why']
const PLACE = ['id', 'collection', 'kind', 'title', 'tags', 'updated_at']

export const QUERY_ANSWER: AnswerShape = {
  items: 'items',
  text: 'excerpt.text',
  concise: PASSAGE,
  page: { limit: 'limit', cursor: 'cursor' },
  linked: true,
}

export const COMMON_TOOLS: readonly ToolChoice[] = [
  {
    operation: 'query',
    title: 'Search',
    description:
      'Search what is known, by meaning and words. Returns ranked passages with id, lines, score and why. "quotes": a phrase; -word at the end excludes. nothing_relevant: nothing on this is known here. Whole text: get.',
    fields: ['text', 'syntax', 'limit', 'passages', 'group', 'cursor', 'mode', 'lens', 'as_of', ...FILTER],
    answer: QUERY_ANSWER,
    stored: true,
  },
  {
    operation: 'explain',
    title: 'Explain a rank',
    description: 'Say why entry `id` has its rank, is missing, or stands over another.',
    fields: ['query.text', 'query.lens', 'id', 'over'],
    stored: true,
  },
  {
    operation: 'similar',
    title: 'Find similar',
    description: 'Find entries like entry `id`.',
    answer: { items: 'items', text: 'excerpt.text', concise: PASSAGE, linked: true },
    stored: true,
  },
  {
    operation: 'get',
    title: 'Read an entry',
    description: 'Read one whole entry by its id.',
    answer: { text: 'content', concise: [...PLACE, 'content'] },
    shows: ['id', 'collection', 'kind', 'title', 'content', 'tags', 'metadata', 'origin', 'updated_at'],
    stored: true,
  },
  {
    operation: 'list',
    title: 'List entries',
    description: 'List entries without content.',
    fields: ['order', 'limit', 'cursor', ...FILTER],
    answer: { items: 'items', concise: PLACE, page: { limit: 'limit', cursor: 'cursor' }, linked: true },
    stored: true,
  },
  {
    operation: 'put',
    title: 'Remember',
    description: 'Write entries; the id of one of yours replaces it.',
    fields: ['id', 'collection', 'kind', 'title', 'content', 'tags', 'metadata', 'visibility', 'valid_until'].map(
      field => `entries.${field}`,
    ),
  },
  { operation: 'delete', title: 'Forget', description: 'Delete entries of yours by id.' },
  {
    operation: 'status',
    title: 'What is known',
    description: 'Counts, collections and lenses of what is known here.',
    // Whoever makes something public names its collection.
    stored: true,
  },
]

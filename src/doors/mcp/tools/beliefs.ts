/** The tools of the lens beliefs: the questions that every interface answers alike (BQ-198), and storing. */
import type { ToolChoice } from './choice.ts'

/** Of a query within another tool. */
const QUERY = ['semantic', 'filters']

const FILTERS = ['min_confidence', 'valid_at', 'created_after', 'domains_include', 'holder_ids', 'exclude_holders']

/** Of a belief. */
const DRAFT = ['content', 'confidence', 'valid_from', 'valid_until', 'derivation.type', 'domains', 'visibility']

export const BELIEFS_TOOLS: readonly ToolChoice[] = [
  {
    operation: 'beliefs.query',
    fields: [
      ...['semantic', ...FILTERS.map(name => `filters.${name}`), 'context.trust_weight', 'context.query_domains'],
      ...['scope', 'limit', 'cursor', 'include_explanation', 'include_derivation'].map(name => `options.${name}`),
    ],
    title: 'Query beliefs',
    description:
      'Find beliefs by meaning and filters, ranked by meaning, confidence, trust and time. Returns beliefs, total_count, coverage, warnings, next_cursor. For a selection that fits into so many tokens use beliefs_context_query.',
    answer: { items: 'beliefs', page: { limit: 'options.limit', cursor: 'next_cursor' } },
    stored: true,
  },
  {
    operation: 'beliefs.count',
    fields: QUERY,
    title: 'Count beliefs',
    description: 'Count the beliefs that a query matches, in all and by where they come from.',
  },
  {
    operation: 'beliefs.facets',
    fields: ['fields', ...QUERY.map(name => `query.${name}`)],
    title: 'Count by field',
    description: 'Count what a query matches by domain, holder, derivation, visibility or confidence.',
    stored: true,
  },
  {
    operation: 'beliefs.batch',
    fields: QUERY.map(name => `queries.${name}`),
    title: 'Ask many queries',
    description: 'Ask up to 20 queries at once; each is answered, or fails, on its own.',
    stored: true,
  },
  {
    operation: 'beliefs.context_query',
    fields: [...QUERY, 'purpose', 'max_tokens', 'target_tokens'],
    title: 'Pick beliefs for a purpose',
    description:
      'Pick beliefs for a purpose that fit into max_tokens, the most useful and least alike first. Use it to fill a prompt.',
    stored: true,
  },
  {
    operation: 'beliefs.similar',
    fields: ['belief_id', 'context.trust_weight', 'options'],
    title: 'Similar beliefs',
    description: 'Find beliefs about the same as a belief, ranked as queries rank.',
    stored: true,
  },
  {
    operation: 'beliefs.contradictions',
    fields: ['belief_id', 'context.trust_weight', 'options'],
    title: 'Find contradictions',
    description: 'Find beliefs that contradict a belief. A heuristic on negation, opposites and numbers: look at both.',
    stored: true,
  },
  {
    operation: 'beliefs.derivation',
    title: 'Trace a belief',
    description: 'Show what a belief was derived from, step by step.',
    stored: true,
  },
  {
    operation: 'beliefs.explain',
    fields: ['belief_id', 'other_id', ...QUERY.map(name => `query.${name}`)],
    title: 'Explain a belief',
    description:
      'Explain the place of a belief for a query, what would lift it, why it is missing, or why it beats another.',
    stored: true,
  },
  {
    operation: 'beliefs.put',
    fields: ['id', ...DRAFT, 'federation_ids', 'wait', 'beliefs.content'],
    title: 'Store beliefs',
    description: 'Store beliefs that you hold: one, or a list of them together or not at all.',
    stored: true,
  },
]

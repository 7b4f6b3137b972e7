/**
 * Table of the operations that are MCP tools, with the descriptions that an agent reads before its first action; these have few words and
 * few fields. A caller may also set other fields of the operation's input.
 */
import type { JsonObject } from '../../base/canonical.ts'
import { briefEntry, briefEnvelope, briefHit, briefMessage, briefPlace } from './brief.ts'

export interface ToolEntry {
  readonly operation: string
  /** Name of the tool. Default: the operation's name with underscores in place of dots. */
  readonly name?: string
  /** Description for the agent: what the tool does, when to use it, what it returns. Default: the operation's summary. */
  readonly description?: string
  /** Input fields that the tool's published schema contains, as paths with dots. Default: all. */
  readonly fields?: readonly string[]
  /** Descriptions of input fields by path, where those in the operation's schema are too long or written for programmers. */
  readonly help?: Readonly<Record<string, string>>
  /** Structure of the operation's answer: which parts of it may be long and can be shortened. */
  readonly answer?: AnswerShape
  /** Default values of input fields, used where the caller gave none. */
  readonly preset?: JsonObject
  /** Further default values of input fields, used only if the caller asks for an answer in the concise form. */
  readonly briefly?: JsonObject
  /** Whether the tool changes nothing in the store. Default: whether the operation is declared to only read. */
  readonly readOnly?: boolean
  /** Whether the operation ignores unknown input fields; unknown fields are then rejected before the operation runs. */
  readonly ignoresUnknown?: boolean
  /**
   * For an operation that reports errors in its answer: advice on what to do next after such an answer, or null if the answer reports no
   * error. Default: the operation throws its errors.
   */
  readonly nextAfter?: (answer: JsonObject) => string | null
}

/** Structure of an operation's answer. Paths are names of fields at the top level, or several names joined by dots. */
export interface AnswerShape {
  /** Path of the list in the answer that may be shortened. */
  readonly items?: string
  /** Path of a long text, in an answer without a list. */
  readonly text?: string
  /** Makes the concise form of an item of the list, or of an answer without a list. Default: all fields that are not empty. */
  readonly brief?: (item: JsonObject) => JsonObject
  /** Path of the input field that limits the number of items, and of the field in the answer with the cursor of the next page. */
  readonly page?: { readonly limit: string; readonly cursor: string }
  /** Whether the items are entries, which are MCP resources too and are linked in the result. */
  readonly linked?: boolean
}

const FILTER = ['filter.collections', 'filter.kinds', 'filter.tags']
const PAGE = { limit: 'limit', cursor: 'cursor' } as const
const CURSOR = { limit: 'Default: 10', cursor: 'Of the previous page' }
const FILTER_HELP = {
  filter: 'Conditions',
  'filter.collections': 'In one of these',
  'filter.kinds': 'Such as note, code',
  'filter.tags': 'With all of these',
}

export const QUERY_ANSWER: AnswerShape = { items: 'items', brief: briefHit, page: PAGE, linked: true }

const QUERY: ToolEntry = {
  operation: 'query',
  description:
    'Search all that is stored, by meaning and words. Returns passages, best first; get reads a whole entry. nothing_relevant: nothing on this is stored.',
  fields: ['text', 'limit', 'cursor', 'mode', ...FILTER],
  help: {
    text: 'Question or words; "quotes" for a phrase, -word excludes',
    ...CURSOR,
    ...FILTER_HELP,
    mode: 'Default: hybrid',
  },
  answer: QUERY_ANSWER,
  briefly: { excerpt_length: 120 },
}
const GET: ToolEntry = {
  operation: 'get',
  description: 'Read one whole entry, with its links and backlinks.',
  fields: ['id'],
  help: { id: 'From query, recall or list' },
  answer: { text: 'content', brief: briefEntry },
}
const REMEMBER: ToolEntry = {
  operation: 'conversations.remember',
  name: 'remember',
  description: 'Store one fact, preference or message. recall finds it at once.',
  fields: ['text', 'speaker', 'conversation', 'at', 'tags'],
  // Waits until the vector is made, as for the tool that stores entries: an agent often queries right afterwards, and if it closes the
  // server, nothing would make the vector.
  preset: { wait: true },
  help: {
    text: 'What to remember',
    speaker: 'Who said it',
    conversation: 'Default: notes',
    at: 'When it was said (ISO 8601). Default: now',
    tags: 'Tags',
  },
}
const RECALL: ToolEntry = {
  operation: 'conversations.query',
  name: 'recall',
  description:
    'Search what was said and remembered. Returns messages. newer_statement_of: of two statements of a speaker trust the newer.',
  fields: ['text', 'speakers', 'conversations', 'since', 'until', 'limit', 'cursor'],
  help: {
    text: 'Question or words',
    speakers: 'Said by one of these',
    conversations: 'In one of these',
    since: 'Said from this time on (ISO 8601)',
    until: 'Said before this time',
    ...CURSOR,
  },
  answer: { items: 'messages', brief: briefMessage, page: PAGE },
}
const LIST: ToolEntry = {
  operation: 'list',
  description: 'List entries without their content, newest first.',
  fields: ['limit', 'cursor', ...FILTER],
  help: { ...CURSOR, ...FILTER_HELP },
  answer: { items: 'items', brief: briefPlace, page: PAGE, linked: true },
}
const PUT: ToolEntry = {
  operation: 'put',
  description: 'Write entries such as notes; one with the id of an entry of yours replaces it.',
  preset: { wait: true },
  fields: ['id', 'title', 'content', 'collection', 'tags', 'visibility'].map(field => `entries.${field}`),
  help: {
    entries: 'All are written, or none',
    'entries.id': 'Default: a new one',
    'entries.title': 'Heading',
    'entries.content': 'Text or Markdown',
    'entries.collection': 'Default: default',
    'entries.tags': 'Tags',
    'entries.visibility': 'Default: private',
  },
}
const STATUS: ToolEntry = {
  operation: 'status',
  description: 'Counts, collections and lenses of the store.',
}
const EXPLAIN: ToolEntry = {
  operation: 'explain',
  description: 'Why an entry has its rank for a query, is missing, or ranks above another.',
  fields: ['query.text', 'query.lens', 'id', 'over'],
  help: {
    query: 'The query',
    'query.text': 'Same as in the query',
    'query.lens': 'conversations for what recall found',
    over: 'Id of the entry to compare with',
  },
}
const SIMILAR: ToolEntry = {
  operation: 'similar',
  description: 'Find entries like an entry.',
  fields: ['id', 'limit'],
  answer: { items: 'items', brief: briefHit, linked: true },
}
const DELETE: ToolEntry = { operation: 'delete', description: 'Delete entries of yours by id.' }

/**
 * Makes a tool of the lens context. By the lens's contract its operations ignore unknown parameters; the tool rejects them, because an
 * agent should learn about its mistake.
 */
const contextTool = (entry: ToolEntry): ToolEntry => ({
  ...entry,
  answer: { brief: briefEnvelope },
  ignoresUnknown: true,
  nextAfter: nextAfterEnvelope,
})
const CODE = contextTool({
  operation: 'context.query',
  description: 'Find functions, classes and files of the code by name or meaning, with neighbours.',
  fields: ['query', 'limit', 'depth'],
  help: {
    query: 'Name, words or question',
    limit: 'Default: 10, at most 50',
    depth: 'Links to follow, 0 to 2. Default: 1',
  },
})

/** Tools that are offered if neither lenses nor tools are chosen: for notes, memory and code in one server. */
export const DEFAULT_TOOLS: readonly ToolEntry[] = [
  QUERY,
  GET,
  REMEMBER,
  RECALL,
  { ...CODE, name: 'code' },
  PUT,
  LIST,
  STATUS,
]

/** Tools that are offered only if they are chosen by name. (The tools of lenses are in a table of their own.) */
export const MORE_TOOLS: readonly ToolEntry[] = [EXPLAIN, SIMILAR, DELETE]

/** Fields of a beliefs query that another tool takes as an argument. */
const BELIEFS_QUERY = ['semantic', 'filters']
const BELIEFS_FILTERS = [
  'min_confidence',
  'valid_at',
  'created_after',
  'domains_include',
  'holder_ids',
  'exclude_holders',
]

/** Tools of each lens. A plain name means an operation whose own summary and fields are used as they are. */
export const LENS_TOOLS: Readonly<Record<string, readonly (ToolEntry | string)[]>> = {
  beliefs: [
    {
      operation: 'beliefs.query',
      fields: [
        'semantic',
        ...BELIEFS_FILTERS.map(name => `filters.${name}`),
        ...['context.trust_weight', 'context.query_domains'],
        ...['scope', 'limit', 'cursor', 'include_explanation', 'include_derivation'].map(name => `options.${name}`),
      ],
      description:
        'Find beliefs by meaning and filters, ranked by meaning, confidence, trust and time. For a selection that fits into a prompt use beliefs_context_query.',
      answer: { items: 'beliefs', page: { limit: 'options.limit', cursor: 'next_cursor' } },
    },
    { operation: 'beliefs.count', fields: BELIEFS_QUERY },
    { operation: 'beliefs.facets', fields: ['fields', ...BELIEFS_QUERY.map(name => `query.${name}`)] },
    { operation: 'beliefs.batch', fields: BELIEFS_QUERY.map(name => `queries.${name}`) },
    { operation: 'beliefs.context_query', fields: [...BELIEFS_QUERY, 'purpose', 'max_tokens', 'target_tokens'] },
    { operation: 'beliefs.similar', fields: ['belief_id', 'context.trust_weight', 'options.limit'] },
    {
      operation: 'beliefs.contradictions',
      fields: ['belief_id', 'context.trust_weight', 'options.limit'],
      description: 'Find beliefs that contradict a belief. A heuristic: read both.',
    },
    'beliefs.derivation',
    { operation: 'beliefs.explain', fields: ['belief_id', 'other_id', ...BELIEFS_QUERY.map(name => `query.${name}`)] },
    {
      operation: 'beliefs.put',
      fields: [
        ...['id', 'content', 'confidence', 'valid_from', 'valid_until', 'derivation.type', 'domains', 'visibility'],
        ...['federation_ids', 'wait', 'beliefs.content'],
      ],
    },
  ],
  c64: [{ operation: 'c64.query', answer: { items: 'results' } }, 'c64.enrich'],
  // The names of these tools are defined by the contract of the lens chroma (CQ-118).
  chroma: [
    {
      operation: 'chroma.query',
      description:
        'Find nodes near the colour of hashtags (or of a text in `input`), ranked by relevance, recency and strength. What is found counts as used; update_access false does not.',
      answer: { items: 'results' },
      readOnly: false,
    },
    {
      operation: 'chroma.batch_query',
      fields: ['queries.hashtags', 'queries.input', 'queries.k'],
      readOnly: false,
    },
    {
      operation: 'chroma.store',
      description:
        'Store a node at the colour of its hashtags, which must be assigned (chroma_assign_hashtag). Each call makes another node.',
    },
    { operation: 'chroma.get', name: 'chroma_get_node', answer: { text: 'content' } },
    { operation: 'chroma.update', name: 'chroma_update_node' },
    { operation: 'chroma.delete', name: 'chroma_delete_node' },
    'chroma.suggest_hashtags',
    { operation: 'chroma.assign', name: 'chroma_assign_hashtag' },
    { operation: 'chroma.hashtags', name: 'chroma_list_hashtags' },
    'chroma.statistics',
  ],
  collections: [
    { operation: 'collections.query', answer: { items: 'results' } },
    { operation: 'collections.format', answer: { text: 'markdown' } },
  ],
  context: [
    CODE,
    ...['definition', 'references', 'callers', 'index', 'extract'].map(name =>
      contextTool({ operation: `context.${name}` }),
    ),
  ],
  conversations: [REMEMBER, RECALL, EXPLAIN, GET, LIST, DELETE],
}

/**
 * Advice after a call of the lens context that failed; null if it succeeded. The lens never throws: the envelope that it returns lists
 * errors by parameter.
 */
function nextAfterEnvelope({ status, errors }: JsonObject): string | null {
  if (status !== 'error') return null
  const details = Object.values((errors ?? {}) as Readonly<Record<string, unknown>>).flat()
  const codes = details.map(detail => (detail as { readonly code?: unknown } | null)?.code)
  if (codes.includes('not_initialized'))
    return 'The code has not been read yet: call context_index, or have `querent context index` run in its folder.'
  if (codes.includes('exception')) return 'Do not try again: the owner of the store should run `querent doctor`.'
  return 'Correct what the errors name and call again; nothing was changed.'
}

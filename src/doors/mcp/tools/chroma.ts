/** The tools of the lens chroma, by the names of its contract (CQ-118). */
import type { ToolChoice } from './choice.ts'

export const CHROMA_TOOLS: readonly ToolChoice[] = [
  {
    operation: 'chroma.query',
    title: 'Query by colour',
    description:
      'Find nodes near the colour of hashtags (or of a text in `input`), ranked by relevance, recency and strength. Returns results, the query as it was taken, and warnings. What is found counts as used; update_access false does not. For one node use chroma_get_node.',
    stored: true,
    readOnly: false,
  },
  {
    operation: 'chroma.batch_query',
    title: 'Query many times',
    description:
      'Ask many queries against one state; all of them or none. Each takes what chroma_query takes. Returns one answer each. For one use chroma_query.',
    fields: ['queries.hashtags', 'queries.input', 'queries.k'],
    stored: true,
    readOnly: false,
  },
  {
    operation: 'chroma.store',
    title: 'Store a node',
    description:
      'Store a node at the colour of its hashtags, which have to be assigned (chroma_assign_hashtag). Each call makes another node. Returns entry_id.',
  },
  {
    operation: 'chroma.get',
    name: 'chroma_get_node',
    title: 'Read a node',
    description: 'Read one node by the entry_id that chroma_query gave. Does not count as use.',
    shows: ['entry_id', 'hashtags', 'label', 'content', 'metadata'],
    stored: true,
  },
  {
    operation: 'chroma.update',
    name: 'chroma_update_node',
    title: 'Update a node',
    description: 'Replace label, content or metadata of a node; its hashtags and colour stay.',
  },
  {
    operation: 'chroma.delete',
    name: 'chroma_delete_node',
    title: 'Delete a node',
    description: 'Delete a node for good. To change it use chroma_update_node.',
  },
  {
    operation: 'chroma.suggest_hashtags',
    title: 'Suggest hashtags',
    description: 'Find the assigned hashtags that a text names, before it is stored. Applies nothing.',
    stored: true,
  },
  {
    operation: 'chroma.assign',
    name: 'chroma_assign_hashtag',
    title: 'Assign a hashtag',
    description:
      'Bind hashtags to anchors, in a zone or at an anchor. What is bound stays where it is. Bound ones: chroma_list_hashtags.',
  },
  {
    operation: 'chroma.hashtags',
    name: 'chroma_list_hashtags',
    title: 'List hashtags',
    description: 'List assigned hashtags with their anchors, of all zones or of one.',
    stored: true,
  },
  {
    operation: 'chroma.statistics',
    title: 'Count nodes',
    description: 'Count nodes by state and mode, with their strength and health.',
  },
]

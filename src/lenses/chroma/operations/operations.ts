/** Every operation of the lens, in the order that listings show. */
import { HASHTAG_OPERATIONS } from './hashtag-ops.ts'
import { MEMORY_OPERATIONS } from './memory-ops.ts'
import { NODE_OPERATIONS } from './node-ops.ts'
import { QUERY_OPERATIONS } from './query-ops.ts'

export const CHROMA_OPERATIONS = [
  ...QUERY_OPERATIONS,
  ...NODE_OPERATIONS,
  ...HASHTAG_OPERATIONS,
  ...MEMORY_OPERATIONS,
] as const

/** Every operation of the lens, in the order that listings show. */
import type { Operation } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import { HASHTAG_OPERATIONS } from './hashtag-ops.ts'
import { MEMORY_OPERATIONS } from './memory-ops.ts'
import { NODE_OPERATIONS } from './node-ops.ts'
import { QUERY_OPERATIONS } from './query-ops.ts'

export const CHROMA_OPERATIONS: readonly Operation<LensHost>[] = [
  ...QUERY_OPERATIONS,
  ...NODE_OPERATIONS,
  ...HASHTAG_OPERATIONS,
  ...MEMORY_OPERATIONS,
]

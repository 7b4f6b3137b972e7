/** All operations of the lens, in the order of listings. */
import type { Operation } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import { BELIEF_OPERATIONS } from './belief-ops.ts'
import { QUERY_OPERATIONS } from './query-ops.ts'

export const BELIEFS_OPERATIONS: readonly Operation<LensHost>[] = [...QUERY_OPERATIONS, ...BELIEF_OPERATIONS]

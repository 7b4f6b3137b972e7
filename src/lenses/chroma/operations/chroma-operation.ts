import type { z } from 'zod'
import type { Operation } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import { type LensOperation, lensOperation } from '../../lens-operation.ts'
import { invalidInput } from '../errors.ts'

/** An operation with the errors of the lens's contract (CQ-001, CQ-006, CQ-105). */
export function chromaOperation<Input extends z.ZodType, Output extends z.ZodType>(
  operation: LensOperation<Input, Output>,
): Operation<LensHost> {
  return { ...lensOperation(operation), invalid: invalidInput }
}

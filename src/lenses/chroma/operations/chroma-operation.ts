import type { z } from 'zod'
import { type LensOperation, lensOperation, type NamedOperation } from '../../lens-operation.ts'
import { invalidInput } from '../errors.ts'

/** An operation with the errors of the lens's contract (CQ-001, CQ-006, CQ-105). */
export function chromaOperation<const Name extends string, Input extends z.ZodType, Output extends z.ZodType>(
  operation: LensOperation<Name, Input, Output>,
): NamedOperation<Name, Input, Output> {
  return { ...lensOperation(operation), invalid: invalidInput }
}

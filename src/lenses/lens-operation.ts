/** Defines operations of lenses whose types follow from their schemas. */
import type { z } from 'zod'
import type { ReadonlyDeep } from '../base/readonly-deep.ts'
import type { CallContext, Operation } from '../model/operation.ts'
import type { LensHost } from './lens.ts'

/** An operation of a lens whose name and schemas the compiler knows; `calls.ts` offers typed functions for such operations. */
export interface NamedOperation<
  Name extends string = string,
  Input extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
> extends Operation<LensHost, Input, Output> {
  readonly name: Name
}

export interface LensOperation<Name extends string, Input extends z.ZodType, Output extends z.ZodType>
  extends Omit<NamedOperation<Name, Input, Output>, 'run'> {
  run(host: LensHost, input: z.output<Input>, context: CallContext): Promise<ReadonlyDeep<z.output<Output>>>
}

/**
 * Returns the operation unchanged, so that the compiler checks its `run` against its input and output schemas. The result of `run` may be
 * read-only.
 */
export function lensOperation<const Name extends string, Input extends z.ZodType, Output extends z.ZodType>(
  operation: LensOperation<Name, Input, Output>,
): NamedOperation<Name, Input, Output> {
  return operation as unknown as NamedOperation<Name, Input, Output>
}

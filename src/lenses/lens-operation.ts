/** Operations of lenses, whose types follow from their schemas. */
import type { z } from 'zod'
import type { ReadonlyDeep } from '../base/readonly-deep.ts'
import type { CallContext, Operation } from '../model/operation.ts'
import type { LensHost } from './lens.ts'

export interface LensOperation<Input extends z.ZodType, Output extends z.ZodType>
  extends Omit<Operation<LensHost, Input, Output>, 'run'> {
  run(host: LensHost, input: z.output<Input>, context: CallContext): Promise<ReadonlyDeep<z.output<Output>>>
}

/** As it is. The compiler holds `run` to both schemas; what it returns may be read-only. */
export function lensOperation<Input extends z.ZodType, Output extends z.ZodType>(
  operation: LensOperation<Input, Output>,
): Operation<LensHost> {
  return operation as unknown as Operation<LensHost>
}

import type { Call } from './call.ts'
import { ParamReader, type Params } from './params.ts'
import { mustBeInitialised, type Part } from './parts.ts'

/** The parameters of a call to parts that must be there. Throws `Refusal`, with all that is wrong with them at once. */
export function readParams<T>(
  { host }: Call,
  parts: readonly Part[],
  params: Params,
  read: (reader: ParamReader) => T,
): T {
  mustBeInitialised(host.store, ...parts)
  const reader = new ParamReader(params)
  const found = read(reader)
  reader.done()
  return found
}

/** Calls of operations: who calls what with which JSON. */
import type { Json, JsonObject } from '../../../src/base/canonical.ts'
import type { Call } from '../calls/call.ts'
import { changeJson, isObject, smallerJson } from './json-kind.ts'
import type { Kind } from './kind.ts'
import { fieldValues, fromSchema } from './schema.ts'

/** Of a call any JSON may stand where its input should. */
export type AnyCall = Omit<Call, 'input'> & { readonly input: Json }

export interface CallOptions {
  /** JSON Schemas of inputs by operation. */
  readonly inputs: ReadonlyMap<string, JsonObject>
  readonly viewers: readonly string[]
  readonly seeds: readonly AnyCall[]
  readonly words: readonly string[]
}

export function callKind({ inputs, viewers, seeds, words }: CallOptions): Kind<AnyCall> {
  const names = [...inputs.keys()]
  const known = fieldValues(seeds.map(call => call.input))
  return {
    make: chance => {
      const operation = chance.pick(names)
      const input = fromSchema(inputs.get(operation), chance, known)
      return { operation, viewer: chance.pick(viewers), input, streamed: chance.oneIn(6) }
    },
    change: (call, chance, other) => {
      if (chance.oneIn(12)) return { ...call, viewer: chance.pick(viewers) }
      if (chance.oneIn(20)) return { ...call, operation: chance.pick(names) }
      if (chance.oneIn(20)) return { ...call, streamed: !call.streamed }
      if (chance.oneIn(8) && isObject(call.input)) {
        const more = fromSchema(inputs.get(call.operation), chance, known)
        return { ...call, input: isObject(more) ? { ...call.input, ...more } : more }
      }
      return { ...call, input: changeJson(call.input, chance, other.input, words) }
    },
    *smaller(call) {
      for (const input of smallerJson(call.input)) yield { ...call, input }
    },
    write: call => ({ ...call }),
    read: written => written as object as AnyCall,
  }
}

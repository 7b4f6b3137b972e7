/** `POST /v1/call`: the lens context by its path names, in its own envelope. */
import { z } from 'zod'
import { contextOf } from '../../../openings/context.ts'
import type { EngineOperation } from '../../../ops/catalog.ts'
import type { Route } from './route.ts'

const input = z.strictObject({ path: z.string(), params: z.unknown().optional() })

/** The envelope reports what is wrong with a path or its parameters. */
export const contextCall: EngineOperation = {
  name: 'context.call',
  summary: 'Call the lens context by a path, such as /context/query',
  input,
  output: z.looseObject({ status: z.enum(['success', 'error']), result: z.unknown(), errors: z.unknown() }),
  effect: { kind: 'write', idempotent: false },
  run: (engine, given, { viewer, signal }) => {
    const { path, params } = given as z.output<typeof input>
    return contextOf(engine, viewer).call(path, params ?? null, undefined, signal)
  },
}

export const CALL_ROUTE: Route = { method: 'POST', path: '/v1/call', operation: contextCall.name }

/** Each path as an operation of the catalog: `/mind/concepts/create-many` is `context.mind_concepts_create_many`. */
import { z } from 'zod'
import type { Operation } from '../../model/operation.ts'
import type { LensHost } from '../lens.ts'
import { callHandler, type Handler } from './call.ts'
import { HANDLERS } from './handlers.ts'

const envelope = z.looseObject({
  status: z.enum(['success', 'error']),
  result: z.unknown(),
  errors: z.unknown(),
  meta: z.looseObject({ path: z.string(), timestamp: z.string(), duration_ms: z.number() }),
})

export const CONTEXT_OPERATIONS: readonly Operation<LensHost>[] = [...HANDLERS.values()].map(operationOf)

/** `/context/query` is plainly `context.query`. */
export function operationName(path: string): string {
  return `context.${path.replace(/^\/(?:context\/)?/, '').replace(/[^a-z0-9]+/g, '_')}`
}

function operationOf({ path, summary, effect, params = {} }: Handler): Operation<LensHost> {
  return {
    name: operationName(path),
    summary,
    input: paramsOf(params),
    output: envelope,
    effect: { kind: effect, idempotent: effect === 'read' || /\/(?:init|scan|extract)$/.test(path) },
    run: (host, given, { viewer, signal, report }) =>
      callHandler(HANDLERS, host, path, given, {
        viewer,
        signal,
        isWaitBounded: true,
        emit: ({ phase, current, total, message }) => report?.({ phase, done: current, total, current: message }),
      }),
  }
}

/** Described, not checked: what is wrong with parameters is told in the envelope, in the terms of its contract. */
function paramsOf(described: NonNullable<Handler['params']>): z.ZodType {
  const fields = Object.entries(described).map(([name, schema]) => [name, z.unknown().optional().meta(schema)] as const)
  return z.looseObject(Object.fromEntries(fields))
}

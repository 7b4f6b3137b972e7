/** Each path as an operation of the catalog: `/mind/concepts/create-many` is `context.mind_concepts_create_many`. */
import type { Operation } from '../../model/operation.ts'
import type { LensHost } from '../lens.ts'
import { callHandler, type Handler } from './call.ts'
import { envelopeOf } from './envelope.ts'
import { HANDLERS } from './handlers.ts'

export const CONTEXT_OPERATIONS: readonly Operation<LensHost>[] = [...HANDLERS.values()].map(operationOf)

/** `/context/query` is plainly `context.query`. */
export function operationName(path: string): string {
  return `context.${path.replace(/^\/(?:context\/)?/, '').replace(/[^a-z0-9]+/g, '_')}`
}

function operationOf({ path, summary, effect, params, result }: Handler): Operation<LensHost> {
  return {
    name: operationName(path),
    summary,
    input: params,
    output: envelopeOf(result),
    effect: { kind: effect, idempotent: effect === 'read' || /\/(?:init|scan|extract)$/.test(path) },
    // What is wrong with parameters is reported in the envelope, in the terms of its contract.
    checksInput: true,
    // What `querent context query` asks for; of the paths of the contract names and words are the default (CX-078).
    ...(path === '/context/query' && { preset: { mode: 'hybrid', rank: 'relevance', snippet: 'passage' } }),
    run: (host, given, { viewer, signal, report }) =>
      callHandler(HANDLERS, host, path, given, {
        viewer,
        signal,
        isWaitBounded: true,
        emit: ({ phase, current, total, message }) => report?.({ phase, done: current, total, current: message }),
      }),
  }
}

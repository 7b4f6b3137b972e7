/** The one way in: `call(path, params, emit?)` finds the handler, times it, and always resolves to an envelope (CX-001). */
import { z } from 'zod'
import type { JsonObject } from '../../base/canonical.ts'
import type { ReadonlyDeep } from '../../base/readonly-deep.ts'
import { isRecord } from '../../base/record.ts'
import { QuerentError } from '../../model/errors.ts'
import type { Effect } from '../../model/operation.ts'
import { isOwner, LOCAL_OWNER, type Viewer } from '../../model/viewer.ts'
import type { LensHost } from '../lens.ts'
import { type Envelope, type ErrorMap, errorAt, type Outcome, Refusal, refusal } from './envelope.ts'
import { type Reading, readParams } from './params.ts'
import { type ContextState, stateOf } from './state.ts'
import { LINKS } from './tables.ts'

export interface ProgressEvent {
  readonly phase: string
  readonly current: number
  readonly total: number | null
  readonly message: string
}

/** Takes what a long call tells of itself. */
export type Emit = (event: ProgressEvent) => void

export interface Call {
  readonly host: LensHost
  readonly state: ContextState
  readonly viewer: Viewer
  readonly signal: AbortSignal
  readonly emit: Emit
  /** Longest wait for what the background may finish, in ms; null: as long as it takes. */
  readonly maxWaitMs: number | null
}

export interface Handler extends Reading {
  readonly path: string
  /** One line, imperative, without a full stop. */
  readonly summary: string
  readonly effect: Effect['kind']
  /** Of `result` in the envelope. */
  readonly result: z.ZodType
  run(call: Call, params: unknown): Outcome | Promise<Outcome>
}

/** Its path and its schemas are known to the compiler. */
export interface TypedHandler<Path extends string, Params extends z.ZodType, Result extends z.ZodType> extends Handler {
  readonly path: Path
  readonly params: Params
  readonly result: Result
}

/**
 * A handler whose types follow from its schemas. They are made when the first call or listing needs them: a process that
 * asks one thing makes the schemas of one.
 */
export function handler<const Path extends string, Params extends z.ZodType, Result extends z.ZodType>(
  given: Omit<Handler, 'path' | 'params' | 'result' | 'run'> & {
    readonly path: Path
    params(): Params
    result(): Result
    run(
      call: Call,
      params: z.output<Params>,
    ): Outcome<ReadonlyDeep<z.output<Result>>> | Promise<Outcome<ReadonlyDeep<z.output<Result>>>>
  },
): TypedHandler<Path, Params, Result> {
  const lazy = { ...given, params: z.lazy(given.params), result: z.lazy(given.result) }
  return lazy as unknown as TypedHandler<Path, Params, Result>
}

export interface CallOptions {
  readonly viewer?: Viewer | undefined
  readonly signal?: AbortSignal | undefined
  readonly emit?: Emit | undefined
  /** For requesters who cannot see how far it is: waits no longer than the setting `max_wait`. */
  readonly isWaitBounded?: boolean | undefined
}

/** `params` as a function: they are still to be read, and what that throws is told as everything else. */
export async function callHandler(
  handlers: ReadonlyMap<string, Handler>,
  host: LensHost,
  path: unknown,
  params: unknown,
  options: CallOptions = {},
): Promise<Envelope> {
  const started = performance.now()
  const called = asText(path)
  const end = (outcome: Outcome | ErrorMap, isError: boolean): Envelope => {
    const { result, errors, meta } = isError ? { result: null, errors: outcome as ErrorMap } : (outcome as Outcome)
    return {
      status: isError ? 'error' : 'success',
      result,
      errors: errors ?? null,
      meta: {
        ...(meta as JsonObject | undefined),
        path: called,
        timestamp: new Date(host.clock.now()).toISOString(),
        duration_ms: Math.round((performance.now() - started) * 1000) / 1000,
      },
    }
  }
  try {
    const handler = typeof path === 'string' ? handlers.get(path) : undefined
    if (handler === undefined) return end(errorAt(['path'], 'not_found', `no handler for ${called}`), true)
    const given: unknown = (typeof params === 'function' ? await params() : params) ?? {}
    if (!isRecord(given)) return end(errorAt(['params'], 'invalid', 'params must be an object'), true)
    const { viewer = LOCAL_OWNER, signal = new AbortController().signal, emit = () => undefined } = options
    const state = stateOf(host)
    const maxWaitMs = options.isWaitBounded === true ? state.settings.max_wait * 1000 : null
    const call: Call = { host, state, viewer, signal, emit, maxWaitMs }
    if (handler.effect === 'read') await host.ready?.([LINKS.name])
    return end(await handler.run(call, readParams(handler, host.store, given)), false)
  } catch (error) {
    if (error instanceof Refusal) return end(error.errors, true)
    if (isDamage(error)) {
      // Others are not told which row it is: it may be one they may not see.
      const message = isOwner(options.viewer ?? LOCAL_OWNER) ? error.message : 'the store is damaged'
      return end(errorAt(['handler'], 'exception', message, { reason: error.code }), true)
    }
    return end(errorAt(['handler'], 'exception', error instanceof Error ? error.message : asText(error)), true)
  }
}

function isDamage(error: unknown): error is QuerentError {
  return error instanceof QuerentError && error.code === 'store_corrupt'
}

/** Throws `Refusal` with code `cancelled`: what was written until then stays. */
export function mustNotBeCancelled({ signal }: Pick<Call, 'signal'>): void {
  if (signal.aborted) throw refusal('handler', 'cancelled', 'the call was cancelled')
}

/** Not everything has a form as text: what has none is called by its kind. */
function asText(value: unknown): string {
  try {
    return String(value)
  } catch {
    return typeof value
  }
}

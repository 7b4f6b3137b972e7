/** Operations as the routes of their lens answer them, where the contract of the lens says more of errors than they do. */
import { isRecord } from '../../../base/record.ts'
import { type ErrorKind, QuerentError } from '../../../model/errors.ts'
import { asQuerentError, reportedError } from '../../../model/reported-error.ts'
import type { EngineOperation } from '../../../ops/catalog.ts'

/** Families of the lens chroma (CQ-105) for errors that are not its own. */
const CHROMA_TYPES: Readonly<Record<ErrorKind, string>> = {
  usage: 'ValidationError',
  limit: 'QueryError',
  denied: 'QueryError',
  not_found: 'QueryError',
  conflict: 'QueryError',
  busy: 'DatabaseError',
  broken: 'StorageError',
  unavailable: 'StorageError',
}

/** Every error has a `type`, and none tells of the machine, to whomever (CQ-120). */
export function typedForChroma(operation: EngineOperation): EngineOperation {
  return {
    ...operation,
    refusal: (engine, error, input, context) => typed(operation.refusal?.(engine, error, input, context) ?? error),
    async run(engine, input, context) {
      try {
        return await operation.run(engine, input, context)
      } catch (thrown) {
        throw typed(asQuerentError(thrown))
      }
    },
  }
}

/**
 * `not_found` where the answer's flag is false (CQ-120). `reading` fails where there is nothing: of a request that gives
 * ids alone a false flag says no more than that it asked for nothing.
 */
export function foundOrRefused(operation: EngineOperation, flag: string, reading?: EngineOperation): EngineOperation {
  return {
    ...operation,
    async run(engine, input, context) {
      const answer = await operation.run(engine, input, context)
      if (!isRecord(answer) || answer[flag] !== false) return answer
      const given = isRecord(input) ? Object.entries(input) : []
      const ids = given.filter(([name]) => name.endsWith('_id'))
      if (reading !== undefined && ids.length === given.length) {
        await reading.run(engine, input, context)
        return answer
      }
      const [[field, id] = ['id', '']] = ids
      throw new QuerentError('not_found', `${field}: there is no ${JSON.stringify(id)}`, { [field]: String(id) })
    },
  }
}

function typed(error: QuerentError): QuerentError {
  const reported = reportedError(error, null)
  if (reported.toJSON().type !== undefined) return reported
  const { code, kind, retryable, help } = reported
  const row = { code, type: CHROMA_TYPES[kind], kind, retryable, help }
  return new QuerentError(row, reported.message, reported.details, reported.cause)
}

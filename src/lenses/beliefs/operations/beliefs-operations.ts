/** All operations of the lens, in the order of listings. */
import type { JsonObject } from '../../../base/canonical.ts'
import { isRecord } from '../../../base/record.ts'
import { toIso } from '../../../model/instant.ts'
import type { CallContext, Operation } from '../../../model/operation.ts'
import type { RequestLine } from '../../../model/request-log.ts'
import type { LensHost } from '../../lens.ts'
import { BeliefsError } from '../errors.ts'
import { DAY_MS } from '../measures/confidence.ts'
import { failureIn, newRequestId } from './belief-operation.ts'
import { FEDERATION_OPERATIONS, NODE_OPERATIONS, PEER_OPERATIONS } from './federation-ops.ts'
import { DIAGNOSTICS_OPERATIONS, QUERY_OPERATIONS, QUESTION_OPERATIONS, WATCH_OPERATIONS } from './question-ops.ts'
import { AGENT_OPERATIONS, BELIEF_OPERATIONS, TRUST_OPERATIONS } from './writing-ops.ts'

/** A line for each call in the log of whoever runs the node (BQ-196). */
function logged(operation: Operation<LensHost>): Operation<LensHost> {
  type Ended = Pick<RequestLine, 'results' | 'code'>
  const noter = (host: LensHost, input: unknown, context: CallContext) => {
    const started = performance.now()
    return (requestId: string, ended: Ended) => {
      const { log, clock } = host
      log?.write({
        at: toIso(clock.now()),
        request_id: requestId,
        requester: context.viewer.id,
        operation: operation.name,
        duration_ms: Math.round((performance.now() - started) * 1000) / 1000,
        ...ended,
        ...queryOf(host, input),
      })
    }
  }
  const { stream } = operation
  return {
    ...operation,
    ...(stream && {
      stream(host, input, context) {
        const pieces = stream(host, input, context)
        if (host.log === undefined) return pieces
        const note = noter(host, input, context)
        return noted(pieces, (ended, requestId) => note(requestId || newRequestId(host), ended))
      },
    }),
    refusal(host, error, input, context) {
      const failure = failureIn(host, error, input)
      noter(host, input, context)(failure.requestId, { results: null, code: failure.code })
      return failure
    },
    async run(host, input, context) {
      const note = noter(host, input, context)
      try {
        const answer = await operation.run(host, input, context)
        if (host.log !== undefined) note(newRequestId(host), { results: resultsIn(answer), code: null })
        return answer
      } catch (thrown) {
        const known = thrown instanceof BeliefsError ? thrown : null
        note(known?.requestId ?? newRequestId(host), { results: null, code: known?.code ?? 'INTERNAL_ERROR' })
        throw thrown
      }
    },
  }
}

/** A line when it has ended, however it does. */
function noted(
  pieces: AsyncIterable<JsonObject>,
  note: (ended: Pick<RequestLine, 'results' | 'code'>, requestId: string) => void,
): AsyncIterable<JsonObject> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = pieces[Symbol.asyncIterator]()
      let results: number | null = null
      let isNoted = false
      const end = (code: string | null, requestId = ''): void => {
        if (!isNoted) note({ results, code }, requestId)
        isNoted = true
      }
      return {
        async next() {
          try {
            const piece = await iterator.next()
            if (piece.done === true) end(null)
            else results = sum(results, resultsIn(piece.value))
            return piece
          } catch (thrown) {
            const known = thrown instanceof BeliefsError ? thrown : null
            end(known?.code ?? 'INTERNAL_ERROR', known?.requestId)
            throw thrown
          }
        },
        async return() {
          end(null)
          return (await iterator.return?.()) ?? { done: true, value: undefined }
        },
      }
    },
  }
}

function sum(before: number | null, more: number | null): number | null {
  return more === null ? before : (before ?? 0) + more
}

/** The text alone, and only where the operator wants it. */
function queryOf({ log, clock }: LensHost, input: unknown): Pick<RequestLine, 'query' | 'keep_until'> {
  if (log?.queryDays === undefined || !isRecord(input)) return {}
  const asked = isRecord(input['query']) ? input['query'] : input
  const text = asked['semantic']
  if (typeof text !== 'string') return {}
  return { query: text, keep_until: toIso(clock.now() + log.queryDays * DAY_MS) }
}

function resultsIn(answer: unknown): number | null {
  if (!isRecord(answer)) return null
  const list = answer['beliefs'] ?? answer['results'] ?? answer['edges'] ?? answer['agents'] ?? answer['federations']
  return Array.isArray(list) ? list.length : null
}

const ALL = [
  ...QUERY_OPERATIONS,
  ...WATCH_OPERATIONS,
  ...QUESTION_OPERATIONS,
  ...BELIEF_OPERATIONS,
  ...TRUST_OPERATIONS,
  ...AGENT_OPERATIONS,
  ...FEDERATION_OPERATIONS,
  ...NODE_OPERATIONS,
  ...PEER_OPERATIONS,
  ...DIAGNOSTICS_OPERATIONS,
] as const

// The cast: what is logged keeps its name and its schemas.
export const BELIEFS_OPERATIONS = ALL.map(logged) as unknown as typeof ALL

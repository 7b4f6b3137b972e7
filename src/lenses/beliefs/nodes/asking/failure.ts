/** Why a node gave nothing, in the words of this one (BQ-133). */
import type { TransportFailure } from '../../../../pipeline/transport.ts'
import type { NodeFailure } from '../guest.ts'

export type Why = Pick<NodeFailure, 'code' | 'reason' | 'retryable'>

export const LATE: Why = { code: 'TIMEOUT', reason: 'timeout', retryable: true }
export const INVALID_DATA: Why = { code: 'NODE_UNAVAILABLE', reason: 'invalid_data', retryable: true }
export const RESTING: Why = { code: 'NODE_UNAVAILABLE', reason: 'resting', retryable: true }
export const UNKNOWN_NODE: Why = { code: 'NODE_UNAVAILABLE', reason: 'unreachable', retryable: true }
/** Its key is not kept here: nobody but the requester itself can sign for it. */
export const NO_KEY: Why = { code: 'UNAUTHORIZED', reason: 'no_key', retryable: false }

export function whyOf({ code, status }: TransportFailure): Why {
  switch (code) {
    case 'refused':
      if (status === 401 || status === 403) return { code: 'UNAUTHORIZED', reason: 'refused', retryable: false }
      if (status === 429) return { code: 'RATE_LIMITED', reason: 'refused', retryable: true }
      return { code: 'NODE_UNAVAILABLE', reason: 'refused', retryable: true }
    case 'unreachable':
      return { code: 'NODE_UNAVAILABLE', reason: 'unreachable', retryable: true }
    case 'malformed':
    case 'too_large':
      return INVALID_DATA
    case 'aborted':
      return LATE
  }
}

/** Why a node gave nothing, in the words of this one (BQ-133). */
import type { TransportFailure } from '../../../../pipeline/transport.ts'
import type { NodeFailure } from '../guest.ts'

export type Why = Pick<NodeFailure, 'code' | 'reason' | 'retryable'>

export const LATE: Why = { code: 'TIMEOUT', reason: 'timeout', retryable: true }
export const INVALID_DATA: Why = { code: 'NODE_UNAVAILABLE', reason: 'invalid_data', retryable: true }
/** Also of nodes that rest, and of those that there are not: which of them it is, is not told (BQ-087). */
export const UNREACHABLE: Why = { code: 'NODE_UNAVAILABLE', reason: 'unreachable', retryable: true }
/** Something went wrong here. */
export const FAILED: Why = { code: 'NODE_UNAVAILABLE', reason: 'failed', retryable: true }
/** Its key is not kept here: nobody but the requester itself can sign for it. */
export const NO_KEY: Why = { code: 'UNAUTHORIZED', reason: 'no_key', retryable: false }

export function whyOf({ code, status }: TransportFailure): Why {
  switch (code) {
    case 'refused':
      if (status === 401 || status === 403) return { code: 'UNAUTHORIZED', reason: 'refused', retryable: false }
      if (status === 429) return { code: 'RATE_LIMITED', reason: 'refused', retryable: true }
      return { code: 'NODE_UNAVAILABLE', reason: 'refused', retryable: true }
    case 'unreachable':
      return UNREACHABLE
    case 'malformed':
      return INVALID_DATA
    case 'too_large':
      return { code: 'NODE_UNAVAILABLE', reason: 'too_large', retryable: true }
    case 'aborted':
      return LATE
  }
}

/** How other nodes fared when they were asked of late, in this process: what is told beside a peer, and when it rests. */
import type { Instant } from '../../../../base/clock.ts'
import type { LensHost } from '../../../lens.ts'
import { nodeBookOf } from '../asking/node-book.ts'

export interface PeerHealth {
  /** Null: not since this process began. */
  readonly lastSuccess: Instant | null
  /** In a row. */
  readonly failures: number
  /** Not asked until then; null: it is asked. */
  readonly restingUntil: Instant | null
}

/** By its did: another key is another node. */
export function healthOf(host: LensHost, did: string): PeerHealth {
  const { breaker, lastAnswerAt } = nodeBookOf(host).of(did)
  const restMs = breaker.restMsAt(machineTime(host))
  return {
    lastSuccess: lastAnswerAt,
    failures: breaker.failures,
    restingUntil: restMs > 0 ? Math.ceil(machineNow(host) + restMs) : null,
  }
}

/** It answered: whatever rest it had is over. `model`: that it embeds with. */
export function noteSuccess(host: LensHost, did: string, at: Instant, model: string | null): void {
  const known = nodeBookOf(host).of(did)
  known.breaker.succeeded()
  known.lastAnswerAt = at
  known.model = model
}

export function noteFailure(host: LensHost, did: string): void {
  nodeBookOf(host).of(did).breaker.failed(machineTime(host))
}

/** Of one that was taken off the list. */
export function forgetHealth(host: LensHost, did: string): void {
  nodeBookOf(host).forget(did)
}

function machineTime({ node }: LensHost): number {
  return node?.machineTime() ?? 0
}

function machineNow({ node, clock }: LensHost): Instant {
  return node?.now() ?? clock.now()
}

/** How other nodes fared when they were asked of late, in this process: what is told beside a peer, and when it rests. */
import type { Instant } from '../../../../base/clock.ts'
import type { LensHost } from '../../../lens.ts'

export interface PeerHealth {
  /** Null: not since this process began. */
  readonly lastSuccess: Instant | null
  /** In a row. */
  readonly failures: number
  /** Not asked until then; null: it is asked. */
  readonly restingUntil: Instant | null
}

const UNKNOWN: PeerHealth = { lastSuccess: null, failures: 0, restingUntil: null }

const HEALTH = new WeakMap<LensHost, Map<string, PeerHealth>>()

export function healthOf(host: LensHost, peer: string): PeerHealth {
  return HEALTH.get(host)?.get(peer) ?? UNKNOWN
}

export function noteSuccess(host: LensHost, peer: string, at: Instant): void {
  note(host, peer, { lastSuccess: at, failures: 0, restingUntil: null })
}

export function noteFailure(host: LensHost, peer: string, restingUntil: Instant | null = null): void {
  const { lastSuccess, failures } = healthOf(host, peer)
  note(host, peer, { lastSuccess, failures: failures + 1, restingUntil })
}

/** Of one that was taken off the list. */
export function forgetHealth(host: LensHost, peer: string): void {
  HEALTH.get(host)?.delete(peer)
}

function note(host: LensHost, peer: string, health: PeerHealth): void {
  const all = HEALTH.get(host) ?? new Map<string, PeerHealth>()
  HEALTH.set(host, all.set(peer, health))
}

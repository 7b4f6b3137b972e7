/** What keeps a signed message from being used again: for whom it is, when it was made, and a number used once. */
import type { Instant } from '../base/clock.ts'
import { fromBase64Url, toBase64Url } from './encoding.ts'

const NONCE_BYTES = 32
/** How far two clocks may lie apart. */
export const CLOCK_TOLERANCE_MS = 300_000

/** Why a message is not taken. Operators see it; a caller learns only that it is not authorised. */
export type Refusal = 'malformed' | 'signature' | 'audience' | 'clock' | 'replay'

export function newNonce(random: (bytes: number) => Uint8Array): string {
  return toBase64Url(random(NONCE_BYTES))
}

export function isNonce(text: string): boolean {
  return fromBase64Url(text, NONCE_BYTES) !== null
}

export function isTimely(timestamp: Instant, now: Instant): boolean {
  return Math.abs(now - timestamp) <= CLOCK_TOLERANCE_MS
}

/** How trust fades while it is not used (BQ-070), and in which steps others' edges count (BQ-078). */
import type { Instant } from '../../../base/clock.ts'
import { DAY_MS } from '../measures/decay.ts'
import { twelveDecimals } from '../measures/rounding.ts'

const RATE_PER_DAY = 0.001
const MANUAL = 0.1
const HIGH = 0.5
const HIGH_ABOVE = 0.9
/** Around the computed instant of a step the formula itself is asked: its rounding may move the step by some hundredths of a second. */
const SLACK_MS = 1000

/** A day. */
export function fadingRate(level: number, manual: boolean, persistent: boolean): number {
  if (persistent) return 0
  return RATE_PER_DAY * (manual ? MANUAL : 1) * (level > HIGH_ABOVE ? HIGH : 1)
}

/** 0 before the last use, which another clock may have written. */
export function daysSince(lastUsed: Instant, asOf: Instant): number {
  return Math.max(0, asOf - lastUsed) / DAY_MS
}

export function faded(base: number, rate: number, days: number): number {
  return base * Math.exp(-rate * days)
}

/** To tenths, half up: 0.85 counts as 9, 0.8499 as 8. Twelve decimals count, so that no noise of sums decides. */
export function tenthsOf(value: number): number {
  return Math.floor(twelveDecimals(value) * 10 + 0.5)
}

/**
 * Until when a value that counts as so many tenths now is sure to do so: a moment too early rather than too late, and
 * never before the next millisecond.
 */
export function tenthsHoldUntil(base: number, rate: number, lastUsed: Instant, asOf: Instant, tenths: number): Instant {
  if (tenths === 0 || rate === 0) return Number.POSITIVE_INFINITY
  const days = Math.log((base * 10) / (tenths - 0.5)) / rate
  return Math.max(asOf + 1, Math.floor(lastUsed + days * DAY_MS) - SLACK_MS)
}

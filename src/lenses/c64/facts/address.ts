/** Addresses of the facts as numbers, and ranges of them. */
import type { RangeFact } from './facts.ts'

export interface Range {
  readonly start: number
  /** Inclusive. */
  readonly end: number
}

/** Of a text such as `$D020`. */
export function addressOf(text: string): number {
  return Number.parseInt(text.slice(1), 16)
}

export function rangeOf({ start, end }: RangeFact): Range {
  return { start: addressOf(start), end: addressOf(end) }
}

export function sizeOf({ start, end }: Range): number {
  return end - start + 1
}

export function holds({ start, end }: Range, address: number): boolean {
  return start <= address && address <= end
}

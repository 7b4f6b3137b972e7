/** A number found in a question, in every base that its reader may have meant. */

/** The largest number that is taken: two bytes. */
export const MAX_NUMBER = 0xffff
const MAX_BYTE = 0xff

/**
 * What a number stands for, most telling first: a place for sure, perhaps a place, an amount, or part of the prose (a
 * year, "16 colours"), which no plugin speaks about.
 */
export type NumberRole = 'address' | 'candidate' | 'value' | 'prose'

export const ROLES: readonly NumberRole[] = ['address', 'candidate', 'value', 'prose']

export interface ParsedNumber {
  /** As typed, the first time. */
  readonly sourceToken: string
  /** 0 to 65535. */
  readonly value: number
  readonly decimal: string
  /** `$` and two digits up to 255, four above. */
  readonly hex: string
  /** `%` and eight digits; only up to 255. */
  readonly binary?: string
  readonly role?: NumberRole
  /** Where each spelling of it begins, in UTF-16 units, ascending. */
  readonly at?: readonly number[]
}

export function isByte(value: number): boolean {
  return value <= MAX_BYTE
}

export function toHex(value: number): string {
  return `$${digits(value, 16, isByte(value) ? 2 : 4)}`
}

/** Four digits whatever the value: how places are written. */
export function toAddress(value: number): string {
  return `$${digits(value, 16, 4)}`
}

export function toBinary(value: number): string {
  return `%${digits(value, 2, 8)}`
}

function digits(value: number, base: number, width: number): string {
  return value.toString(base).toUpperCase().padStart(width, '0')
}

/** Where the number stands in the query; found again by its token when it was made without places. */
export function placesOf(number: ParsedNumber, query: string): readonly number[] {
  if (number.at !== undefined) return number.at
  const first = query.indexOf(number.sourceToken)
  return first < 0 ? [] : [first]
}

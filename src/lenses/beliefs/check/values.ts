/** Checks of single values. Each says its fault at its place and gives undefined then; nothing is converted. */
import type { Instant } from '../../../base/clock.ts'
import { isStorable } from '../../../base/storable.ts'
import { publicKeyOf } from '../../../identity/did-key.ts'
import { MAX_ID_LENGTH } from '../../../model/limits.ts'
import { isFederationName } from '../../../model/partition.ts'
import { normaliseDomain } from '../measures/domains.ts'
import type { Check, Place } from './faults.ts'

interface Range {
  readonly least: number
  readonly most: number
}

export const SHARE: Range = { least: 0, most: 1 }

export function boolean(value: unknown, at: Place): boolean | undefined {
  return typeof value === 'boolean' ? value : at.fault('type', 'true or false', value)
}

/** Both ends are in. */
export function numberIn({ least, most }: Range): Check<number> {
  return numberThat(value => Number.isFinite(value) && value >= least && value <= most, `a number ${span(least, most)}`)
}

/** Both ends are in. */
export function integerIn({ least, most }: Range): Check<number> {
  const fits = (value: number) => Number.isSafeInteger(value) && value >= least && value <= most
  return numberThat(fits, `an integer ${span(least, most)}`)
}

/** To be brought into its range by who asks for it. */
export const finiteNumber: Check<number> = numberThat(Number.isFinite, 'a finite number')
export const finiteInteger: Check<number> = numberThat(Number.isInteger, 'an integer')

function numberThat(fits: (value: number) => boolean, expected: string): Check<number> {
  return (value, at) => {
    if (typeof value !== 'number') return at.fault('type', expected, value)
    return fits(value) ? value : at.fault('range', expected, value)
  }
}

function span(least: number, most: number): string {
  return most >= Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`
}

/** An opaque id: text that can be stored, compared as it is (BQ-011). */
export function id(value: unknown, at: Place): string | undefined {
  return textUpTo(MAX_ID_LENGTH)(value, at)
}

/** Not empty, in UTF-16 units. */
export function textUpTo(most: number): Check<string> {
  const expected = `text of 1 to ${most} characters, without NUL and half surrogate pairs`
  return (value, at) => {
    if (typeof value !== 'string') return at.fault('type', expected, value)
    if (value === '' || value.length > most) return at.fault('range', expected, value)
    return isStorable(value) ? value : at.fault('malformed', expected, value)
  }
}

export function oneOf<T extends string>(values: readonly T[], cased: 'exact' | 'any case' = 'exact'): Check<T> {
  const expected = `one of ${values.join(', ')}`
  return (value, at) => {
    if (typeof value !== 'string') return at.fault('type', expected, value)
    const known = values.find(known => known === (cased === 'exact' ? value : value.toLowerCase()))
    return known ?? at.fault('unknown_value', expected, value)
  }
}

/** In its normal form (BQ-006). */
export function domain(value: unknown, at: Place): string | undefined {
  if (typeof value !== 'string') return at.fault('type', DOMAIN, value)
  return normaliseDomain(value) ?? at.fault('malformed', DOMAIN, value)
}

/** Whole milliseconds; finer fractions are cut (BQ-009). */
export function instant(value: unknown, at: Place): Instant | undefined {
  if (typeof value !== 'string') return at.fault('type', TIME, value)
  const parsed = parseInstant(value)
  if (parsed !== null) return parsed
  return at.fault(WITHOUT_ZONE.test(value) ? 'zone_missing' : 'malformed', TIME, value)
}

const DOMAIN =
  'a domain such as code/rust: up to 5 segments of 1 to 32 characters from a-z, 0-9, _ and -, with / (or :) between'
const TIME = 'a time in ISO 8601 with its zone, such as 2026-03-01T12:00:00Z'
const ZONED = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/
const WITHOUT_ZONE = /^\d{4}-\d\d-\d\d(?:[T ][\d:.]*)?$/

function parseInstant(text: string): Instant | null {
  const day = ZONED.exec(text)?.[1]
  if (day === undefined) return null
  // `Date.parse` takes 31 February for 3 March.
  const midnight = Date.parse(day)
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(day)) return null
  const parsed = Date.parse(text)
  return Number.isNaN(parsed) ? null : parsed
}

/** Of federations, and of nodes as they are called here. */
export function federationName(value: unknown, at: Place): string | undefined {
  const expected = 'a name of 1 to 200 characters without blanks, colons and commas'
  if (typeof value !== 'string') return at.fault('type', expected, value)
  return isFederationName(value) ? value : at.fault('malformed', expected, value)
}

export function did(value: unknown, at: Place): string | undefined {
  if (typeof value === 'string' && publicKeyOf(value) !== null) return value
  return at.fault('malformed', 'a did:key of an Ed25519 key, such as did:key:z6Mk…', value)
}

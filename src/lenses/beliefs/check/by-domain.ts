/** Numbers from 0 to 1 by domain: trust in a field, reputation in one. */
import { normaliseDomain } from '../measures/domains.ts'
import type { Place } from './faults.ts'
import { isRecord } from './shapes.ts'
import { numberIn, SHARE } from './values.ts'

/** By normalised domain; two spellings of one domain are one too many. */
export function byDomain(value: unknown, at: Place): Readonly<Record<string, number>> | undefined {
  if (!isRecord(value)) return at.fault('type', 'an object of numbers from 0 to 1 by domain', value)
  const names = Object.keys(value)
  if (names.length > MOST_DOMAINS) return at.fault('too_complex', `at most ${MOST_DOMAINS} domains`, names.length)
  const found = new Map<string, number>()
  for (const name of names) {
    const place = at.member(name)
    const level = share(value[name], place)
    const domain = normaliseDomain(name)
    if (domain === null) place.fault('malformed', 'a domain such as code/rust as the name', name)
    else if (found.has(domain)) place.fault('duplicate', `one number for ${domain}`, name)
    else if (level !== undefined) found.set(domain, level)
  }
  // Entries become members of its own whatever they are called, `__proto__` too.
  return Object.fromEntries(found)
}

const MOST_DOMAINS = 50

const share = numberIn(SHARE)

/** Members that a sender may expect to work, and that are refused with more than "unknown" (BQ-067, BQ-115). */
import type { Place } from './faults.ts'

/** For `ShapeOptions.unknown`: whether the member is one of these, its fault then told. */
export function refusedMember(name: string, at: Place): boolean {
  if (PRIVACY.has(name)) {
    at.fault('not_supported', 'no such member: queries cannot be hidden yet, so none is run as if it were')
    return true
  }
  if (TRUST.has(name)) {
    at.fault('inline_trust', 'no such member: trust, reputation and membership are what the node knows of them')
    return true
  }
  return false
}

const PRIVACY: ReadonlySet<string> = new Set([
  'privacy',
  'query_privacy',
  'encrypted',
  'differential_privacy',
  'anonymized',
  'anonymised',
])

const TRUST: ReadonlySet<string> = new Set([
  'edges',
  'trust',
  'trust_edges',
  'trust_level',
  'trust_levels',
  'trust_score',
  'trust_scores',
  'domain_trust',
  'membership',
  'memberships',
  'federations',
  'reputation',
])

/** What makes a set of hashtags one that has a colour. There is no upper bound. */
import type { JsonObject } from '../../../base/canonical.ts'
import { ValidationError } from '../errors.ts'
import type { Binding } from '../model.ts'

export interface ZoneCounts {
  readonly core: number
  readonly mid: number
  readonly outer: number
  readonly total: number
}

/** The rules, in the order in which broken ones are told. */
export type Violation = 'core' | 'outer' | 'total' | 'mid'

const MIN_TOTAL = 8

/** By the zone kept with the anchor, never by its distance from the middle. Bindings are distinct. */
export function countZones(bindings: readonly Pick<Binding, 'zone'>[]): ZoneCounts {
  const [core, mid, outer] = (['Core', 'Mid', 'Outer'] as const).map(
    zone => bindings.filter(binding => binding.zone === zone).length,
  ) as [number, number, number]
  return { core, mid, outer, total: bindings.length }
}

export function violationsOf({ core, mid, outer, total }: ZoneCounts): readonly Violation[] {
  const broken: readonly (readonly [Violation, boolean])[] = [
    ['core', core < 1],
    ['outer', outer < 1],
    ['total', total < MIN_TOTAL],
    ['mid', 20 * mid < 13 * total], // 65 percent, in whole numbers
  ]
  return broken.flatMap(([rule, isBroken]) => (isBroken ? [rule] : []))
}

/** The fewest tags that would make the set valid: of 1 Core tag alone, 6 Mid and 1 Outer. */
export function missingTags({ core, mid, outer, total }: ZoneCounts): Pick<ZoneCounts, 'core' | 'mid' | 'outer'> {
  const missing = { core: core < 1 ? 1 : 0, outer: outer < 1 ? 1 : 0 }
  const others = total + missing.core + missing.outer
  // The least m with 20·(mid + m) ≥ 13·(others + m).
  const forShare = Math.ceil((13 * others - 20 * mid) / 7)
  return { ...missing, mid: Math.max(0, MIN_TOTAL - others, forShare) }
}

/**
 * Throws `invalid_hashtags`: details.violations, details.counts, details.missing (the fewest tags a zone that would help),
 * details.hashtags (what was found), and whatever else the caller has to say.
 */
export function mustBeValid(bindings: readonly Binding[], more: JsonObject = {}): void {
  const counts = countZones(bindings)
  const violations = violationsOf(counts)
  if (violations.length === 0) return
  const missing = missingTags(counts)
  const hashtags = bindings.map(({ hashtag }) => hashtag)
  const details = { violations: [...violations], counts: { ...counts }, missing: { ...missing }, hashtags, ...more }
  throw new ValidationError('invalid_hashtags', messageOf(counts, missing), details)
}

function messageOf(counts: ZoneCounts, missing: Pick<ZoneCounts, 'core' | 'mid' | 'outer'>): string {
  const given = `${counts.core} Core, ${counts.mid} Mid and ${counts.outer} Outer tags`
  const wanted = (['core', 'mid', 'outer'] as const)
    .filter(zone => missing[zone] > 0)
    .map(zone => `${missing[zone]} ${{ core: 'Core', mid: 'Mid', outer: 'Outer' }[zone]}`)
    .join(', ')
  const hint = counts.total < MIN_TOTAL ? '; suggestHashtags finds assigned tags in a text' : ''
  return (
    `hashtags: expected at least 1 Core, 1 Outer, ${MIN_TOTAL} in all and 65 percent Mid, got ${given}; ` +
    `missing: ${wanted}${hint}`
  )
}

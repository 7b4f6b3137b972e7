/** Where a set of hashtags lies: storing and asking go through here alike. */

import { type JsonObject, sha256 } from '../../../base/canonical.ts'
import { Recent } from '../../../base/recent.ts'
import { centreOfGravity } from '../../../math/gravity.ts'
import { invalidParameter, UnknownHashtagError, ValidationError } from '../errors.ts'
import type { Binding, Color } from '../model.ts'
import type { BindingSet, Bindings } from './bindings.ts'
import { normaliseHashtag } from './hashtag.ts'

/** Distinct, assigned, within the zone rules; by ascending anchor. */
export interface CheckedTags {
  /** Normalised. */
  readonly hashtags: readonly string[]
  readonly bindings: readonly Binding[]
}

const CAPACITY = 1000

export class Coordinates {
  readonly #bindings: Bindings
  /** By anchors, ascending: the one spelling of a tag set, and one whose colour can never be out of date. */
  readonly #colors = new Recent<string, Color>(CAPACITY)
  /** What the hashtags were when the cache was last looked through. */
  #seen: BindingSet

  constructor(bindings: Bindings) {
    this.#bindings = bindings
    this.#seen = bindings.current
  }

  /** Throws `invalid_parameter` for what is no hashtag, `unknown_hashtag`, `invalid_hashtags`, in this order. `set`: bindings that are not committed yet. */
  check(tags: readonly unknown[], set?: BindingSet): CheckedTags {
    const resolved = this.resolveAll(tags, set)
    mustBeValid(resolved)
    return { hashtags: resolved.map(({ hashtag }) => hashtag), bindings: resolved }
  }

  /** As `check`, without the zone rules. Tags that are equal when normalised count once. */
  resolveAll(tags: readonly unknown[], set: BindingSet = this.#bindings.current): readonly Binding[] {
    if (!Array.isArray(tags)) throw invalidParameter('hashtags', tags, 'a list of hashtags')
    const distinct = [...new Set(Array.from(tags, tag => normaliseHashtag(tag)))]
    const { resolve } = set
    const unknown = distinct.filter(hashtag => resolve(hashtag) === null)
    if (unknown.length > 0) throw new UnknownHashtagError(unknown)
    return distinct.flatMap(hashtag => resolve(hashtag) ?? []).sort((one, other) => one.anchor_id - other.anchor_id)
  }

  color({ bindings }: Pick<CheckedTags, 'bindings'>): Color {
    this.#forgetMoved()
    const anchors = bindings.map(({ anchor_id }) => anchor_id)
    return this.#colors.get(anchors.join(), () => centreOfGravity(bindings))
  }

  computeNodeColor(tags: readonly unknown[]): Color {
    return this.color(this.check(tags))
  }

  /** How many colours are kept. */
  get size(): number {
    this.#forgetMoved()
    return this.#colors.size
  }

  /** A set of which a hashtag was moved or unassigned is not asked for again. */
  #forgetMoved(): void {
    const { current } = this.#bindings
    const before = this.#seen
    if (current === before) return
    this.#seen = current
    const isMoved = (anchor: number) => before.at(anchor)?.hashtag !== current.at(anchor)?.hashtag
    this.#colors.forget(anchors => anchors.split(',').map(Number).some(isMoved))
  }
}

export interface ZoneCounts {
  readonly core: number
  readonly mid: number
  readonly outer: number
  readonly total: number
}

/** The rules, in the order in which broken ones are told. */
export type Violation = 'core' | 'outer' | 'total' | 'mid'

const MIN_TOTAL = 8
/** In the words of the library. */
const SUGGEST = 'suggestHashtags'

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
  // Interfaces name the operation in their own words (CQ-036).
  const see = counts.total < MIN_TOTAL ? { see: { library: SUGGEST, operation: 'chroma.suggest_hashtags' } } : {}
  const details = {
    violations: [...violations],
    counts: { ...counts },
    missing: { ...missing },
    hashtags,
    ...see,
    ...more,
  }
  throw new ValidationError('invalid_hashtags', messageOf(counts, missing), details)
}

function messageOf(counts: ZoneCounts, missing: Pick<ZoneCounts, 'core' | 'mid' | 'outer'>): string {
  const given = `${counts.core} Core, ${counts.mid} Mid and ${counts.outer} Outer tags`
  const wanted = (['core', 'mid', 'outer'] as const)
    .filter(zone => missing[zone] > 0)
    .map(zone => `${missing[zone]} ${{ core: 'Core', mid: 'Mid', outer: 'Outer' }[zone]}`)
    .join(', ')
  const hint = counts.total < MIN_TOTAL ? `; ${SUGGEST} finds assigned tags in a text, or a whole set` : ''
  return (
    `hashtags: expected at least 1 Core, 1 Outer, ${MIN_TOTAL} in all and 65 percent Mid, got ${given}; ` +
    `missing: ${wanted}${hint}`
  )
}

/** Named after the colour, to six decimals: nodes at one place share it. */
export function nodeIdOf(color: Color): string {
  return `node_${sha256(color.map(sixDecimals).join(',')).slice(0, 16)}`
}

function sixDecimals(value: number): string {
  const text = value.toFixed(6)
  return text === '-0.000000' ? '0.000000' : text
}

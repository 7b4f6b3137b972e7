/** Where a set of hashtags lies: storing and asking go through here alike. */
import { Recent } from '../../../base/recent.ts'
import { centreOfGravity } from '../../../math/gravity.ts'
import { invalidParameter, UnknownHashtagError } from '../errors.ts'
import type { Binding, Color } from '../model.ts'
import type { BindingSet } from './binding-set.ts'
import type { Bindings } from './bindings.ts'
import { normaliseHashtag } from './hashtag.ts'
import { mustBeValid } from './zone-rules.ts'

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

  /** Throws `invalid_parameter` for what is no hashtag, `unknown_hashtag`, `invalid_hashtags`, in this order. */
  check(tags: readonly unknown[]): CheckedTags {
    const resolved = this.resolveAll(tags)
    mustBeValid(resolved)
    return { hashtags: resolved.map(({ hashtag }) => hashtag), bindings: resolved }
  }

  /** As `check`, without the zone rules. Tags that are equal when normalised count once. */
  resolveAll(tags: readonly unknown[]): readonly Binding[] {
    if (!Array.isArray(tags)) throw invalidParameter('hashtags', tags, 'a list of hashtags')
    const distinct = [...new Set(Array.from(tags, tag => normaliseHashtag(tag)))]
    const { resolve } = this.#bindings.current
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

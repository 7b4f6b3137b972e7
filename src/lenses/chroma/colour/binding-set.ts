/** All bindings at one moment: never changes, so whoever holds one sees the same throughout. */
import { type Binding, ZONES, type Zone } from '../model.ts'
import { STACK, ZONE_BOUNDS } from './stack.ts'

/** Looks up a hashtag in its normal form. */
export type Resolve = (hashtag: string) => Binding | null

export class BindingSet {
  readonly #byHashtag: ReadonlyMap<string, Binding>
  readonly #byAnchor: ReadonlyMap<number, Binding>

  /** Anchors exist and are distinct, and so are hashtags. */
  constructor(bindings: Iterable<Binding>) {
    const all = [...bindings]
    this.#byHashtag = new Map(all.map(binding => [binding.hashtag, binding]))
    this.#byAnchor = new Map(all.map(binding => [binding.anchor_id, binding]))
  }

  get size(): number {
    return this.#byHashtag.size
  }

  /** Of a hashtag in its normal form; null when it is not assigned. */
  readonly resolve: Resolve = hashtag => this.#byHashtag.get(hashtag) ?? null

  /** What sits on this anchor; null when it is free. */
  at(anchorId: number): Binding | null {
    return this.#byAnchor.get(anchorId) ?? null
  }

  /** By ascending anchor. */
  list(zone?: Zone): readonly Binding[] {
    return (zone === undefined ? ZONES : [zone]).flatMap(one => {
      const { first, last } = ZONE_BOUNDS[one]
      const found: Binding[] = []
      for (let id = first; id <= last; id++) {
        const binding = this.#byAnchor.get(id)
        if (binding !== undefined) found.push(binding)
      }
      return found
    })
  }

  values(): Iterable<Binding> {
    return this.#byHashtag.values()
  }
}

/** The hashtag on this anchor, or undefined when there is no such anchor. */
export function bindingOf(hashtag: string, anchorId: number): Binding | undefined {
  const anchor = STACK.anchor(anchorId)
  if (anchor === undefined) return undefined
  const { id, zone, L, a, b, mass } = anchor
  return Object.freeze({ hashtag, anchor_id: id, zone, L, a, b, mass })
}

/** Bindings as they would be after a change: tried out here, then written in one transaction by `Bindings.change`. */
import { must } from '../../../base/assert.ts'
import { HashtagConflictError, ValidationError } from '../errors.ts'
import type { Binding, Zone } from '../model.ts'
import type { CheckedAssignment, CheckedTarget } from './assignment.ts'
import { BindingSet, bindingOf } from './binding-set.ts'
import { ZONE_BOUNDS } from './stack.ts'

export class BindingDraft {
  readonly #byHashtag: Map<string, Binding>
  readonly #byAnchor: Map<number, Binding>
  readonly #changed = new Set<number>()
  /** No anchor of the zone below this one is free. */
  readonly #firstFree = new Map<Zone, number>()

  constructor(set: BindingSet) {
    this.#byHashtag = new Map([...set.values()].map(binding => [binding.hashtag, binding]))
    this.#byAnchor = new Map([...set.values()].map(binding => [binding.anchor_id, binding]))
  }

  /** Anchors on which something else may sit now. */
  get changed(): ReadonlySet<number> {
    return this.#changed
  }

  resolve(hashtag: string): Binding | null {
    return this.#byHashtag.get(hashtag) ?? null
  }

  at(anchorId: number): Binding | null {
    return this.#byAnchor.get(anchorId) ?? null
  }

  /** The binding there is, when it already is as asked for. */
  assign({ hashtag, target }: CheckedAssignment): Binding {
    const held = this.resolve(hashtag)
    if (held === null) return this.bind(hashtag, this.placeFor(target))
    if (sitsAt(held, target)) return held
    throw new HashtagConflictError(
      'hashtag_assigned',
      `hashtag: ${hashtag} already sits on anchor ${held.anchor_id} (${held.zone}); moving it is a migration`,
      { hashtag, anchor_id: held.anchor_id, zone: held.zone },
    )
  }

  /** The free anchor with the lowest id in the zone, or the one named; throws when there is none, or it is not free. */
  placeFor(target: CheckedTarget): number {
    if ('zone' in target) return this.#lowestFree(target.zone)
    const held = this.at(target.anchorId)
    if (held === null) return target.anchorId
    throw new HashtagConflictError(
      'anchor_occupied',
      `anchor_id: ${held.hashtag} already sits on anchor ${held.anchor_id}`,
      { anchor_id: held.anchor_id, hashtag: held.hashtag },
    )
  }

  /** The hashtag is not assigned, the anchor is free. */
  bind(hashtag: string, anchorId: number): Binding {
    const binding = must(bindingOf(hashtag, anchorId), `anchor ${anchorId}`)
    this.#byHashtag.set(hashtag, binding)
    this.#byAnchor.set(anchorId, binding)
    this.#changed.add(anchorId)
    return binding
  }

  free({ hashtag, anchor_id }: Binding): void {
    this.#byHashtag.delete(hashtag)
    this.#byAnchor.delete(anchor_id)
    this.#changed.add(anchor_id)
    this.#firstFree.clear()
  }

  result(): BindingSet {
    return new BindingSet(this.#byHashtag.values())
  }

  #lowestFree(zone: Zone): number {
    const { first, last } = ZONE_BOUNDS[zone]
    let id = this.#firstFree.get(zone) ?? first
    while (id <= last && this.#byAnchor.has(id)) id++
    this.#firstFree.set(zone, id)
    if (id <= last) return id
    throw new ValidationError('zone_full', `zone: every anchor of the zone ${zone} is taken`, { zone })
  }
}

/** Whether the binding fulfils what was asked for. */
export function sitsAt(binding: Binding, target: CheckedTarget): boolean {
  return 'zone' in target ? binding.zone === target.zone : binding.anchor_id === target.anchorId
}

/** Finding what a call names, among what its viewer sees. */
import { isOwner, type Sight } from '../../../model/viewer.ts'
import type { Call } from '../call.ts'
import type { Concept, VisibleConcepts } from '../concepts.ts'
import { errorAt, Refusal } from '../envelope.ts'

export interface Look {
  readonly sight: Sight
  readonly concepts: VisibleConcepts
}

export function look({ host, state, viewer }: Call): Look {
  const sight = host.sight(viewer)
  return { sight, concepts: state.concepts.visible(sight.partitions) }
}

/** Throws `Refusal` with code `not_found` at that place. */
export function mustSee({ concepts }: Look, id: number, place: readonly string[] = ['id']): Concept {
  const concept = concepts.byId(id)
  if (concept === undefined) throw new Refusal(errorAt(place, 'not_found', 'concept not found'))
  return concept
}

/** As `mustSee`, of what this viewer may change: its own, and for the local owner all. */
export function mustOwn(call: Call, seen: Look, id: number, place: readonly string[] = ['id']): Concept {
  const concept = mustSee(seen, id, place)
  if (!isOwner(call.viewer) && call.host.store.entry(concept.entry)?.audience.holder !== call.viewer.id) {
    throw new Refusal(errorAt(place, 'denied', 'only who holds a concept may change it'))
  }
  return concept
}

export function brief({ id, name, type }: Concept): { id: number; name: string; type: string } {
  return { id, name, type }
}

/** Walking links backwards: what depends on something, step by step. */
import type { LinkIndex } from '../../../index/contract.ts'
import type { Concept } from '../concepts.ts'
import type { Look } from '../mind/look.ts'

export interface Reached {
  readonly concept: Concept
  /** Links in a row, from 1. */
  readonly hops: number
  /** Id of what it refers to. */
  readonly via: number
  readonly relation: string
}

/** By hops, then in the order in which they are reached; each once, none of those started from. */
export function reach(
  { concepts, sight }: Look,
  links: LinkIndex,
  from: readonly Concept[],
  { depth, relations }: { readonly depth: number; readonly relations: ReadonlySet<string> },
): readonly Reached[] {
  const scope = { partitions: sight.partitions }
  const known = new Set(from.map(({ id }) => id))
  const found: Reached[] = []
  let edge: readonly Concept[] = from
  for (let hops = 1; hops <= depth && edge.length > 0; hops++) {
    const next: Concept[] = []
    for (const { id: via } of edge) {
      for (const { node, relation: number } of links.in(via, scope)) {
        const concept = concepts.byId(node)
        const relation = links.relationName(number)
        if (concept === undefined || known.has(node) || !relations.has(relation)) continue
        known.add(node)
        found.push({ concept, hops, via, relation })
        next.push(concept)
      }
    }
    edge = next
  }
  return found
}

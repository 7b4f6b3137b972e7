/** What is reached from concepts over links, breadth first. */
import type { LinkIndex } from '../../index/contract.ts'
import type { Look } from './call.ts'
import type { Concept } from './state.ts'

export type Reached<Way> = Way & {
  readonly concept: Concept
  /** Links in a row, from 1. */
  readonly hops: number
  /** The concept it was reached from. */
  readonly from: Concept
}

/** By hops, then in the order in which they are reached; each once, none of those started from. */
export function* reach<Way extends { readonly concept: Concept }>(
  start: readonly Concept[],
  depth: number,
  waysOf: (from: Concept) => Iterable<Way>,
): Generator<Reached<Way>> {
  const known = new Set(start)
  let edge = start
  for (let hops = 1; hops <= depth && edge.length > 0; hops++) {
    const next: Concept[] = []
    for (const from of edge) {
      for (const way of waysOf(from)) {
        if (known.has(way.concept)) continue
        known.add(way.concept)
        next.push(way.concept)
        yield { ...way, hops, from }
      }
    }
    edge = next
  }
}

/** What refers to a concept by one of the relations. */
export function usersBy({ concepts, accessScope }: Look, links: LinkIndex, relations: ReadonlySet<string>) {
  return ({ id }: Concept) =>
    links.in(id, { partitions: accessScope.partitions }).flatMap(({ node, relation: number }) => {
      const [concept, relation] = [concepts.byId(node), links.relationName(number)]
      return concept === undefined || !relations.has(relation) ? [] : [{ concept, relation }]
    })
}

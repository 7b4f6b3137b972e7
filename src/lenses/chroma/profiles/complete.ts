/** Completes a set of tags that breaks the zone rules by those that occur together with it most (CQ-089, CQ-090). */
import { countZones, mustBeValid, violationsOf } from '../colour/coordinates.ts'
import type { Binding } from '../model.ts'
import type { ProfileView } from './query-profile.ts'

export interface CompletedTags {
  /** The bound tags given, then those added. */
  readonly hashtags: readonly string[]
  readonly added: readonly string[]
}

type Neighbourhood = Pick<ProfileView, 'resolve' | 'nodesWith' | 'completeHashtags'>

/** Tags that are not assigned are passed over. Throws `ValidationError` `invalid_hashtags` when no valid set comes of it. */
export function completed(hashtags: readonly string[], view: Neighbourhood): CompletedTags {
  const matched = boundOf(hashtags, view)
  // Without a single tag there is nothing to occur together with.
  if (!view.completeHashtags || matched.length === 0) mustBeValid(matched)
  const set = withNeighbours(matched, rankedNeighbours(matched, view))
  mustBeValid(set)
  const names = set.map(({ hashtag }) => hashtag)
  return { hashtags: names, added: names.slice(matched.length) }
}

/** Whether the bound ones of these tags keep the zone rules. */
export function isValidSet(hashtags: readonly string[], view: Pick<ProfileView, 'resolve'>): boolean {
  return keepsRules(boundOf(hashtags, view))
}

/** One Core and one Outer tag if there is none, then Mid tags until every rule holds or there are no more. */
function withNeighbours(matched: readonly Binding[], neighbours: readonly Binding[]): readonly Binding[] {
  const set = [...matched]
  if (keepsRules(set)) return set
  for (const zone of ['Core', 'Outer'] as const) {
    const best = neighbours.find(binding => binding.zone === zone)
    if (best !== undefined && !set.some(binding => binding.zone === zone)) set.push(best)
  }
  for (const mid of neighbours.filter(binding => binding.zone === 'Mid')) {
    if (keepsRules(set)) break
    set.push(mid)
  }
  return set
}

/**
 * Every other tag of the nodes that carry a matched one, by the sum over its nodes of how many matched tags they carry,
 * then by anchor. Cost: all tags of all those nodes, a node as often as it has matched tags.
 */
function rankedNeighbours(matched: readonly Binding[], view: Neighbourhood): readonly Binding[] {
  const own = new Set(matched.map(({ hashtag }) => hashtag))
  if (keepsRules(matched)) return []
  const scores = new Map<string, number>()
  for (const hashtag of own) {
    for (const others of view.nodesWith(hashtag)) {
      for (const other of others) if (!own.has(other)) scores.set(other, (scores.get(other) ?? 0) + 1)
    }
  }
  const scored = [...scores].flatMap(([hashtag, score]) => {
    const binding = view.resolve(hashtag)
    return binding === null ? [] : [{ binding, score }]
  })
  return scored.sort((a, b) => b.score - a.score || a.binding.anchor_id - b.binding.anchor_id).map(one => one.binding)
}

function keepsRules(bindings: readonly Binding[]): boolean {
  return violationsOf(countZones(bindings)).length === 0
}

function boundOf(hashtags: readonly string[], view: Pick<ProfileView, 'resolve'>): readonly Binding[] {
  const bound = hashtags.flatMap(hashtag => view.resolve(hashtag) ?? [])
  return [...new Map(bound.map(binding => [binding.hashtag, binding])).values()]
}

/**
 * Which of several beliefs with one id, or with one content, stand for the others (BQ-130). Of one id one stays. Of one
 * content those stay that come from the source of the best of them, and through one federation the best alone.
 */
import { byOrder, type ScoredBelief } from './scored.ts'

/** Beliefs with one id or content hash, in any order; returns those to be left out. */
export function copiesToDrop(
  groups: Iterable<{ readonly same: 'id' | 'content'; readonly members: readonly ScoredBelief[] }>,
): ReadonlySet<ScoredBelief> {
  const dropped = new Set<ScoredBelief>()
  // First ids, so that a copy which is left out for its id keeps none of another content.
  const sorted = [...groups].sort((a, b) => Number(a.same === 'content') - Number(b.same === 'content'))
  for (const { same, members } of sorted) {
    const left = members.filter(member => !dropped.has(member))
    const kept = best(left)
    if (kept === undefined) continue
    for (const member of left) {
      if (member !== kept && (same === 'id' || isCopy(member, kept))) dropped.add(member)
    }
  }
  return dropped
}

/** The requester's own one, else the first in order. */
function best(members: readonly ScoredBelief[]): ScoredBelief | undefined {
  const rank = ({ source }: ScoredBelief) => (source.kind === 'local' ? 0 : 1)
  return members.toSorted((a, b) => rank(a) - rank(b) || byOrder(a, b))[0]
}

function isCopy({ source }: ScoredBelief, { source: kept }: ScoredBelief): boolean {
  return source.kind !== kept.kind || source.id !== kept.id || kept.kind === 'federated'
}

/**
 * Which of several beliefs with one id, or with one content, stand for the others (BQ-130). Of one id one stays. Of one
 * content those stay that come from the source of the best of them, and through one federation the best alone.
 */
import { type BeliefColumns, type SharedRows, sharedAmong } from '../columns/columns.ts'
import type { Matches } from '../matching/matches.ts'
import { SCOPE_KINDS } from '../model.ts'
import { byOrder, type ScoredBelief } from './scored.ts'

interface CopyGroup {
  readonly same: keyof SharedRows
  /** Two or more. */
  readonly rows: readonly number[]
}

/** Matches that share their id, then those that share their content. */
export function copyGroups({ rows }: Matches, columns: BeliefColumns): readonly CopyGroup[] {
  const { ids, contents } = columns.arrays
  const shared = sharedAmong(columns, rows)
  return [...groupsOf('id', shared.id, ids), ...groupsOf('content', shared.content, contents)]
}

function groupsOf(same: CopyGroup['same'], shared: readonly number[], numbers: Int32Array): readonly CopyGroup[] {
  const groups = new Map<number, number[]>()
  for (const row of shared) {
    const number = numbers[row] as number
    const group = groups.get(number)
    if (group === undefined) groups.set(number, [row])
    else group.push(row)
  }
  return [...groups.values()].map(rows => ({ same, rows }))
}

/** Beliefs with one id or content hash, in any order; returns those to be left out. `byTier`: local goes before federated, that before network. */
export function copiesToDrop(
  groups: Iterable<{ readonly same: CopyGroup['same']; readonly members: readonly ScoredBelief[] }>,
  preferring: Preference,
): ReadonlySet<ScoredBelief> {
  const dropped = new Set<ScoredBelief>()
  // First ids, so that a copy which is left out for its id keeps none of another content.
  const sorted = [...groups].sort((a, b) => Number(a.same === 'content') - Number(b.same === 'content'))
  for (const { same, members } of sorted) {
    const left = members.filter(member => !dropped.has(member))
    const kept = best(left, preferring)
    if (kept === undefined) continue
    for (const member of left) {
      if (member !== kept && (same === 'id' || isCopy(member, kept))) dropped.add(member)
    }
  }
  return dropped
}

interface Preference {
  readonly byTier: boolean
  /** Its own belief is its own by whatever source it is asked for. */
  readonly requester: string
}

/** The requester's own one, else the first in order; `byTier`: of the earliest tier. */
function best(members: readonly ScoredBelief[], { byTier, requester }: Preference): ScoredBelief | undefined {
  const rank = ({ source, holder }: ScoredBelief) =>
    byTier ? SCOPE_KINDS.indexOf(source.kind) : holder === requester ? 0 : 1
  return members.toSorted((a, b) => rank(a) - rank(b) || byOrder(a, b))[0]
}

function isCopy({ source }: ScoredBelief, { source: kept }: ScoredBelief): boolean {
  return source.kind !== kept.kind || source.id !== kept.id || kept.kind === 'federated'
}

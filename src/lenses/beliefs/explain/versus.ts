/** Why one belief stands before another: the gap part by part, and the least change of the weights that turns them round. */
import type { RankingWeights } from '../model.ts'
import { byOrder, type ScoredBelief } from '../ranking/scored.ts'
import type { Versus } from '../schema/answers.ts'

type PartName = keyof RankingWeights
const PARTS: readonly PartName[] = ['semantic', 'confidence', 'trust', 'recency']

interface WeightChange {
  /** Together 1; with these the one behind comes before the other. */
  readonly weights: RankingWeights
  /** How much weight goes from some parts to another; no smaller amount would do, less what rounding needs. */
  readonly moved: number
}

export function versus(one: ScoredBelief, other: ScoredBelief, weights: RankingWeights): Omit<Versus, 'matched'> {
  const [ahead, behind] = byOrder(one, other) <= 0 ? [one, other] : [other, one]
  const parts = PARTS.filter(name => ahead.parts[name] !== null && behind.parts[name] !== null)
  const differences = Object.fromEntries(
    parts.map(name => [name, (ahead.parts[name] as number) - (behind.parts[name] as number)]),
  )
  const change = smallestChange(weights, differences)
  return {
    ahead: ahead.id,
    behind: behind.id,
    gap: ahead.final - behind.final,
    parts: Object.fromEntries(
      parts.map(name => {
        const difference = differences[name] as number
        return [name, { difference, weight: weights[name], contribution: weights[name] * difference }]
      }),
    ),
    ...(ahead.final === behind.final ? { decided_by: tieBreaker(ahead, behind) } : {}),
    smallest_change: change === null ? null : { weights: { ...change.weights }, moved: change.moved },
  }
}

/** Beyond a tie by so much, so that they do change places whatever sums round to. */
const MARGIN = 1e-9

/**
 * `differences`: by part, of the one ahead less the one behind; parts that are left out keep their weight. Null: the one
 * behind is better in no part, so no weights would do. What moves goes where the one behind is best, and is taken where
 * it is worst: every bit of it closes as much of the gap as any can.
 */
export function smallestChange(
  weights: RankingWeights,
  differences: Readonly<Partial<Record<PartName, number>>>,
): WeightChange | null {
  const parts = (Object.keys(differences) as PartName[]).map(name => ({ name, gain: differences[name] as number }))
  const to = parts.reduce<{ readonly name: PartName; readonly gain: number } | null>(
    (least, part) => (least === null || part.gain < least.gain ? part : least),
    null,
  )
  if (to === null || to.gain >= 0) return null
  const changed: Record<PartName, number> = { ...weights }
  let left = parts.reduce((sum, { name, gain }) => sum + weights[name] * gain, 0) + MARGIN
  let moved = 0
  for (const { name, gain } of parts.toSorted((a, b) => b.gain - a.gain)) {
    if (left <= 0 || name === to.name) break
    const amount = Math.min(changed[name], left / (gain - to.gain))
    changed[name] -= amount
    changed[to.name] += amount
    moved += amount
    left -= amount * (gain - to.gain)
  }
  return { weights: changed, moved }
}

function tieBreaker(a: ScoredBelief, b: ScoredBelief): NonNullable<Versus['decided_by']> {
  if (a.createdAt !== b.createdAt) return 'created_at'
  return a.id === b.id ? 'holder_id' : 'id'
}

/**
 * Results of one page that contradict each other (BQ-174). Both are shown unless the settings say otherwise, and no score
 * changes whatever they say.
 */
import { cosine } from '../../../math/vector.ts'
import type { Belief, Conflict } from '../model.ts'
import {
  type ContradictionDetector,
  LEAST_SCORE,
  type Opposition,
  SAME_TOPIC,
  statementOf,
} from './opposition/detector.ts'

/** What happens to the later one of two. */
type ConflictStrategy = Conflict['resolution']

/** From the top of a page: every two of them are compared. */
export const MOST_COMPARED = 100

/** Places in the page, the first above the second. */
export interface FoundConflict {
  readonly first: number
  readonly second: number
  readonly opposition: Opposition
}

/** `vectors` by place; where one is missing, the detector alone decides whether two are of one topic. */
export function findConflicts(
  detector: ContradictionDetector,
  page: readonly Belief[],
  vectors: readonly (Float32Array | undefined)[],
): readonly FoundConflict[] {
  const found: FoundConflict[] = []
  const compared = Math.min(page.length, MOST_COMPARED)
  for (let first = 0; first < compared; first++) {
    for (let second = first + 1; second < compared; second++) {
      const [a, b] = [vectors[first], vectors[second]]
      if (a !== undefined && b !== undefined && cosine(a, b) < SAME_TOPIC) continue
      const opposition = detector.detect(statementOf(page[first] as Belief), statementOf(page[second] as Belief))
      if (opposition !== null && opposition.score > LEAST_SCORE) found.push({ first, second, opposition })
    }
  }
  return found
}

export interface Settled {
  /** Places of the page in the order in which they are shown. */
  readonly order: readonly number[]
  readonly conflicts: readonly Conflict[]
}

/** A penalised one stands behind all of the page that are not; an excluded one is left out. */
export function settleConflicts(
  page: readonly Belief[],
  found: readonly FoundConflict[],
  strategy: ConflictStrategy,
): Settled {
  const places = page.map((_, place) => place)
  const lower = new Set<number>()
  const conflicts: Conflict[] = []
  for (const { first, second, opposition } of found) {
    // What is left out opposes nothing any more.
    if (strategy === 'one_excluded' && lower.has(first)) continue
    if (strategy !== 'both_shown') lower.add(second)
    const [a, b] = [page[first] as Belief, page[second] as Belief]
    conflicts.push({
      belief_ids: [a.id, b.id],
      contradiction_type: opposition.type,
      resolution: strategy,
      resolution_reason: `${REASONS[strategy]} ${opposition.text}`,
    })
  }
  const kept = places.filter(place => !lower.has(place))
  return {
    order: strategy === 'one_penalized' ? [...kept, ...places.filter(place => lower.has(place))] : kept,
    conflicts,
  }
}

const REASONS: Readonly<Record<ConflictStrategy, string>> = {
  both_shown: 'Both are shown; which of them holds is not decided here.',
  one_penalized: 'The second stands behind the rest of the page, as this node is set; its score stays.',
  one_excluded: 'The second is left out, as this node is set.',
}

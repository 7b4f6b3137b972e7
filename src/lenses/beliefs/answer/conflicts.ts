/**
 * Results of one answer that contradict each other (BQ-174). Both are shown unless the settings say otherwise, and no score
 * changes whatever they say.
 */
import { cosine } from '../../../math/vector.ts'
import type { Belief, Conflict } from '../model.ts'
import {
  type ContradictionDetector,
  LEAST_SCORE,
  type Opposition,
  SAME_TOPIC,
  type Statement,
  statementOf,
} from '../opposition/detector.ts'

/** What happens to the later one of two. */
export type ConflictStrategy = Conflict['resolution']

/** From the top of an answer: every two of them are compared. */
export const MOST_COMPARED = 100

/** Places in the list, the first above the second. */
interface FoundConflict {
  readonly first: number
  readonly second: number
  readonly opposition: Opposition
}

/**
 * `vectors` by place; where one is missing, the detector alone decides whether two are of one topic. `from`: those before it
 * were compared with each other already. `goesOn`: asked before each two, for a detector may be slow; false ends it with
 * what was found.
 */
export function findConflicts(
  detector: ContradictionDetector,
  list: readonly Belief[],
  vectors: readonly (Float32Array | undefined)[],
  { from = 0, goesOn = () => true }: { readonly from?: number; readonly goesOn?: () => boolean } = {},
): readonly FoundConflict[] {
  const statements = list.map(statementOf)
  const found: FoundConflict[] = []
  for (const [first, statement] of statements.entries()) {
    for (let second = Math.max(first + 1, from); second < list.length; second++) {
      const [a, b] = [vectors[first], vectors[second]]
      if (a !== undefined && b !== undefined && cosine(a, b) < SAME_TOPIC) continue
      if (!goesOn()) return found
      const opposition = detector.detect(statement, statements[second] as Statement)
      if (opposition !== null && opposition.score > LEAST_SCORE) found.push({ first, second, opposition })
    }
  }
  return found
}

interface Settled {
  /** Places of the list in the order in which they are shown. */
  readonly order: readonly number[]
  /** Those that are told, by places of the list: the one that is shown first, or alone, is named first. */
  readonly conflicts: readonly FoundConflict[]
}

/**
 * The later one of two stands behind all of the list that are not, or is left out, unless the first does so itself: then it
 * opposes nothing any more. So whether one does follows from those above it alone.
 */
export function settleConflicts(
  length: number,
  found: readonly FoundConflict[],
  strategy: Exclude<ConflictStrategy, 'both_shown'>,
): Settled {
  const lower = new Set<number>()
  // In the order of the first ones: of each it is known by then whether it stands.
  for (const { first, second } of found) if (!lower.has(first)) lower.add(second)
  const places = Array.from({ length }, (_, place) => place)
  const kept = places.filter(place => !lower.has(place))
  if (strategy === 'one_excluded') return { order: kept, conflicts: found.filter(({ first }) => !lower.has(first)) }
  const order = [...kept, ...places.filter(place => lower.has(place))]
  const turned = ({ first, second, opposition }: FoundConflict) => ({ first: second, second: first, opposition })
  return { order, conflicts: found.map(one => (lower.has(one.first) && !lower.has(one.second) ? turned(one) : one)) }
}

/** As it is told, the one that is shown first named first. */
export function conflictOf(
  ids: readonly [string, string],
  { type, text }: Opposition,
  strategy: ConflictStrategy,
): Conflict {
  return {
    belief_ids: [...ids],
    contradiction_type: type,
    resolution: strategy,
    resolution_reason: `${REASONS[strategy]} ${text}`,
  }
}

const REASONS: Readonly<Record<ConflictStrategy, string>> = {
  both_shown: 'Both are shown; which of them holds is not decided here.',
  one_penalized: 'The second stands behind the rest of the first hundred, as this node is set; its score stays.',
  one_excluded: 'The second is left out, as this node is set.',
}

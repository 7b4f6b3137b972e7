/** What finds contradictions: a port, so that a better one can take the place of the built-in heuristic (BQ-173). */
import { cosine } from '../../../math/vector.ts'
import type { Belief, Conflict } from '../model.ts'

export type ContradictionType = Conflict['contradiction_type']

/** A belief as a detector is given it. Instants; null: without end. */
export interface Statement {
  readonly content: string
  readonly validFrom: number | null
  readonly validUntil: number | null
}

export interface Opposition {
  readonly type: ContradictionType
  /** 0 to 1; counts above `MIN_SCORE`. */
  readonly score: number
  /** Names the opposed statements. */
  readonly text: string
}

export interface ContradictionDetector {
  readonly name: string
  /** What its findings rest on, for whoever reads them. */
  readonly note: string
  /** Null: it sees none. Gives the same whichever comes first. */
  detect(a: Statement, b: Statement): Opposition | null
}

export const MIN_SCORE = 0.7
/** Raw cosine from which on two beliefs are of one topic. */
export const SAME_TOPIC = 0.75

export function statementOf({ content, valid_from, valid_until }: Belief): Statement {
  return {
    content,
    validFrom: Date.parse(valid_from),
    validUntil: valid_until === null ? null : Date.parse(valid_until),
  }
}

/** From the top of an answer: every two of them are compared. */
export const MAX_COMPARED = 100

/**
 * Results of one answer that contradict each other (BQ-174): both are shown. `vectors` by place; where one is missing, the detector
 * alone decides whether two are of one topic. `from`: those before it were compared with each other already. `goesOn`: called
 * before each two, for a detector may be slow; false ends it with what was found.
 */
export function findConflicts(
  detector: ContradictionDetector,
  list: readonly Belief[],
  vectors: readonly (Float32Array | undefined)[],
  { from = 0, goesOn = () => true }: { readonly from?: number; readonly goesOn?: () => boolean } = {},
): readonly Conflict[] {
  const statements = list.map(statementOf)
  const found: Conflict[] = []
  for (const [first, statement] of statements.entries()) {
    for (let second = Math.max(first + 1, from); second < list.length; second++) {
      const [a, b] = [vectors[first], vectors[second]]
      if (a !== undefined && b !== undefined && cosine(a, b) < SAME_TOPIC) continue
      if (!goesOn()) return found
      const opposition = detector.detect(statement, statements[second] as Statement)
      if (opposition === null || opposition.score <= MIN_SCORE) continue
      found.push({
        belief_ids: [(list[first] as Belief).id, (list[second] as Belief).id],
        contradiction_type: opposition.type,
        resolution: 'both_shown',
        resolution_reason: `Both are shown; which of them holds is not decided here. ${opposition.text}`,
      })
    }
  }
  return found
}

/** What finds contradictions: a port, so that a better one can take the place of the built-in heuristic (BQ-173). */
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

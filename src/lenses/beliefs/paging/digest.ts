/**
 * One text for all that the order of a query's matches rests on, for this requester: which they are, through which
 * federation they come, what trust in their holders counts. Equal in every process and store that shows it the same, and
 * untouched by what is hidden.
 */
import { sha256 } from '../../../base/canonical.ts'
import { hashOfTwo, shareHash } from '../../../base/text-hash.ts'
import type { Evaluation } from '../query/evaluation.ts'
import { sumsOf } from './match-sums.ts'
import { trustSums } from './trust-sums.ts'

const DIGEST_LENGTH = 24

export function digestOf(evaluation: Evaluation): string {
  const { state, understood, matches } = evaluation
  const { model } = evaluation.view
  const rules = JSON.stringify([
    model,
    understood.meaning.by,
    [...state.settings.decay.rates],
    state.settings.decay.otherwise,
  ])
  const parts = [rules, ...sumsOf(evaluation).sums, ...trustSums(evaluation), ...meaningSums(evaluation), matches.count]
  return sha256(parts.join()).slice(0, DIGEST_LENGTH)
}

/** Vectors that there are not yet, and what words stand in for. */
function meaningSums(evaluation: Evaluation): readonly number[] {
  const { understood, matches, view } = evaluation
  const { marks, entries } = view.columns.arrays
  const { meaning } = understood
  let [one, other] = [0, 0]
  const count = (row: number, hash: number) => {
    one = (one + hashOfTwo(marks[row * 2] as number, hash)) | 0
    other = (other + hashOfTwo(marks[row * 2 + 1] as number, hash)) | 0
  }
  for (const row of evaluation.withoutVector(matches)) count(row, 0)
  if (meaning.by !== 'words') return [one, other]
  for (const row of matches.rows) {
    const likeness = meaning.likeness.get(entries[row] as number)
    if (likeness !== undefined) count(row, shareHash(likeness))
  }
  return [one, other]
}

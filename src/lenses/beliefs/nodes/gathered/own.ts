/** What this node's own store gives to an answer that others are asked for too. */
import type { EntryKey } from '../../../../model/entry.ts'
import { FEDERATED, LOCAL, NETWORK } from '../../access/source-numbers.ts'
import type { CheckedOptions } from '../../check/checked.ts'
import type { Evaluation } from '../../query/evaluation.ts'

export interface OwnResults {
  readonly keys: readonly EntryKey[]
  /** Matches that are not among them. */
  readonly left: number
  /** Federations that the requester may query, ascending. */
  readonly federations: readonly string[]
}

/** As many as a node gives; where sources are not put in one order, of each source (BQ-127 to BQ-129). */
export function ownResults(
  evaluation: Evaluation,
  { mergeStrategy, maxResultsPerNode }: Pick<CheckedOptions, 'mergeStrategy' | 'maxResultsPerNode'>,
): OwnResults {
  const { matches, view } = evaluation
  const { federations } = view.requester
  const best = () => {
    if (mergeStrategy === 'rerank') return evaluation.best(maxResultsPerNode)
    return sourcesOf(evaluation).flatMap(isOf => evaluation.bestOf(isOf, maxResultsPerNode))
  }
  const keys = best().map(({ entry }) => entry)
  return { keys, left: matches.count - keys.length, federations }
}

type RowTest = (row: number) => boolean

function sourcesOf({ matches, origins, view }: Evaluation): readonly RowTest[] {
  const isOf = (number: number) => (row: number) => matches.sourceOf(row) === number
  const through = (federation: string) => (row: number) =>
    matches.sourceOf(row) === FEDERATED && origins.sourceOf(row, FEDERATED).id === federation
  return [isOf(LOCAL), ...view.requester.federations.map(through), isOf(NETWORK)]
}

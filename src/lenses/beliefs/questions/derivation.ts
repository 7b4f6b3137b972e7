/** What a belief was derived from (BQ-089, BQ-090), asked for by its id. */
import { sourceOfSeen } from '../access/show.ts'
import type { CheckedDerivation } from '../check/questions.ts'
import { noSuchBelief } from '../errors.ts'
import type { DerivationChain } from '../model.ts'
import { derivationChain } from '../record/chain.ts'
import { versionOfId } from '../record/read.ts'
import type { BeliefsState } from '../state.ts'

export function derivationOf(
  state: BeliefsState,
  { beliefId, maxDepth }: CheckedDerivation,
  requester: string,
): DerivationChain {
  return state.look(requester, view => {
    const seen = versionOfId(view, beliefId, true)
    if (seen === undefined || sourceOfSeen(view, seen) === null) throw noSuchBelief('belief_id')
    return derivationChain(view, seen.version, maxDepth)
  })
}

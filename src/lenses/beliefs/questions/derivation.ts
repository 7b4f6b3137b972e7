/** What a belief was derived from (BQ-089, BQ-090), asked for by its id. */
import { type ShowView, sourceOfSeen } from '../access/show.ts'
import { noSuchBelief } from '../errors.ts'
import type { DerivationChain } from '../model.ts'
import type { Call } from '../query/call.ts'
import { derivationChain } from '../record/chain.ts'
import { versionOfId } from '../record/read.ts'
import { DEFAULT_TIMEOUT_MS } from '../schema/query.ts'
import type { BeliefsState } from '../state.ts'
import { TimeLimit } from '../time-limit.ts'

export async function derivationOf(
  state: BeliefsState,
  { beliefId, maxDepth }: { readonly beliefId: string; readonly maxDepth: number },
  { requester, signal, machineTime }: Call,
): Promise<DerivationChain> {
  await state.load(signal)
  const time = new TimeLimit(DEFAULT_TIMEOUT_MS, signal, machineTime)
  const body = (view: ShowView): DerivationChain => {
    const seen = versionOfId(view, beliefId, true)
    if (seen === undefined || sourceOfSeen(view, seen) === null) throw noSuchBelief('belief_id')
    return derivationChain(view, seen.version, maxDepth, () => time.check())
  }
  return state.look(requester, body, time)
}

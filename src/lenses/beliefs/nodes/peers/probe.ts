/** Whether a peer answers now, and as whom. */
import type { LensHost } from '../../../lens.ts'
import type { Probe } from '../../schema/agent-answers.ts'
import type { Peer } from '../peer.ts'
import type { WireAbout } from '../wire/protocol.ts'
import { askAbout, type Met, mustBeTimely } from './about.ts'
import { noteFailure, noteSuccess } from './health.ts'
import { Unreached, type UnreachedReason } from './reach.ts'
import { keepModel } from './write.ts'

/** Keeps what it says of its model, where it is that node. `ownModel`: key of the model here. */
export async function probePeer(
  host: LensHost,
  peer: Peer,
  ownModel: string | null,
  signal: AbortSignal,
): Promise<Probe> {
  try {
    const met = await askAbout(host, peer.address, signal)
    return told(host, peer, met, ownModel)
  } catch (thrown) {
    if (!(thrown instanceof Unreached)) throw thrown
    noteFailure(host, peer.did)
    return { ...SILENT, id: peer.id, address: peer.address, ...reached(thrown.reason), reason: thrown.reason }
  }
}

const SILENT = {
  ok: false,
  did_matches: null,
  protocol: null,
  model: null,
  same_model: null,
  latency_ms: null,
  clock_difference_ms: null,
}

function reached(reason: UnreachedReason): Pick<Probe, 'reachable'> {
  return { reachable: reason !== 'unreachable' }
}

async function told(
  host: LensHost,
  peer: Peer,
  { about, latencyMs, clockAheadMs }: Met,
  ownModel: string | null,
): Promise<Probe> {
  const { did, model, protocol } = about
  const reason = did === peer.did ? reasonOf(host, about) : 'did_mismatch'
  if (reason === null) {
    const now = host.clock.now()
    noteSuccess(host, did, now, model)
    await host.store.writeWhenFree(now, writer => keepModel(writer, { id: peer.id, did, model }, now))
  } else {
    noteFailure(host, peer.did)
  }
  return {
    id: peer.id,
    address: peer.address,
    ok: reason === null,
    reachable: true,
    did_matches: did === peer.did,
    protocol,
    model,
    same_model: model === null || ownModel === null ? null : model === ownModel,
    latency_ms: latencyMs,
    clock_difference_ms: clockAheadMs,
    reason,
  }
}

function reasonOf(host: LensHost, { timestamp, answers }: WireAbout): 'clock' | 'answers_nobody' | null {
  try {
    mustBeTimely(host, timestamp)
    return answers ? null : 'answers_nobody'
  } catch (thrown) {
    if (thrown instanceof Unreached) return 'clock'
    throw thrown
  }
}

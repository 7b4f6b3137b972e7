/** A peer as its owner is shown it. */
import { toIso } from '../../../../model/instant.ts'
import type { Row } from '../../../../model/table.ts'
import type { LensHost } from '../../../lens.ts'
import type { PeerView } from '../../schema/agent-answers.ts'
import { healthOf } from './health.ts'
import { peerOf } from './read.ts'

export function viewOf(host: LensHost, row: Row): PeerView {
  const { id, address, did, network, federations, model } = peerOf(row)
  const { lastSuccess, failures, restingUntil } = healthOf(host, did)
  const answered = Math.max(lastSuccess ?? 0, (row['answered_at'] as number | null) ?? 0)
  return {
    ...{ id, address, did, network, federations },
    model,
    added_at: toIso(row['added_at'] as number),
    last_success: answered === 0 ? null : toIso(answered),
    failures,
    resting_until: restingUntil === null ? null : toIso(restingUntil),
  }
}

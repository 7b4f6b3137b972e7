import type { Coverage } from '../model.ts'
import type { CheckedScope } from '../schema/query.ts'

/** BQ-134, on one node: what is asked answers. */
export function coverageOf({ local, federated, network }: CheckedScope, federations: readonly string[]): Coverage {
  const asked = federated ? [...federations] : []
  return {
    local,
    federations_queried: asked,
    federations_responded: asked,
    network_queried: network,
    network_responded: network,
    federated: asked,
    network,
  }
}

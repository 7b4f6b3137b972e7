/**
 * What an answer of other nodes is kept under (BQ-137): the question, who asks, and all of this node's own that bears on what
 * he is shown. What he may not see has no part in it, so that it changes nothing, not even what is kept (BQ-111).
 */
import { canonicalJson, sha256 } from '../../../../base/canonical.ts'
import { MEMBERSHIPS } from '../../../../store/core-tables.ts'
import type { ShowView } from '../../access/show.ts'
import { questionHash } from '../../paging/cursor.ts'
import type { CheckedQuery } from '../../schema/query.ts'
import { TRUST } from '../../tables.ts'
import type { AskedSource } from '../peer.ts'

export function cacheKey(view: ShowView, query: CheckedQuery, sources: readonly AskedSource[]): string {
  const { requester, columns, model } = view
  const { partitions } = requester.sight
  const parts = [
    questionHash(query),
    query.options.maxResultsPerNode,
    model,
    sources.map(({ kind, id, peer }) => [kind, id, peer.did]),
    requester.id,
    ownTrust(view),
    ownMemberships(view),
    [...partitions],
    columns.changesIn(partitions),
  ]
  return sha256(canonicalJson(parts))
}

/** As the requester has stated it; that an edge was used changes nothing. */
function ownTrust({ reader, requester }: ShowView): string {
  const columns = ['target', 'level', 'domains', 'updated_at']
  return JSON.stringify(reader.table(TRUST).scan({ owner: requester.id }, { columns }))
}

function ownMemberships({ reader, requester }: ShowView): string {
  return JSON.stringify(reader.table(MEMBERSHIPS).scan({ agent: requester.id }))
}

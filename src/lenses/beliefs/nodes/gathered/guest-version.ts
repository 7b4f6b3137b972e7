/** A guest as a version that a store can hold. */
import type { StoredVersion } from '../../record/version.ts'
import type { Guest } from '../guest.ts'

/** `holder`: who that is, is asked of the guest. */
export function guestVersion({ belief, source }: Guest, holder: string): StoredVersion {
  const { id, content, confidence, derivation, domains, visibility, embedding_model: _, ...rest } = belief
  return {
    ...{ holder, id, chain: id, version: 1, content, confidence, domains, visibility },
    contentHash: rest.content_hash,
    validFrom: Date.parse(rest.valid_from),
    validUntil: rest.valid_until === null ? null : Date.parse(rest.valid_until),
    derivation: { ...derivation, sources: derivation.sources.map(each => ({ ...each, holder: null })) },
    federationIds: source.kind === 'federated' && source.id !== null ? [source.id] : [],
    createdAt: Date.parse(rest.created_at),
    supersedes: null,
    supersededBy: null,
    deletedAt: null,
  }
}

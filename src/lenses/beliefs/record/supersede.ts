/** The next version of a belief: whatever changes, the version before stays as it was (BQ-003). */

import type { BeliefDraft, Revision } from '../schema/belief.ts'
import { revised } from '../schema/belief.ts'
import { keptDerivation, type Together } from './keep-derivation.ts'
import { contentsOf } from './put.ts'
import { type StoredVersion, sameText } from './version.ts'
import { addCurrent, mustHold, retire, type WriteContext } from './write.ts'

/** What it was derived from stays what it was where the revision does not say it anew. Throws where `belief_id` is not the current version of a belief that the writer holds. */
export function supersedeBelief(
  context: WriteContext,
  revision: Revision,
  together: Together = new Map(),
): StoredVersion {
  const { writer, holder, now } = context
  const old = mustHold(context, revision.belief_id, 'belief_id')
  const draft = revised(draftOf(old.version, now), revision)
  const id = revision.id ?? context.newId()
  const version: StoredVersion = {
    ...contentsOf(draft),
    // Sources that are not given again name the holders that they named.
    derivation:
      revision.derivation?.sources === undefined
        ? { ...draft.derivation, sources: old.version.derivation.sources }
        : keptDerivation(context, draft.derivation, id, together),
    holder,
    id,
    chain: old.version.chain,
    version: old.version.version + 1,
    createdAt: now,
    supersedes: old.version.id,
    supersededBy: null,
    deletedAt: null,
  }
  const embedded = retire(context, old, version.id)
  const key = addCurrent(context, version)
  if (embedded !== null && sameText(old.version, version)) {
    const chunks = writer.chunksOf(key)
    writer.putVectors(
      embedded.model,
      chunks.map(chunk => ({ chunk: chunk.key, vector: embedded.vector })),
    )
  }
  return version
}

function draftOf(version: StoredVersion, now: number): BeliefDraft {
  const { content, contentHash, confidence, validUntil, derivation, domains, visibility, federationIds } = version
  const validFrom = version.validFrom ?? Math.min(version.createdAt, now)
  return {
    id: null,
    content,
    contentHash,
    confidence,
    validFrom,
    validUntil,
    derivation,
    domains,
    visibility,
    federationIds,
  }
}

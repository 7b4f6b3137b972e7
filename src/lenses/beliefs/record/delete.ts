/** The end of a belief: a last version without content (BQ-003). The versions before stay, for their holder. */
import { sha256 } from '../../../base/canonical.ts'
import type { StoredVersion } from './version.ts'
import { addPast, mustHold, retire, type WriteContext } from './write.ts'

/** Returns the tombstone. Throws where this is not the current version of a belief that the writer holds. */
export function deleteBelief(context: WriteContext, id: string): StoredVersion {
  const { now } = context
  const old = mustHold(context, id, 'belief_id')
  const tombstone: StoredVersion = {
    ...old.version,
    id: context.newId(),
    version: old.version.version + 1,
    content: '',
    contentHash: sha256(''),
    validUntil: now,
    createdAt: now,
    supersedes: old.version.id,
    deletedAt: now,
  }
  retire(context, old, tombstone.id)
  addPast(context, tombstone)
  return tombstone
}

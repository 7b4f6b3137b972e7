/** A new belief: the first of its versions. */
import type { BeliefDraft } from '../check/checked.ts'
import type { StoredVersion } from './version.ts'
import { addCurrent, type WriteContext } from './write.ts'

export function putBelief(context: WriteContext, draft: BeliefDraft): StoredVersion {
  const { holder, now } = context
  const id = draft.id ?? context.newId()
  const version: StoredVersion = {
    ...contentsOf(draft),
    holder,
    id,
    chain: id,
    version: 1,
    createdAt: now,
    supersedes: null,
    supersededBy: null,
    deletedAt: null,
  }
  addCurrent(context, version)
  return version
}

/** What a draft says of a version. */
export function contentsOf({ id: _, ...contents }: BeliefDraft): Omit<BeliefDraft, 'id'> {
  return contents
}

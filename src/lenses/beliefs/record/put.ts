/** A new belief: the first of its versions. */
import type { Steps } from '../../../base/turns.ts'
import type { BeliefDraft } from '../schema/belief.ts'
import { keptDerivation, type Together } from './keep-derivation.ts'
import type { StoredVersion } from './version.ts'
import { addCurrent, type WriteContext } from './write.ts'

/** All at once: their sources may name each other, in whatever order they come. `isMany`: they came as a list. */
export function* putBeliefs(
  context: WriteContext,
  drafts: readonly BeliefDraft[],
  isMany = true,
): Steps<readonly StoredVersion[]> {
  const together = new Map(drafts.flatMap(({ id }) => (id === null ? [] : [[id, context.holder] as const])))
  const put: StoredVersion[] = []
  for (const [at, draft] of drafts.entries()) {
    put.push(putBelief(context, draft, together, isMany ? `beliefs[${at}].` : ''))
    yield
  }
  return put
}

/** `path`: what faults that the store finds begin with. */
export function putBelief(
  context: WriteContext,
  draft: BeliefDraft,
  together: Together = new Map(),
  path = '',
): StoredVersion {
  const { holder, now } = context
  const id = draft.id ?? context.newId()
  const version: StoredVersion = {
    ...contentsOf(draft),
    derivation: keptDerivation(context, draft.derivation, id, together),
    holder,
    id,
    chain: id,
    version: 1,
    createdAt: now,
    supersedes: null,
    supersededBy: null,
    deletedAt: null,
  }
  addCurrent(context, version, path)
  return version
}

/** What a draft says of a version. */
export function contentsOf({ id: _, ...contents }: BeliefDraft): Omit<BeliefDraft, 'id'> {
  return contents
}

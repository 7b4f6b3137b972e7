/** What a writer may not have meant: it is stored as it was given, and the answer says what that comes to. */
import { publicKeyOf } from '../../../identity/did-key.ts'
import { OWNER } from '../../../model/partition.ts'
import { AGENTS, MEMBERSHIPS } from '../../../store/core-tables.ts'
import type { StoreReader } from '../../../store/store.ts'
import { VISIBILITIES } from '../model.ts'
import type { StoredVersion } from '../record/version.ts'
import type { CheckedWarning } from '../schema/context.ts'
import { federationTarget } from '../trust/trust-in.ts'

/** For an answer; without warnings it has no such field. */
export function warnedOf(warnings: readonly CheckedWarning[]): { warnings?: CheckedWarning[] } {
  return warnings.length === 0 ? {} : { warnings: [...warnings] }
}

/** Of a statement of trust. A federation of which the owner is no active member is like one that does not exist. */
export function trustWarnings(reader: StoreReader, owner: string, target: string): readonly CheckedWarning[] {
  const prefix = federationTarget('')
  const isKnown = target.startsWith(prefix)
    ? isActive(reader, target.slice(prefix.length), owner)
    : target === OWNER || publicKeyOf(target) !== null || reader.table(AGENTS).get({ id: target }) !== undefined
  if (isKnown) return []
  const message = `${target} is no agent of this node, no did:key, and no federation of yours: the statement counts for nobody.`
  return [{ code: 'unknown_target', message }]
}

/** Of a version that was written; `visibility`: as it was given. */
export function beliefWarnings(
  reader: StoreReader,
  { id, holder, content, visibility, federationIds }: StoredVersion,
  given: string | undefined,
): readonly CheckedWarning[] {
  const warnings: CheckedWarning[] = []
  if (content.trim() === '')
    warnings.push({ code: 'blank_content', message: `${id} says nothing: its content is blank.` })
  if (given !== undefined && !VISIBILITIES.some(known => known === given.toLowerCase()))
    warnings.push({
      code: 'unknown_visibility',
      message: `${id} is private: ${JSON.stringify(given)} is none of ${VISIBILITIES.join(', ')}.`,
    })
  if (visibility === 'federated' && !federationIds.some(federation => isActive(reader, federation, holder)))
    warnings.push({
      code: 'seen_by_nobody',
      message: `${id} is seen by its holder alone: it is shared with no federation of which the holder is an active member.`,
    })
  return warnings
}

function isActive(reader: StoreReader, federation: string, agent: string): boolean {
  return reader.table(MEMBERSHIPS).get({ federation, agent })?.['status'] === 'active'
}

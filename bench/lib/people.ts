/** Writers and requesters in the stores of entries: a guild that shares, and forty agents that keep entries private. */
import type { Viewer } from '../../src/model/viewer.ts'
import { AGENTS, FEDERATIONS, MEMBERSHIPS } from '../../src/store/core-tables.ts'
import type { StoreWriter } from '../../src/store/store.ts'

export const HOLDERS = 40
export const FEDERATION = 'guild'
/** Sees what is public and what the guild shares: four fifths. */
export const MEMBER: Viewer = { id: 'member' }
/** Writes all that is public or shared. */
export const FOUNDER: Viewer = { id: 'founder' }
/** Sees what is public and its own, a fortieth of what is private, which is collection `private-7`. */
export const HOLDER: Viewer = { id: holderName(7) }
export const HOLDER_COLLECTION: string = privateCollection(7)

export function holderName(at: number): string {
  return `holder-${at}`
}

export function privateCollection(at: number): string {
  return `private-${at}`
}

export function introduce(writer: StoreWriter, now: number): void {
  const guild = [MEMBER.id, FOUNDER.id]
  const people = [...guild, ...Array.from({ length: HOLDERS }, (_, at) => holderName(at))]
  for (const id of people) writer.table(AGENTS).put({ id, label: null, created_at: now })
  writer.table(FEDERATIONS).put({ id: FEDERATION, label: null, created_at: now })
  for (const agent of guild) {
    writer.table(MEMBERSHIPS).put({ federation: FEDERATION, agent, status: 'active', updated_at: now })
  }
}

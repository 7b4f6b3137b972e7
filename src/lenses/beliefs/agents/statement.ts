/** What a federation says of one of its members, signed, for the member's own node. */
import { signStatement } from '../../../identity/statement.ts'
import { toIso } from '../../../model/instant.ts'
import { OWNER } from '../../../model/partition.ts'
import { FEDERATIONS, MEMBERSHIPS } from '../../../store/core-tables.ts'
import { unauthorized } from '../errors.ts'
import { DAY_MS } from '../measures/decay.ts'
import type { SignedMembership } from '../schema/agent-answers.ts'
import { MEMBERSHIP, type MembershipStatement, type Rotation, type StatementInput } from '../schema/agents.ts'
import { didOfAgent, ensureKeys } from '../trust/agent-keys.ts'
import { federationKeys, makeFederationKeys, rotateKeys, rotationsOf } from './federation-keys.ts'
import { type FederationWriting, memberOf, runsIt, wrong } from './federations.ts'

/** A statement that nobody renews ends by itself. */
export const LIFE_MS: number = 30 * DAY_MS

/**
 * For those who run the federation, and for the member itself. To others a federation that there is not, and one that does not
 * know the agent, are the same as one that they may not ask.
 */
export function stateMembership(writing: FederationWriting, input: StatementInput): SignedMembership {
  const { writer, viewer, now, random } = writing
  const { federation, agent } = input
  const isAllowed = viewer === agent || runsIt(writer, viewer, federation)
  const row = writer.table(MEMBERSHIPS).get({ federation, agent })
  if (!isAllowed || (row === undefined && viewer !== OWNER && !runsIt(writer, viewer, federation))) throw unauthorized()
  const keys = keysFor(writing, federation)
  if (row === undefined) throw wrong('agent', 'a member of this federation', 'not_found', null)
  ensureKeys(writer, agent, random)
  const did = didOfAgent(writer, agent)
  if (did === null) throw new Error('invariant broken: an agent without a key')
  const { status, role, permissions, joined_at } = memberOf(row)
  const statement: MembershipStatement = {
    ...{ type: MEMBERSHIP, federation, federation_did: keys.did, agent: did },
    // The cast: roles are checked when they are set.
    ...{ status, role: role as MembershipStatement['role'], permissions, joined_at },
    ...{ issued_at: toIso(now), expires_at: toIso(now + LIFE_MS) },
  }
  const signature = signStatement(keys, { ...statement })
  return { statement, signature, rotations: rotationsOf(writer, federation) }
}

/** By those who run it. */
export function rotateFederation(writing: FederationWriting, federation: string): Rotation {
  const { writer, viewer, now, random } = writing
  if (!runsIt(writer, viewer, federation)) throw unauthorized()
  return rotateKeys(writer, { federation, old: keysFor(writing, federation), now, random })
}

/** One that was founded before federations had keys gets its own now. */
function keysFor({ writer, random }: FederationWriting, federation: string) {
  const row = writer.table(FEDERATIONS).get({ id: federation })
  if (row === undefined) throw wrong('federation', HERE, 'not_found', null)
  const known = federationKeys(writer, federation)
  if (known !== null) return known
  if (row['did'] !== null) throw wrong('federation', `${HERE}, whose key is kept here`, 'elsewhere', null)
  const keys = makeFederationKeys(writer, federation, random)
  writer.table(FEDERATIONS).put({ ...row, did: keys.did })
  return keys
}

const HERE = 'the id of a federation of this node'

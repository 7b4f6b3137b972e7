/**
 * What a federation says of one of its members, signed, for the member's own node, and what is made of it there: taken when the federation
 * signed it, and kept as a membership like others, so that the agent may ask in the federation's name. The node of the federation goes
 * by its own table.
 */
import type { Instant } from '../../../base/clock.ts'
import { CLOCK_TOLERANCE_MS, isStatementOf, signStatement } from '../../../identity/messages.ts'
import { toIso } from '../../../model/instant.ts'
import { OWNER } from '../../../model/partition.ts'
import { AGENTS, FEDERATIONS, MEMBERSHIPS } from '../../../store/core-tables.ts'
import type { StoreReader } from '../../../store/store.ts'
import { unauthorized, wrong } from '../errors.ts'
import { DAY_MS } from '../measures/confidence.ts'
import { readPeers } from '../nodes/peers.ts'
import {
  type Accept,
  type Accepted,
  MEMBERSHIP,
  type MembershipStatement,
  type SignedMembership,
  type StatementInput,
} from '../schema/agents.ts'
import { STATEMENTS } from '../tables.ts'
import { didOfAgent, ensureKeys, raiseRevision } from '../trust/agent-facts.ts'
import { federationKeys, makeFederationKeys, memberOf, runsIt, viewOf, type Writing } from './federations.ts'

/** A statement that nobody renews ends by itself. */
const LIFE_MS: number = 30 * DAY_MS

/**
 * For those who run the federation, and for the member itself. To others a federation that there is not, and one that does not
 * know the agent, are the same as one that they may not ask.
 */
export function stateMembership(writing: Writing, input: StatementInput): SignedMembership {
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
  return { statement, signature }
}

/** One that was founded before federations had keys gets its own now. */
function keysFor({ writer, random }: Writing, federation: string) {
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

/** `machineNow`: statements come from other machines, and are held against the clock of this one. */
export function acceptStatement(writing: Writing, input: Accept, machineNow: Instant): Accepted {
  const { writer, viewer } = writing
  const { statement, signature } = input
  const agent = agentOf(writer, statement.agent, viewer)
  if (input.repin && viewer !== OWNER) throw unauthorized()
  if (!isStatementOf(statement.federation_did, { ...statement }, signature))
    throw wrong('signature', 'the signature of federation_did over the statement', 'signature', null)
  const issued = Date.parse(statement.issued_at)
  const expires = Date.parse(statement.expires_at)
  mustHold(statement, machineNow)
  pin(writing, input)
  const key = { federation: statement.federation, agent }
  const known = writer.table(STATEMENTS).get(key)
  const taken = known === undefined || issued > (known['issued_at'] as number)
  if (taken) keep(writing, statement, agent, { issued, expires })
  const view = viewOf(writer, agent, statement.federation)
  if (view === undefined) throw new Error('invariant broken: a federation that was pinned is there')
  const until = taken ? expires : (known['expires_at'] as number)
  return { federation: view, agent, taken, expires_at: toIso(until) }
}

/** An agent that has this key here: the requester, or any for the local owner. */
function agentOf(reader: StoreReader, did: string, viewer: string): string {
  if (viewer !== OWNER) {
    if (didOfAgent(reader, viewer) === did) return viewer
    throw unauthorized()
  }
  const names = reader
    .table(AGENTS)
    .scan({}, { columns: ['id'] })
    .map(row => row['id'] as string)
  const found = [OWNER, ...names].find(name => didOfAgent(reader, name) === did)
  if (found !== undefined) return found
  throw wrong('statement.agent', 'the key of an agent of this node', 'not_found', JSON.stringify(did))
}

/** Not over, not of the future, and not for longer than federations say. */
function mustHold({ issued_at, expires_at }: MembershipStatement, now: Instant): void {
  const issued = Date.parse(issued_at)
  const expires = Date.parse(expires_at)
  if (issued > now + CLOCK_TOLERANCE_MS)
    throw wrong('statement.issued_at', 'a time that is not ahead of the clock here', 'clock', issued_at)
  if (expires <= now) throw wrong('statement.expires_at', 'a time to come', 'expired', expires_at)
  if (expires <= issued || expires - issued > LIFE_MS)
    throw wrong('statement.expires_at', 'at most 30 days after issued_at', 'range', expires_at)
}

/**
 * The federation is known here by one key, the first that was seen, unless the local owner takes another. Agents may bring
 * only those that the local owner named beside a peer, and are not told which others there are.
 */
function pin({ writer, viewer, now }: Writing, { statement, repin = false }: Accept): void {
  const { federation, federation_did: did } = statement
  const row = writer.table(FEDERATIONS).get({ id: federation })
  const isHere = row !== undefined && (row['did'] === null || federationKeys(writer, federation) !== null)
  const pinned = row?.['did'] as string | null | undefined
  const isNew = row === undefined
  if (viewer !== OWNER && (isHere || !(pinned === did || (isNew && isNamed(writer, federation))))) throw unauthorized()
  if (isHere) throw wrong('statement.federation', 'a federation of another node', 'taken', JSON.stringify(federation))
  if (!isNew && pinned !== did && !repin)
    throw wrong('statement.federation_did', `the key that this federation is known by, ${pinned}`, 'mismatch', did)
  if (pinned === did) return
  const made = { label: null, joining: null, results: null, anonymity: 'strict', reputation: null, created_at: now }
  writer.table(FEDERATIONS).put({ ...made, ...row, id: federation, did })
  raiseRevision(writer, 'members')
}

/** Whether a peer is asked for it. */
function isNamed(reader: StoreReader, federation: string): boolean {
  return readPeers(reader).some(({ federations }) => federations.includes(federation))
}

function keep(
  { writer, now }: Writing,
  { federation, status, role, permissions, joined_at }: MembershipStatement,
  agent: string,
  { issued, expires }: { readonly issued: Instant; readonly expires: Instant },
): void {
  writer.table(MEMBERSHIPS).put({
    ...{ federation, agent, status, role },
    permissions: permissions && JSON.stringify(permissions),
    joined_at: Date.parse(joined_at),
    updated_at: now,
  })
  writer.table(STATEMENTS).put({ federation, agent, issued_at: issued, expires_at: expires })
  raiseRevision(writer, 'members')
}

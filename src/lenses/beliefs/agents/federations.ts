/**
 * Creates and lists federations and sets memberships (BQ-092, BQ-100, BQ-104). A missing federation and a forbidden action give the same
 * error, so that nobody learns which federations exist (BQ-097).
 */
import type { Instant } from '../../../base/clock.ts'
import { publicKeyOf } from '../../../identity/keys.ts'
import { toIso } from '../../../model/instant.ts'
import { isFederationName, isHolderName, OWNER } from '../../../model/partition.ts'
import type { Row } from '../../../model/table.ts'
import { AGENTS, FEDERATIONS, MEMBERSHIPS } from '../../../store/core-tables.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { inOnes, keepRules, rulesOf } from '../aggregates/mechanism.ts'
import { unauthorized, wrong } from '../errors.ts'
import type { AgentView, FederationView, MembershipView, NewAgent, NewFederation, NewMember } from '../schema/agents.ts'
import { normalByDomain } from '../schema/values.ts'
import { didOfAgent, ensureKeys, raiseRevision, signingKeys } from '../trust/agent-facts.ts'

const RUNS_IT: ReadonlySet<unknown> = new Set(['founder', 'admin'])

/**
 * Creates a federation with the requester as its founder. The local owner chooses the federation's name freely; for others a random suffix
 * is added to the name, so that they do not learn which names are taken.
 */
export function createFederation(writing: Writing, input: NewFederation, newId: () => string): FederationView {
  const { writer, viewer, now } = writing
  const id = viewer === OWNER ? input.id : `${input.id}-${newId()}`
  if (!isFederationName(id))
    throw wrong('id', 'a name of 1 to 200 characters without blanks, colons and commas', 'malformed', id)
  if (writer.table(FEDERATIONS).get({ id }) !== undefined)
    throw wrong('id', 'a name that no federation here has', 'taken', id)
  const { label = null, results = null, anonymity = 'strict' } = input
  const reputation = viewer === OWNER ? (input.reputation ?? null) : null
  writer.table(FEDERATIONS).put({
    ...{ id, label, results, anonymity, reputation },
    ...{ created_at: now, made_by: viewer },
  })
  keepRules(writer, id, input)
  putMember(writing, { federation: id, agent: viewer, status: 'active', role: 'founder' })
  return viewOf(writer, viewer, id) as FederationView
}

export function leaveFederation(writing: Writing, federation: string): MembershipView {
  const { writer, viewer } = writing
  const before = writer.table(MEMBERSHIPS).get({ federation, agent: viewer })
  if (before === undefined || before['status'] !== 'active') throw unauthorized()
  return putMember(writing, { federation, agent: viewer, status: 'departed' })
}

/**
 * Adds a member to a federation or changes the membership. Allowed for the local owner and for active founders and admins of the
 * federation. A new member is active unless stated otherwise.
 */
export function setMember(writing: Writing, input: NewMember): MembershipView {
  const { writer, viewer } = writing
  const exists = writer.table(FEDERATIONS).get({ id: input.federation }) !== undefined
  if (!exists || !runsIt(writer, viewer, input.federation)) {
    throw viewer === OWNER
      ? wrong('federation', 'the id of a federation of this node', 'not_found', null)
      : unauthorized()
  }
  return putMember(writing, input)
}

/** Federations in which the requester is or was a member, ordered by id; for the local owner, all federations of this node. */
export function listFederations(reader: StoreReader, viewer: string): readonly FederationView[] {
  const ids =
    viewer === OWNER
      ? reader
          .table(FEDERATIONS)
          .scan({}, { columns: ['id'] })
          .map(row => row['id'] as string)
      : reader
          .table(MEMBERSHIPS)
          .scan({ agent: viewer })
          .map(row => row['federation'] as string)
  return ids.flatMap(id => viewOf(reader, viewer, id) ?? [])
}

function putMember({ writer, viewer, now }: Writing, input: NewMember): MembershipView {
  const { federation, agent, status, role } = input
  const permissions = input.permissions && [...new Set(input.permissions)]
  const before = writer.table(MEMBERSHIPS).get({ federation, agent })
  const isBack = before !== undefined && before['status'] === 'departed' && status === 'active'
  const row: Row = {
    federation,
    agent,
    status: status ?? before?.['status'] ?? 'active',
    role: role ?? before?.['role'] ?? 'member',
    permissions:
      permissions === undefined ? (before?.['permissions'] ?? null) : permissions && JSON.stringify(permissions),
    joined_at: before === undefined || isBack ? now : (before['joined_at'] ?? before['updated_at'] ?? now),
    updated_at: now,
    set_by: viewer,
  }
  writer.table(MEMBERSHIPS).put(row)
  raiseRevision(writer, 'members')
  return memberOf(row)
}

export function viewOf(reader: StoreReader, viewer: string, id: string): FederationView | undefined {
  const row = reader.table(FEDERATIONS).get({ id })
  if (row === undefined) return undefined
  const own = reader.table(MEMBERSHIPS).get({ federation: id, agent: viewer })
  const members = () => reader.table(MEMBERSHIPS).scan({ federation: id }).map(memberOf)
  return {
    id,
    label: row['label'] as string | null,
    results: (row['results'] as 'aggregate' | null) ?? 'individual',
    ...aggregatesOf(reader, id),
    // A federation without a stored value was created before `strict` became the default; it shows pseudonyms.
    anonymity: (row['anonymity'] as FederationView['anonymity'] | null) ?? 'pseudonyms',
    reputation: row['reputation'] as number | null,
    created_at: toIso(row['created_at'] as number),
    membership: own === undefined ? null : memberOf(own),
    ...(runsIt(reader, viewer, id) ? { members: members() } : {}),
  }
}

function aggregatesOf(reader: StoreReader, id: string): Pick<FederationView, 'aggregates'> {
  const rules = rulesOf(reader, id)
  if (rules === null) return {}
  const { leastMembers: least_members, epsilonAnswer, epsilonDay } = rules
  return {
    aggregates: { least_members, query_epsilon: inOnes(epsilonAnswer), daily_epsilon: inOnes(epsilonDay) },
  }
}

export function runsIt(reader: StoreReader, viewer: string, federation: string): boolean {
  if (viewer === OWNER) return true
  const own = reader.table(MEMBERSHIPS).get({ federation, agent: viewer })
  return own?.['status'] === 'active' && RUNS_IT.has(own['role'])
}

export function memberOf(row: Row): MembershipView {
  const permissions = row['permissions'] as string | null
  return {
    federation_id: row['federation'] as string,
    agent_id: row['agent'] as string,
    status: row['status'] as MembershipView['status'],
    role: (row['role'] as string | null) ?? 'member',
    permissions: permissions === null ? null : (JSON.parse(permissions) as MembershipView['permissions']),
    joined_at: toIso((row['joined_at'] ?? row['updated_at']) as number),
  }
}

// Creates, changes and lists the agents of this node: their names, keys and reputations (BQ-081).

/** Context of a write to the store: the viewer, the time, and the source of random bytes for keys. */
export interface Writing {
  readonly writer: StoreWriter
  readonly viewer: string
  readonly now: Instant
  readonly random: (bytes: number) => Uint8Array
}

/** Creates an agent; only the local owner may do so. Throws INVALID_QUERY for a name that is taken or invalid. */
export function createAgent({ writer, viewer, now, random }: Writing, input: NewAgent): AgentView {
  if (viewer !== OWNER) throw unauthorized()
  if (!isHolderName(input.id)) throw wrong('id', NAME, 'malformed', input.id)
  if (writer.table(AGENTS).get({ id: input.id }) !== undefined)
    throw wrong('id', 'a name that no agent here has', 'taken', input.id)
  checkDid(writer, input)
  writer.table(AGENTS).put({ ...rowOf({}, input), id: input.id, created_at: now })
  if (didOfAgent(writer, input.id) === null) ensureKeys(writer, input.id, random)
  raiseRevision(writer, 'agents')
  return agentView(writer, writer.table(AGENTS).get({ id: input.id }) as Row)
}

/** Changes an agent. Agents may change their own name and trust graph; only the local owner may change keys and reputation. */
export function updateAgent({ writer, viewer, now }: Writing, input: NewAgent): AgentView {
  const isOwner = viewer === OWNER
  const touchesMore =
    input.did !== undefined || input.reputation !== undefined || input.reputation_by_domain !== undefined
  if (!isOwner && (viewer !== input.id || touchesMore)) throw unauthorized()
  const before = writer.table(AGENTS).get({ id: input.id })
  if (before === undefined && isOwner && input.id !== OWNER)
    throw wrong('id', 'the id of an agent of this node', 'not_found')
  if (input.did !== undefined) checkDid(writer, input)
  writer.table(AGENTS).put({ ...rowOf(before ?? {}, input), id: input.id, created_at: before?.['created_at'] ?? now })
  raiseRevision(writer, 'agents')
  return agentView(writer, writer.table(AGENTS).get({ id: input.id }) as Row)
}

/**
 * Agents that the viewer may see, ordered by id: all for the local owner; for others themselves and the agents about whom they have stated
 * trust (`named`).
 */
export function listAgents(reader: StoreReader, viewer: string, named: ReadonlySet<string>): readonly AgentView[] {
  const isReported = (row: Row) => viewer === OWNER || row['id'] === viewer || named.has(row['id'] as string)
  return reader
    .table(AGENTS)
    .scan()
    .filter(isReported)
    .map(row => agentView(reader, row))
}

function rowOf(before: Row, { label, did, reputation, reputation_by_domain: byDomain, trust_graph }: NewAgent): Row {
  const reputation_by_domain = byDomain && JSON.stringify(normalByDomain(byDomain))
  const given = { label, did, reputation, reputation_by_domain, trust_graph }
  const said = Object.entries(given).filter(
    (entry): entry is [string, string | number | null] => entry[1] !== undefined,
  )
  return { label: null, ...before, ...Object.fromEntries(said) }
}

function agentView(reader: StoreReader, row: Row): AgentView {
  const id = row['id'] as string
  const byDomain = row['reputation_by_domain'] as string | null
  return {
    id,
    label: row['label'] as string | null,
    did: didOfAgent(reader, id),
    signs_here: signingKeys(reader, id) !== null,
    reputation: row['reputation'] as number | null,
    reputation_by_domain: byDomain === null ? {} : (JSON.parse(byDomain) as Record<string, number>),
    trust_graph: row['trust_graph'] as string | null,
    created_at: toIso(row['created_at'] as number),
  }
}

/** Checks that no other agent has this public key, so that a signature made with the key identifies one agent. Throws INVALID_QUERY. */
function checkDid(reader: StoreReader, { id, did }: NewAgent): void {
  const key = did ?? (publicKeyOf(id) === null ? null : id)
  if (key === null) return
  if (publicKeyOf(key) === null) throw wrong('did', DID, 'malformed', key)
  const named = reader.table(AGENTS).scan({ did: key }, { columns: ['id'] })
  if (named.some(other => other['id'] !== id)) throw wrong('did', 'a key that no other agent here has', 'taken', key)
}

const NAME = 'a name of 1 to 200 characters without blanks, colons and commas, or a did:key'
const DID = 'a did:key of an Ed25519 key, such as did:key:z6Mk…'

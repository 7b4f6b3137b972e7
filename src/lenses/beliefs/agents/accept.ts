/**
 * What a federation of another node said of an agent of this one: taken when the federation signed it, and kept as a membership
 * like others, so that the agent may ask in the federation's name. The node of the federation goes by its own table.
 */
import type { Instant } from '../../../base/clock.ts'
import { CLOCK_TOLERANCE_MS } from '../../../identity/freshness.ts'
import { isStatementOf } from '../../../identity/statement.ts'
import { toIso } from '../../../model/instant.ts'
import { OWNER } from '../../../model/partition.ts'
import { AGENTS, FEDERATIONS, MEMBERSHIPS } from '../../../store/core-tables.ts'
import type { StoreReader } from '../../../store/store.ts'
import { unauthorized } from '../errors.ts'
import { readPeers } from '../nodes/peers.ts'
import type { Accepted } from '../schema/agent-answers.ts'
import type { Accept, MembershipStatement, Rotation } from '../schema/agents.ts'
import { STATEMENTS } from '../tables.ts'
import { didOfAgent } from '../trust/agent-keys.ts'
import { raiseRevision } from '../trust/revisions.ts'
import { federationKeys } from './federation-keys.ts'
import { type FederationWriting, viewOf, wrong } from './federations.ts'
import { LIFE_MS } from './statement.ts'

/** `machineNow`: statements come from other machines, and are held against the clock of this one. */
export function acceptStatement(writing: FederationWriting, input: Accept, machineNow: Instant): Accepted {
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
 * The federation is known here by one key: the first that was seen, or one that was signed by the one before. Agents may bring
 * only those that the local owner named beside a peer, and are not told which others there are.
 */
function pin({ writer, viewer, now }: FederationWriting, { statement, rotations = [], repin = false }: Accept): void {
  const { federation, federation_did: did } = statement
  const row = writer.table(FEDERATIONS).get({ id: federation })
  const isHere = row !== undefined && (row['did'] === null || federationKeys(writer, federation) !== null)
  const pinned = row?.['did'] as string | null | undefined
  const follows = pinned === did || (typeof pinned === 'string' && leadsTo(federation, pinned, did, rotations))
  const isNew = row === undefined
  if (viewer !== OWNER && (isHere || !(follows || (isNew && isNamed(writer, federation))))) throw unauthorized()
  if (isHere) throw wrong('statement.federation', 'a federation of another node', 'taken', JSON.stringify(federation))
  if (!isNew && !follows && !repin)
    throw wrong(
      'statement.federation_did',
      `the key that this federation is known by, ${pinned}, or one that it signed`,
      'mismatch',
      did,
    )
  if (pinned === did) return
  const made = { label: null, joining: null, results: null, anonymity: 'strict', reputation: null, created_at: now }
  writer.table(FEDERATIONS).put({ ...made, ...row, id: federation, did })
  raiseRevision(writer, 'members')
}

/** Whether a peer is asked for it. */
function isNamed(reader: StoreReader, federation: string): boolean {
  return readPeers(reader).some(({ federations }) => federations.includes(federation))
}

function leadsTo(federation: string, from: string, to: string, rotations: readonly Rotation[]): boolean {
  let at = from
  for (const { statement, signature } of rotations) {
    if (statement.old_did !== at || statement.federation !== federation) continue
    if (!isStatementOf(at, { ...statement }, signature)) return false
    at = statement.new_did
    if (at === to) return true
  }
  return false
}

function keep(
  { writer, now }: FederationWriting,
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

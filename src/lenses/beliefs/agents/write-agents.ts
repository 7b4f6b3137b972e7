/** Agents that the node hosts: who they are called, with which key, and what reputation they have (BQ-081). */
import type { Instant } from '../../../base/clock.ts'
import { publicKeyOf } from '../../../identity/keys.ts'
import { toIso } from '../../../model/instant.ts'
import { isHolderName, OWNER } from '../../../model/partition.ts'
import type { Row } from '../../../model/table.ts'
import { AGENTS } from '../../../store/core-tables.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { unauthorized, wrong } from '../errors.ts'
import type { AgentView } from '../schema/agent-answers.ts'
import type { NewAgent } from '../schema/agents.ts'
import { normalByDomain } from '../schema/values.ts'
import { didOfAgent, ensureKeys, signingKeys } from '../trust/agent-facts.ts'
import { raiseRevision } from '../trust/revisions.ts'

/** A write of an operation: by whom, when, and from which source of random bytes keys are made. */
export interface Writing {
  readonly writer: StoreWriter
  readonly viewer: string
  readonly now: Instant
  readonly random: (bytes: number) => Uint8Array
}

/** Only the local owner hosts new agents. Throws INVALID_QUERY for a name that is taken or that none can have. */
export function createAgent({ writer, viewer, now, random }: Writing, input: NewAgent): AgentView {
  if (viewer !== OWNER) throw unauthorized()
  if (!isHolderName(input.id)) throw wrong('id', NAME, 'malformed', input.id)
  if (writer.table(AGENTS).get({ id: input.id }) !== undefined)
    throw wrong('id', 'a name that no agent here has', 'taken', input.id)
  checkDid(writer, input)
  writer.table(AGENTS).put({ ...rowOf({}, input), id: input.id, created_at: now })
  if (didOfAgent(writer, input.id) === null) ensureKeys(writer, input.id, random)
  raiseRevision(writer, 'agents')
  return viewOf(writer, writer.table(AGENTS).get({ id: input.id }) as Row)
}

/** Agents may rename themselves and their trust graph; keys and reputation are the local owner's to set. */
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
  return viewOf(writer, writer.table(AGENTS).get({ id: input.id }) as Row)
}

/** The local owner sees all; others see themselves and those they have stated trust in. By id. */
export function listAgents(reader: StoreReader, viewer: string, named: ReadonlySet<string>): readonly AgentView[] {
  const isReported = (row: Row) => viewer === OWNER || row['id'] === viewer || named.has(row['id'] as string)
  return reader
    .table(AGENTS)
    .scan()
    .filter(isReported)
    .map(row => viewOf(reader, row))
}

function rowOf(before: Row, { label, did, reputation, reputation_by_domain: byDomain, trust_graph }: NewAgent): Row {
  const reputation_by_domain = byDomain && JSON.stringify(normalByDomain(byDomain))
  const given = { label, did, reputation, reputation_by_domain, trust_graph }
  const said = Object.entries(given).filter(
    (entry): entry is [string, string | number | null] => entry[1] !== undefined,
  )
  return { label: null, ...before, ...Object.fromEntries(said) }
}

function viewOf(reader: StoreReader, row: Row): AgentView {
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

/** A key is one agent's: what is signed with it is from nobody else. */
function checkDid(reader: StoreReader, { id, did }: NewAgent): void {
  const key = did ?? (publicKeyOf(id) === null ? null : id)
  if (key === null) return
  if (publicKeyOf(key) === null) throw wrong('did', DID, 'malformed', key)
  const named = reader.table(AGENTS).scan({ did: key }, { columns: ['id'] })
  if (named.some(other => other['id'] !== id)) throw wrong('did', 'a key that no other agent here has', 'taken', key)
}

const NAME = 'a name of 1 to 200 characters without blanks, colons and commas, or a did:key'
const DID = 'a did:key of an Ed25519 key, such as did:key:z6Mk…'

/**
 * Federations and who is in them (BQ-092, BQ-100, BQ-104). What is missing and what may not be done are one (BQ-097). Keys of federations
 * that live here are kept as agents' keys are, with who followed whom.
 */
import type { Instant } from '../../../base/clock.ts'
import { fromBase64Url, toBase64Url } from '../../../identity/encoding.ts'
import { type Keys, keysOf, SEED_BYTES } from '../../../identity/keys.ts'
import { signStatement } from '../../../identity/statement.ts'
import { QuerentError } from '../../../model/errors.ts'
import { toIso } from '../../../model/instant.ts'
import { isFederationName, OWNER } from '../../../model/partition.ts'
import type { Row } from '../../../model/table.ts'
import { FEDERATIONS, MEMBERSHIPS } from '../../../store/core-tables.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import type { Job, LensHost } from '../../lens.ts'
import { inOnes, keepRules, rulesOf } from '../aggregates/mechanism.ts'
import { unauthorized, wrong } from '../errors.ts'
import type { FederationView, MembershipView } from '../schema/agent-answers.ts'
import {
  type NewFederation,
  type NewMember,
  ROTATION,
  type Rotation,
  type RotationStatement,
} from '../schema/agents.ts'
import { STATEMENTS } from '../tables.ts'
import { raiseRevision } from '../trust/revisions.ts'
import type { Writing } from './write-agents.ts'

/** For the writers of other processes: a question has its time limit. */
const WAIT_MS = 50
const MINUTE_MS = 60_000

/** For questions of other lenses, and for whoever is not asked: before each question about beliefs it is done anyway. */
export const EXPIRY_JOB: Job = {
  name: 'memberships',
  everyMs: MINUTE_MS,
  run: async (host, now, _signal, _report, mustHold) => {
    if (!isDue(host, nextExpiry(host.store))) return
    await host.store.writeWhenFree(now, writer => {
      mustHold(writer)
      endExpired(writer, now, machineNow(host))
    })
  },
}

/** Looks whether one is over, as often as somebody asks: what is to be known for that is read when it changed. */
export class Expiry {
  readonly #host: LensHost
  #next: Instant | null = null
  #marks = ''

  constructor(host: LensHost) {
    this.#host = host
  }

  /** Not within a read. Where nothing can be written, whoever can does it. */
  end(): void {
    const { store, clock } = this.#host
    const marks = `${store.version(MEMBERSHIPS)},${store.version(STATEMENTS)}`
    if (marks !== this.#marks) this.#next = nextExpiry(store)
    this.#marks = marks
    if (!isDue(this.#host, this.#next)) return
    const now = clock.now()
    try {
      store.write(now, writer => endExpired(writer, now, machineNow(this.#host)), WAIT_MS)
    } catch (thrown) {
      if (!(thrown instanceof QuerentError)) throw thrown
    }
  }
}

function isDue(host: LensHost, next: Instant | null): boolean {
  return next !== null && next <= machineNow(host)
}

/** Null: none ends. */
function nextExpiry(reader: StoreReader): Instant | null {
  return stated(reader).reduce<Instant | null>((least, { expires }) => Math.min(least ?? expires, expires), null)
}

function endExpired(writer: StoreWriter, now: Instant, machine: Instant): void {
  const over = stated(writer).filter(({ expires }) => expires <= machine)
  for (const { row } of over) writer.table(MEMBERSHIPS).put({ ...row, status: 'departed', updated_at: now })
  if (over.length > 0) raiseRevision(writer, 'members')
}

/** Active ones. */
function stated(reader: StoreReader) {
  return reader
    .table(STATEMENTS)
    .scan()
    .flatMap(({ federation = null, agent = null, expires_at: expires }) => {
      const row = reader.table(MEMBERSHIPS).get({ federation, agent })
      return row?.['status'] === 'active' ? [{ row, expires: expires as Instant }] : []
    })
}

/** Statements come from other machines: whatever time it is here otherwise. */
export function machineNow({ node, clock }: LensHost): Instant {
  return node?.now() ?? clock.now()
}

type Random = (bytes: number) => Uint8Array

/** A new pair, kept here. */
export function makeFederationKeys(writer: StoreWriter, federation: string, random: Random): Keys {
  const seed = random(SEED_BYTES)
  writer.setMeta(keyName(federation), toBase64Url(seed))
  return keysOf(seed)
}

/** The pair that the federation signs with; null: its key is not here, for it lives elsewhere or brought a key of its own. */
export function federationKeys(reader: StoreReader, federation: string): Keys | null {
  const seed = fromBase64Url(reader.meta(keyName(federation)) ?? '', SEED_BYTES)
  const keys = seed === null ? null : keysOf(seed)
  return keys !== null && keys.did === reader.table(FEDERATIONS).get({ id: federation })?.['did'] ? keys : null
}

/** From the first key on. */
export function rotationsOf(reader: StoreReader, federation: string): readonly Rotation[] {
  return JSON.parse(reader.meta(rotationsName(federation)) ?? '[]') as readonly Rotation[]
}

/** Puts a new key in the place of `old`, which signs it and then signs nothing more. */
export function rotateKeys(
  writer: StoreWriter,
  { federation, old, now, random }: { federation: string; old: Keys; now: Instant; random: Random },
): Rotation {
  const keys = makeFederationKeys(writer, federation, random)
  const statement: RotationStatement = {
    ...{ type: ROTATION, federation },
    ...{ old_did: old.did, new_did: keys.did, issued_at: toIso(now) },
  }
  const rotation = { statement, signature: signStatement(old, { ...statement }) }
  writer.setMeta(rotationsName(federation), JSON.stringify([...rotationsOf(writer, federation), rotation]))
  const row = writer.table(FEDERATIONS).get({ id: federation })
  if (row === undefined) throw new Error('invariant broken: keys of no federation')
  writer.table(FEDERATIONS).put({ ...row, did: keys.did })
  raiseRevision(writer, 'members')
  return rotation
}

function keyName(federation: string): string {
  return `federation_key:${federation}`
}

function rotationsName(federation: string): string {
  return `federation_rotations:${federation}`
}

const RUNS_IT: ReadonlySet<unknown> = new Set(['founder', 'admin'])

/** The requester becomes its founder. Names are the local owner's to give: another may not learn which are taken. */
export function createFederation(writing: Writing, input: NewFederation, newId: () => string): FederationView {
  const { writer, viewer, now, random } = writing
  const id = viewer === OWNER ? input.id : `${input.id}-${newId()}`
  if (!isFederationName(id))
    throw wrong('id', 'a name of 1 to 200 characters without blanks, colons and commas', 'malformed', id)
  if (writer.table(FEDERATIONS).get({ id }) !== undefined)
    throw wrong('id', 'a name that no federation here has', 'taken', id)
  const { label = null, joining = null, results = null, anonymity = 'strict' } = input
  const did = input.did ?? makeFederationKeys(writer, id, random).did
  const reputation = viewer === OWNER ? (input.reputation ?? null) : null
  writer.table(FEDERATIONS).put({
    ...{ id, label, did, joining, results, anonymity, reputation },
    ...{ created_at: now, made_by: viewer },
  })
  keepRules(writer, id, input)
  putMember(writing, { federation: id, agent: viewer, status: 'active', role: 'founder' })
  return viewOf(writer, viewer, id) as FederationView
}

/** Into one that is open, or back after leaving it: with no more permissions than before. Suspended members stay so. */
export function joinFederation(writing: Writing, federation: string): FederationView {
  const { writer, viewer } = writing
  const row = writer.table(FEDERATIONS).get({ id: federation })
  const before = writer.table(MEMBERSHIPS).get({ federation, agent: viewer })
  const isInvited = before?.['status'] === 'active'
  if (row === undefined || before?.['status'] === 'suspended') throw unauthorized()
  if (row['joining'] !== 'open' && !isInvited) throw unauthorized()
  if (!isInvited) putMember(writing, { federation, agent: viewer, status: 'active', role: 'member' })
  return viewOf(writer, viewer, federation) as FederationView
}

export function leaveFederation(writing: Writing, federation: string): MembershipView {
  const { writer, viewer } = writing
  const before = writer.table(MEMBERSHIPS).get({ federation, agent: viewer })
  if (before === undefined || before['status'] !== 'active') throw unauthorized()
  return putMember(writing, { federation, agent: viewer, status: 'departed' })
}

/** By the local owner, and by active founders and admins. A new member is active unless said otherwise. */
export function setMember(writing: Writing, input: NewMember): MembershipView {
  const { writer, viewer } = writing
  const exists = writer.table(FEDERATIONS).get({ id: input.federation }) !== undefined
  if (!exists || !runsIt(writer, viewer, input.federation)) {
    throw viewer === OWNER
      ? wrong('federation', 'the id of a federation of this node', 'not_found', null)
      : unauthorized()
  }
  if (isElsewhere(writer, input.federation))
    throw wrong('federation', 'a federation of this node: members of others are set there', 'elsewhere', null)
  return putMember(writing, input)
}

/** Whether it lives on another node, and is known here by what it stated. */
export function isElsewhere(reader: StoreReader, federation: string): boolean {
  return reader.table(STATEMENTS).scan({ federation }, { columns: ['federation'] }).length > 0
}

/** Those that the requester is or was in; all for the local owner. By id. */
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
    did: row['did'] as string | null,
    joining: (row['joining'] as 'open' | null) ?? 'invited',
    results: (row['results'] as 'aggregate' | null) ?? 'individual',
    ...aggregatesOf(reader, id),
    // Without a word: from before federations were strict by default.
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

/** Checks what the operations on agents and federations are given. */
import { publicKeyOf } from '../../../identity/did-key.ts'
import { MAX_NAME_LENGTH } from '../../../model/limits.ts'
import { AGGREGATE_RULES, checkAggregateRules } from './aggregates.ts'
import { byDomain } from './by-domain.ts'
import { checked, type Place } from './faults.ts'
import { listOf, type Members, members, orNull, uniqueItems } from './shapes.ts'
import { id, numberIn, oneOf, SHARE, textUpTo } from './values.ts'

export const JOININGS = ['open', 'invited'] as const
export const RESULT_KINDS = ['individual', 'aggregate'] as const
export const ANONYMITIES = ['pseudonyms', 'strict'] as const
export const STATUSES = ['active', 'suspended', 'departed'] as const
export const ROLES = ['founder', 'admin', 'moderator', 'member', 'observer'] as const
export const PERMISSIONS = ['query_beliefs', 'share_beliefs', 'view_aggregates'] as const

/** What is undefined was not said; null takes away what was there. */
export interface AgentInput {
  readonly id: string
  readonly label?: string | null | undefined
  /** Begins with `did:key:z`; whether it holds a key is for who reads it. */
  readonly did?: string | null | undefined
  /** 0 to 1. */
  readonly reputation?: number | null | undefined
  /** By normalised domain. */
  readonly reputationByDomain?: Readonly<Record<string, number>> | null | undefined
  /** What its trust graph may be called. */
  readonly trustGraph?: string | null | undefined
}

export interface FederationInput {
  readonly id: string
  readonly label?: string | null | undefined
  readonly did?: string | null | undefined
  readonly joining?: (typeof JOININGS)[number] | undefined
  readonly results?: (typeof RESULT_KINDS)[number] | undefined
  /** The next three: of one whose results are aggregates (BQ-105). */
  readonly sensitive?: boolean | undefined
  readonly query_epsilon?: number | undefined
  readonly daily_epsilon?: number | undefined
  readonly anonymity?: (typeof ANONYMITIES)[number] | undefined
  readonly reputation?: number | null | undefined
}

export interface MemberInput {
  readonly federation: string
  readonly agent: string
  readonly status?: (typeof STATUSES)[number] | undefined
  readonly role?: (typeof ROLES)[number] | undefined
  /** Null: all of them. */
  readonly permissions?: readonly (typeof PERMISSIONS)[number][] | null | undefined
}

/** `agents.create`, `agents.update`. Throws INVALID_QUERY with all faults. */
export function checkAgent(input: unknown): AgentInput {
  return checked(input, (value, at) => {
    const given = members(value, at, AGENT, { required: ['id'] })
    if (given?.id === undefined) return undefined
    const { id: name, reputation_by_domain: reputationByDomain, trust_graph: trustGraph, ...rest } = given
    return { ...rest, id: name, reputationByDomain, trustGraph }
  })
}

/** `federations.create`. */
export function checkFederation(input: unknown): FederationInput {
  return checked(input, (value, at) => {
    const given = members(value, at, FEDERATION, { required: ['id'] })
    if (given?.id === undefined) return undefined
    checkAggregateRules(given, at)
    return { ...given, id: given.id }
  })
}

/** `federations.set_member`. */
export function checkMember(input: unknown): MemberInput {
  return checked(input, (value, at) => {
    const given: Members<typeof MEMBER> | undefined = members(value, at, MEMBER, { required: ['federation', 'agent'] })
    if (given?.federation === undefined || given.agent === undefined) return undefined
    return { ...given, federation: given.federation, agent: given.agent }
  })
}

/** Of operations that are given one id and nothing else: `federations.join` {federation}, `trust.remove` {target}, … */
export function checkOnly(input: unknown, name: string): string {
  return checked(input, (value, at) => members(value, at, { [name]: id }, { required: [name] })?.[name])
}

/** Of operations that are given nothing. */
export function checkNothing(input: unknown): void {
  checked(input, (value, at) => members(value, at, {}))
}

const LONGEST_DID = 200
const KEY = 'a did:key of an Ed25519 key, such as did:key:z6Mk…'

const label = orNull(textUpTo(MAX_NAME_LENGTH))
const reputation = orNull(numberIn(SHARE))
const did = orNull(didKey)

const AGENT = {
  id,
  label,
  did,
  reputation,
  reputation_by_domain: orNull(byDomain),
  trust_graph: orNull(textUpTo(MAX_NAME_LENGTH)),
}

const FEDERATION = {
  id,
  label,
  did,
  joining: oneOf(JOININGS),
  results: oneOf(RESULT_KINDS),
  ...AGGREGATE_RULES,
  anonymity: oneOf(ANONYMITIES),
  reputation,
}

const MEMBER = {
  federation: id,
  agent: member,
  status: oneOf(STATUSES),
  role: oneOf(ROLES),
  permissions: orNull(permissions),
}

function didKey(value: unknown, at: Place): string | undefined {
  const isDid =
    typeof value === 'string' && value.length <= LONGEST_DID && /^did:key:z[1-9A-HJ-NP-Za-km-z]+$/.test(value)
  return isDid ? value : at.fault('malformed', KEY, value)
}

/** An agent of this node by its name, or of another one by its key. */
function member(value: unknown, at: Place): string | undefined {
  const name = id(value, at)
  if (name === undefined || !name.startsWith('did:key:') || publicKeyOf(name) !== null) return name
  return at.fault('malformed', KEY, value)
}

function permissions(value: unknown, at: Place): readonly (typeof PERMISSIONS)[number][] | undefined {
  const given = listOf(oneOf(PERMISSIONS), 50, 'permissions')(value, at)
  return given && uniqueItems(given)
}

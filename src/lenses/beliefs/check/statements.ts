/** Checks what federations state, as it comes from another node. */
import { isIso } from '../../../model/instant.ts'
import { PERMISSIONS, ROLES, STATUSES } from './agents.ts'
import { type Check, checked, type Place } from './faults.ts'
import { listOf, members, orNull } from './shapes.ts'
import { boolean, did, federationName, id, oneOf, textUpTo } from './values.ts'

export const MEMBERSHIP = 'querent.membership.v1'

export interface MembershipStatement {
  readonly type: typeof MEMBERSHIP
  readonly federation: string
  /** did:key; it signs this. */
  readonly federation_did: string
  /** did:key of the member. */
  readonly agent: string
  readonly status: 'active' | 'suspended' | 'departed'
  readonly role: string
  /** Null: all there are. */
  readonly permissions: readonly string[] | null
  readonly joined_at: string
  readonly issued_at: string
  readonly expires_at: string
}

/** The old key names the new one. */
export interface Rotation {
  readonly statement: RotationStatement
  /** By the old key. */
  readonly signature: string
}

export interface RotationStatement {
  readonly type: typeof ROTATION
  readonly federation: string
  readonly old_did: string
  readonly new_did: string
  readonly issued_at: string
}

export const ROTATION = 'querent.federation-key.v1'

export interface StatementInput {
  readonly federation: string
  /** Its name, or its did:key where memberships name that. */
  readonly agent: string
}

export interface AcceptInput {
  readonly statement: MembershipStatement
  readonly signature: string
  readonly rotations: readonly Rotation[]
  /** Take the key in the statement for the federation's, whatever it was known by. */
  readonly repin: boolean
}

/** `federations.statement`. Throws INVALID_QUERY with all faults. */
export function checkStatementInput(input: unknown): StatementInput {
  return checked(input, (value, at) => {
    const given = members(value, at, { federation: id, agent: id }, { required: ['federation', 'agent'] })
    if (given?.federation === undefined || given.agent === undefined) return undefined
    return { federation: given.federation, agent: given.agent }
  })
}

/** `federations.accept`. */
export function checkAccept(input: unknown): AcceptInput {
  return checked(input, (value, at) => {
    const given = members(value, at, ACCEPT, { required: ['statement', 'signature'] })
    if (given?.statement === undefined || given.signature === undefined) return undefined
    const { statement, signature, rotations = [], repin = false } = given
    return { statement, signature, rotations, repin }
  })
}

const MOST_ROTATIONS = 100
const SIGNATURE_LENGTH = 86

const STATEMENT = {
  type: oneOf([MEMBERSHIP]),
  federation: federationName,
  federation_did: did,
  agent: did,
  status: oneOf(STATUSES),
  role: oneOf(ROLES),
  permissions: orNull(listOf(oneOf(PERMISSIONS), PERMISSIONS.length, 'permissions')),
  joined_at: moment,
  issued_at: moment,
  expires_at: moment,
}

const ROTATION_SHAPE = {
  type: oneOf([ROTATION]),
  federation: federationName,
  old_did: did,
  new_did: did,
  issued_at: moment,
}

const signature = textUpTo(SIGNATURE_LENGTH)

const ACCEPT = {
  statement: whole<MembershipStatement>(STATEMENT),
  signature,
  rotations: listOf(
    whole<Rotation>({ statement: whole<Rotation['statement']>(ROTATION_SHAPE), signature }),
    MOST_ROTATIONS,
    'rotations',
  ),
  repin: boolean,
}

/** Every member of the shape, and no other: what was signed is what was checked. */
function whole<T>(shape: Readonly<Record<string, Check<unknown>>>): Check<T> {
  return (value, at) => {
    const found = members(value, at, shape, { required: Object.keys(shape) })
    // The cast: the shape is that of the type, member by member.
    return found && Object.keys(shape).every(name => found[name] !== undefined) ? (found as T) : undefined
  }
}

/** As nodes write them: what was signed must not be read in two ways. */
function moment(value: unknown, at: Place): string | undefined {
  if (typeof value === 'string' && isIso(value)) return value
  return at.fault('malformed', 'a time such as 2026-03-01T12:00:00.000Z', value)
}

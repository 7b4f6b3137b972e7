/** Checks what the operations on trust are given (BQ-064, BQ-068, BQ-069). */
import { BASIS_TYPES, EXPOSURES, type TrustBasis } from '../trust/edge.ts'
import type { EdgeDraft, OwnSignature } from '../trust/edges.ts'
import { byDomain } from './by-domain.ts'
import type { Asker, CheckedContext } from './checked.ts'
import { contextOf } from './context.ts'
import { checked, type Place } from './faults.ts'
import { listOf, type Members, members, orNull } from './shapes.ts'
import { boolean, id, instant, integerIn, numberIn, oneOf, SHARE, textUpTo } from './values.ts'

/** `trust.set`: what an agent says of another. Throws INVALID_QUERY with all faults. */
export function checkEdge(input: unknown, owner: string): EdgeDraft {
  return checked(input, (value, at) => {
    const given = members(value, at, { ...EDGE, target: otherThan(owner) }, { required: ['target', 'trust_level'] })
    if (given === undefined) return undefined
    const signed = signatureOf(given, at)
    if (given.target === undefined || given.trust_level === undefined || signed === undefined) return undefined
    return {
      target: given.target,
      level: given.trust_level,
      domains: given.domain_trust ?? {},
      basis: given.basis ?? [],
      persistent: given.persistent ?? false,
      exposure: given.exposure ?? 'private',
      signed,
    }
  })
}

/** `trust.compute`: in whom, and how as the context of a query says it. */
interface CheckedTrustQuestion {
  readonly target: string
  readonly context: CheckedContext
}

export function checkTrustQuestion(input: unknown, asker: Asker): CheckedTrustQuestion {
  return checked(input, (value, at) => {
    const given = members(value, at, { target: id, context: contextOf(asker) }, { required: ['target'] })
    const context = given?.context ?? contextOf(asker)({}, at.member('context'))
    return given?.target === undefined || context === undefined ? undefined : { target: given.target, context }
  })
}

/** `trust.list`: from where on, and how many. */
export function checkTrustPage(input: unknown): { readonly after?: string | null; readonly limit?: number } {
  return checked(input, (value, at) => members(value, at, PAGE))
}

const PAGE = { after: orNull(id), limit: integerIn({ least: 1, most: 1_000 }) }
const MOST_BASES = 20
/** Of Ed25519 in base64url there are 86. */
const LONGEST_SIGNATURE = 128

const share = numberIn(SHARE)

const EDGE = {
  target: id,
  trust_level: share,
  domain_trust: byDomain,
  basis: listOf(basis, MOST_BASES, 'bases'),
  persistent: boolean,
  exposure: oneOf(EXPOSURES),
  created: instant,
  updated: instant,
  signature: textUpTo(LONGEST_SIGNATURE),
}

function otherThan(owner: string): (value: unknown, at: Place) => string | undefined {
  return (value, at) => {
    const given = id(value, at)
    return given === owner ? at.fault('self', 'another agent: trust in oneself is never stored', given) : given
  }
}

function basis(value: unknown, at: Place): TrustBasis | undefined {
  const given = members(value, at, { type: oneOf(BASIS_TYPES), confidence: share }, { required: ['type'] })
  return given?.type && { type: given.type, confidence: given.confidence ?? 1 }
}

/** All three or none; null: none. */
function signatureOf(
  { created, updated, signature }: Members<typeof EDGE>,
  at: Place,
): OwnSignature | null | undefined {
  if (created === undefined && updated === undefined && signature === undefined) return null
  if (created !== undefined && updated !== undefined && signature !== undefined) {
    return { createdAt: created, updatedAt: updated, signature }
  }
  return at.fault('incomplete', 'created, updated and signature together, or none of them')
}

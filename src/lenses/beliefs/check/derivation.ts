/** Where a belief comes from, as its holder writes it (BQ-007, BQ-008). */
import {
  CONTRIBUTIONS,
  DERIVATION_TYPES,
  type Derivation,
  type DerivationSource,
  type DerivationType,
} from '../model.ts'
import type { Place } from './faults.ts'
import { isWhole, listOf, members, orNull } from './shapes.ts'
import { id, numberIn, oneOf, SHARE, textUpTo } from './values.ts'

/** Of a belief that says nothing of it. */
export const ASSUMED: Derivation = {
  type: 'assumption',
  sources: [],
  method_description: null,
  confidence_rationale: null,
  note: null,
}

export function derivation(value: unknown, at: Place): Derivation | undefined {
  const given = members(value, at, DERIVATION)
  if (given === undefined) return undefined
  const type = given.type ?? { type: ASSUMED.type, note: null }
  return {
    type: type.type,
    sources: given.sources ?? [],
    method_description: given.method_description ?? null,
    confidence_rationale: given.confidence_rationale ?? null,
    note: given.note ?? type.note,
  }
}

const MOST_SOURCES = 100
/** Characters. */
const LONGEST_REFERENCE = 2_048
const LONGEST_REMARK = 4_096
const LONGEST_TYPE = 100

const remark = orNull(textUpTo(LONGEST_REMARK))
const typeName = textUpTo(LONGEST_TYPE)

const SOURCE = {
  belief_id: orNull(id),
  external_ref: orNull(textUpTo(LONGEST_REFERENCE)),
  contribution_type: oneOf(CONTRIBUTIONS, 'any case'),
  weight: numberIn(SHARE),
}

const DERIVATION = {
  type: derivationType,
  sources: listOf(source, MOST_SOURCES, 'sources'),
  method_description: remark,
  confidence_rationale: remark,
  note: orNull(typeName),
}

/** A type that we do not know counts as inference, and stays as a note. */
function derivationType(
  value: unknown,
  at: Place,
): { readonly type: DerivationType; readonly note: string | null } | undefined {
  const given = typeName(value, at)
  if (given === undefined) return undefined
  const known = DERIVATION_TYPES.find(type => type === given.toLowerCase())
  return known === undefined ? { type: 'inference', note: given } : { type: known, note: null }
}

function source(value: unknown, at: Place): DerivationSource | undefined {
  const given = members(value, at, SOURCE)
  if (given === undefined) return undefined
  const { belief_id = null, external_ref = null, contribution_type = 'primary', weight = 1 } = given
  if (belief_id === null && external_ref === null && isWhole(value, given)) {
    return at.fault('no_reference', 'a belief_id or an external_ref', value)
  }
  return { belief_id, external_ref, contribution_type, weight }
}

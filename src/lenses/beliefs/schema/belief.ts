/** Schemas of the beliefs that a holder writes (BQ-002, BQ-006 to BQ-013), and the complete draft made from them. */
import { z } from 'zod'
import { sha256 } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import { compareText } from '../../../base/compare.ts'
import { toIso } from '../../../model/instant.ts'
import { type Fault, faulty } from '../errors.ts'
import { DEFAULT_CONFIDENCE } from '../measures/confidence.ts'
import {
  byDimension,
  CONTRIBUTIONS,
  type Confidence,
  DERIVATION_TYPES,
  type Derivation,
  VISIBILITIES,
  type Visibility,
} from '../model.ts'
import { request } from './faults.ts'
import {
  across,
  anyCase,
  domain,
  field,
  flag,
  id,
  list,
  normalDomains,
  object,
  oneOfAnyCase,
  STORABLE,
  share,
  textUpTo,
  time,
  toInstant,
  toInstantOrNull,
  type Value,
} from './values.ts'

/** Maximum size of a belief's content, in bytes of UTF-8. */
const MAX_CONTENT_BYTES = 65_536
const MAX_DOMAINS = 20
const MAX_FEDERATIONS = 50
const MAX_SOURCES = 100
/** Maximum length of the reference to an external source, in characters. */
const MAX_REFERENCE = 2_048
const MAX_REMARK = 4_096
const MAX_TYPE = 100

const CONTENT = `text of 1 to ${MAX_CONTENT_BYTES} bytes of UTF-8, without NUL and lone surrogates`
const HASH = 'the SHA-256 of the content, as 64 lower-case hexadecimal digits'
const remark = textUpTo(MAX_REMARK).nullable()

const source = object({
  belief_id: field(id.nullable(), 'Version of a belief that it rests on, of the same holder', null),
  external_ref: field(textUpTo(MAX_REFERENCE).nullable(), 'Reference outside, such as a URL or a citation', null),
  contribution_type: field(oneOfAnyCase(CONTRIBUTIONS), 'What part the source plays; in any letter case', 'primary'),
  weight: field(share, 'How much the source counts for, 0 to 1', 1),
})
  .refine(
    ({ belief_id, external_ref }) => (belief_id ?? external_ref ?? null) !== null,
    across(['belief_id', 'external_ref'], 'no_reference', 'a belief_id or an external_ref'),
  )
  .meta({ anyOf: [{ required: ['belief_id'] }, { required: ['external_ref'] }] })

const derivation = object({
  type: field(
    z.union([z.enum(DERIVATION_TYPES), textUpTo(MAX_TYPE)], 'text'),
    'How the holder came to it, in any letter case; an unknown type counts as inference and is kept as a note',
    'assumption',
  ),
  sources: field(list(source, MAX_SOURCES, 'sources'), 'What it rests on, at most 100', []),
  method_description: field(remark, 'How it was derived, in words', null),
  confidence_rationale: field(remark, 'Why it is as sure as stated, in words', null),
  note: field(textUpTo(MAX_TYPE).nullable(), 'Type in words of the holder, besides a known one', null),
})

const draftFields = {
  id: field(id, 'Name of the version, unique among those of its holder. Default: a new one is made'),
  content: z
    .string(CONTENT)
    .min(1, CONTENT)
    .regex(STORABLE, CONTENT)
    .refine(text => Buffer.byteLength(text) <= MAX_CONTENT_BYTES, {
      error: CONTENT,
      params: { reason: 'range' },
      when: ({ value }) => typeof value === 'string',
    })
    .meta({ maxLength: MAX_CONTENT_BYTES })
    .describe('The statement in words, 1 to 65,536 bytes of UTF-8'),
  content_hash: field(
    z.string(HASH).regex(/^[0-9a-f]{64}$/, HASH),
    'SHA-256 over the UTF-8 of the content; another value is refused. Default: computed',
  ),
  confidence: field(
    object(
      byDimension((meaning, name) =>
        field(share.nullable(), `${meaning}, 0 to 1; null: not known`, DEFAULT_CONFIDENCE[name]),
      ),
    ),
    'How sure the holder is, in six dimensions',
    {},
  ),
  valid_from: field(time, 'When it begins to hold. Default: now'),
  valid_until: field(time.nullable(), 'When it ceases to hold, after valid_from; null: it has no end', null),
  derivation: field(derivation, 'What it rests on', {}),
  domains: field(
    list(domain, MAX_DOMAINS, 'domains'),
    'Domains that it belongs to, at most 20 paths such as science/biology',
    [],
  ),
  visibility: field(
    z.union([z.enum(VISIBILITIES), z.string()], `one of ${VISIBILITIES.join(', ')}`),
    'Who may see it besides its holder, in any case; an unknown value counts as private',
    'private',
  ),
  federation_ids: field(
    list(id, MAX_FEDERATIONS, 'federations'),
    'Federations it is shared with, at most 50; only with the visibility federated',
    [],
  ),
}

/**
 * The fields of a belief that rules over several fields compare (hash with content, times, visibility with federations). A missing field is
 * not compared.
 */
interface Written {
  readonly content?: string | undefined
  readonly content_hash?: string | undefined
  readonly valid_from?: string | undefined
  readonly valid_until?: string | null | undefined
  readonly visibility?: string | undefined
  readonly federation_ids?: readonly string[] | undefined
}

function isOwnHash({ content, content_hash: hash }: Written): boolean {
  return content === undefined || hash === undefined || sha256(content) === hash
}

function hashConstraint({ content = '' }: Written): string {
  return `the SHA-256 of the content (${sha256(content)}), or none`
}

function isWindow({ valid_from: from, valid_until: until }: Written): boolean {
  return from === undefined || until === undefined || until === null || toInstant(until) > toInstant(from)
}

function windowConstraint({ valid_from: from = '' }: Written): string {
  return `a time after valid_from, ${new Date(from).toISOString()}, or null`
}

function isSharedRightly({ visibility, federation_ids: ids = [] }: Written): boolean {
  return ids.length === 0 || toVisibility(visibility) === 'federated'
}

function sharingConstraint({ visibility }: Written): string {
  const given = toVisibility(visibility)
  return given === 'public'
    ? 'none, as the visibility is public: members of every federation see it, with network in the scope of their query'
    : `none, as the visibility is ${given}; to share it say "visibility": "federated"`
}

const HASH_RULE = across(['content', 'content_hash'], 'wrong_hash', hashConstraint, ['content_hash'])
const WINDOW_RULE = across(['valid_from', 'valid_until'], 'valid_window', windowConstraint, ['valid_until'])
const SHARING_RULE = across(['visibility', 'federation_ids'], 'not_federated', sharingConstraint, ['federation_ids'])

export const newBelief = object(draftFields)
  .refine(isOwnHash, HASH_RULE)
  .refine(isWindow, WINDOW_RULE)
  .refine(isSharedRightly, SHARING_RULE)
export type NewBelief = Value<typeof newBelief>

const wait = field(flag, 'Whether to return only when it can be found by meaning', true)

/** Input of the operation `beliefs.put`: the fields of one belief, or a list of beliefs in the field `beliefs`. */
export const putInput = request(
  object({
    ...draftFields,
    content: field(
      draftFields.content,
      'The statement in words, 1 to 65,536 bytes of UTF-8. Default: that of each of beliefs',
    ),
    beliefs: field(
      list(newBelief, Number.MAX_SAFE_INTEGER),
      'Many in place of one, stored together or not at all. Default: one, by the other fields',
    ),
    wait,
  })
    .refine(
      ({ beliefs, content }) => beliefs !== undefined || content !== undefined,
      across(['content', 'beliefs'], 'required', 'a value, which is missing', ['content']),
    )
    .superRefine((given, context) => {
      if (given.beliefs === undefined) return
      for (const name of Object.keys(given)) {
        if (name === 'beliefs' || name === 'wait' || given[name as 'id'] === undefined) continue
        const message = 'no such field together with "beliefs": each of them has its own'
        context.addIssue({ code: 'custom', path: [name], message, params: { reason: 'not_alone' } })
      }
    })
    .refine(isOwnHash, HASH_RULE)
    .refine(isWindow, WINDOW_RULE)
    .refine(isSharedRightly, SHARING_RULE)
    .meta({
      examples: [{ content: 'Bees dance.' }],
      oneOf: [
        { required: ['content'], not: { required: ['beliefs'] } },
        { required: ['beliefs'], propertyNames: { enum: ['beliefs', 'wait'] } },
      ],
    }),
)

/**
 * Converts the input of `beliefs.put` to complete drafts; `isMany`: whether the input contained a list of beliefs. Throws INVALID_QUERY.
 */
export function toPut(
  input: Value<typeof putInput>,
  asOf: Instant,
): { readonly drafts: readonly BeliefDraft[]; readonly isMany: boolean } {
  const { beliefs } = input
  if (beliefs !== undefined) return { drafts: toDrafts(beliefs, asOf, at => `beliefs[${at}].`), isMany: true }
  // The cast is safe: the schema makes sure that an input without a list has a content.
  return { drafts: toDrafts([input as NewBelief], asOf), isMany: false }
}

const revisionFields = {
  ...draftFields,
  content: field(draftFields.content, 'The new statement, 1 to 65,536 bytes of UTF-8. Default: as before'),
  confidence: field(
    draftFields.confidence.unwrap(),
    'Dimensions that change, 0 to 1; null: not known. Default: as before',
  ),
  valid_from: field(time, 'When the new version begins to hold. Default: as before'),
  valid_until: field(time.nullable(), 'When it ceases to hold; null: it has no end. Default: as before'),
  derivation: field(derivation, 'What of the derivation changes; sources replace those before. Default: as before'),
  domains: field(draftFields.domains.unwrap(), 'Domains that it belongs to, at most 20. Default: as before'),
  visibility: field(draftFields.visibility.unwrap(), 'Who may see it besides its holder. Default: as before'),
  federation_ids: field(
    draftFields.federation_ids.unwrap(),
    'Federations it is shared with, at most 50. Default: as before',
  ),
  belief_id: id.describe('Current version that the new one follows'),
}

/** A revision of a belief: `belief_id` names the version that it supersedes; the other fields are those that change. */
export const revision = object(revisionFields).refine(isOwnHash, HASH_RULE).refine(isWindow, WINDOW_RULE)
export const supersedeInput = request(
  object({ ...revisionFields, wait })
    .refine(isOwnHash, HASH_RULE)
    .refine(isWindow, WINDOW_RULE),
)
export type Revision = Value<typeof revision>

/** A complete belief as its holder writes it: all fields have values, in normal form. */
export interface BeliefDraft {
  /** Id chosen by the writer. Null: the store creates a new id. */
  readonly id: string | null
  readonly content: string
  readonly contentHash: string
  readonly confidence: Confidence
  readonly validFrom: Instant
  readonly validUntil: Instant | null
  readonly derivation: Derivation
  /** Domains in normal form, each once. */
  readonly domains: readonly string[]
  readonly visibility: Visibility
  /** Ids of the federations with which the belief is shared, ascending, each once; empty unless the visibility is federated. */
  readonly federationIds: readonly string[]
}

/**
 * Completes the given beliefs to drafts, in the given order. `asOf`: start of validity where the writer gives none. `at` returns the
 * beginning of the field path of each belief, for errors. Throws INVALID_QUERY with one fault for each belief whose validity ends before it
 * begins.
 */
export function toDrafts(
  beliefs: readonly Value<typeof newBelief>[],
  asOf: Instant,
  at: (index: number) => string = () => '',
): readonly BeliefDraft[] {
  const drafts = beliefs.map(belief => toDraft(belief, asOf))
  const [first, ...rest] = drafts.flatMap((draft, index) => windowFaults(draft, at(index)))
  if (first !== undefined) throw faulty([first, ...rest])
  return drafts
}

function toDraft(given: Value<typeof newBelief>, asOf: Instant): BeliefDraft {
  return {
    id: given.id ?? null,
    content: given.content,
    contentHash: sha256(given.content),
    confidence: { ...DEFAULT_CONFIDENCE, ...known(given.confidence) },
    validFrom: given.valid_from === undefined ? asOf : toInstant(given.valid_from),
    validUntil: toInstantOrNull(given.valid_until),
    derivation: toDerivation(given.derivation ?? {}),
    domains: normalDomains(given.domains ?? []),
    visibility: toVisibility(given.visibility),
    federationIds: ascending(given.federation_ids ?? []),
  }
}

/**
 * Applies a revision to the previous version of a belief. Throws INVALID_QUERY if a changed field contradicts a field that stays unchanged.
 */
export function revised(old: BeliefDraft, revision: Revision): BeliefDraft {
  const { content = old.content, content_hash: hash, valid_until: until, federation_ids: ids } = revision
  const visibility = revision.visibility === undefined ? old.visibility : toVisibility(revision.visibility)
  const draft: BeliefDraft = {
    id: revision.id ?? null,
    content,
    contentHash: sha256(content),
    confidence: { ...old.confidence, ...known(revision.confidence) },
    validFrom: revision.valid_from === undefined ? old.validFrom : toInstant(revision.valid_from),
    validUntil: until === undefined ? old.validUntil : toInstantOrNull(until),
    derivation: toDerivation(revision.derivation ?? {}, old.derivation),
    domains: revision.domains === undefined ? old.domains : normalDomains(revision.domains),
    visibility,
    federationIds: ids === undefined ? (visibility === 'federated' ? old.federationIds : []) : ascending(ids),
  }
  const sharing = { visibility, federation_ids: draft.federationIds }
  const [first, ...rest] = [
    ...(isOwnHash({ content, content_hash: hash })
      ? []
      : [fault('content_hash', 'wrong_hash', hashConstraint({ content }), hash ?? null)]),
    ...windowFaults(draft),
    ...(isSharedRightly(sharing)
      ? []
      : [fault('federation_ids', 'not_federated', sharingConstraint(sharing), JSON.stringify(draft.federationIds))]),
  ]
  if (first !== undefined) throw faulty([first, ...rest])
  return draft
}

/**
 * Completes a derivation: fields that are not given are taken from `before`. The note belongs to the type, so a given type replaces the
 * note as well.
 */
export function toDerivation(given: Value<typeof derivation>, before: Derivation = ASSUMED): Derivation {
  const { type, sources, method_description, confidence_rationale } = given
  const isKnown = type === undefined ? before.type : DERIVATION_TYPES.find(known => known === type.toLowerCase())
  const note = type === undefined ? before.note : isKnown === undefined ? type : null
  return {
    type: isKnown ?? 'inference',
    sources:
      sources?.map(({ belief_id = null, external_ref = null, contribution_type = 'primary', weight = 1 }) => {
        return { belief_id, external_ref, contribution_type: anyCase(contribution_type), weight }
      }) ?? before.sources,
    method_description: method_description === undefined ? before.method_description : method_description,
    confidence_rationale: confidence_rationale === undefined ? before.confidence_rationale : confidence_rationale,
    note: given.note === undefined ? note : (given.note ?? (isKnown === undefined ? (type as string) : null)),
  }
}

/** Derivation of a belief whose writer gives none: an assumption without sources. */
const ASSUMED: Derivation = {
  type: 'assumption',
  sources: [],
  method_description: null,
  confidence_rationale: null,
  note: null,
}

function windowFaults({ validFrom, validUntil }: BeliefDraft, path = ''): readonly Fault[] {
  if (validUntil === null || validUntil > validFrom) return []
  const constraint = windowConstraint({ valid_from: toIso(validFrom) })
  return [fault(`${path}valid_until`, 'valid_window', constraint, toIso(validUntil))]
}

function fault(path: string, reason: string, constraint: string, value: string | null): Fault {
  return { code: 'INVALID_QUERY', path, constraint, reason, value }
}

/** A visibility that is not known counts as private, so that a misspelled word never makes a belief visible to more agents (BQ-010). */
function toVisibility(given: string = 'private'): Visibility {
  return VISIBILITIES.find(known => known === given.toLowerCase()) ?? 'private'
}

function known(given: Readonly<Record<string, number | null | undefined>> = {}): Partial<Confidence> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

function ascending(ids: readonly string[]): readonly string[] {
  return [...new Set(ids)].sort(compareText)
}

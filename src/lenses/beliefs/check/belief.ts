/** Checks what a holder writes (BQ-002, BQ-006 to BQ-013). */
import { sha256 } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import { compareText } from '../../../base/compare.ts'
import { isStorable } from '../../../base/storable.ts'
import { DEFAULT_CONFIDENCE } from '../measures/confidence.ts'
import { type Dimension, VISIBILITIES, type Visibility } from '../model.ts'
import type { BeliefDraft, BeliefRevision } from './checked.ts'
import { ASSUMED, derivation } from './derivation.ts'
import { bounded, type Check, checked, checkedParts, type Place } from './faults.ts'
import { isRecord, listOf, type Members, members, orNull, uniqueItems } from './shapes.ts'
import { boolean, domain, id, instant, numberIn, SHARE } from './values.ts'

/** `asOf`: from when it is valid where the writer does not say. Throws INVALID_QUERY with all faults. */
export function checkDraft(input: unknown, asOf: Instant, path = ''): BeliefDraft {
  return checked(
    input,
    (value, at) => {
      const given = members(value, at, DRAFT, { required: ['content'] })
      return given && completed(given, asOf, at)
    },
    path,
  )
}

/** One belief, or in `beliefs` many. */
interface CheckedPut {
  readonly drafts: readonly BeliefDraft[]
  readonly isMany: boolean
  /** Whether to wait for vectors. */
  readonly wait: boolean
}

/** Throws INVALID_QUERY with the faults of all of them. */
export function checkPut(input: unknown, asOf: Instant): CheckedPut {
  return checkedParts(input, (value, at) => {
    if (isRecord(value) && value['beliefs'] !== undefined) return manyDrafts(value, at, asOf)
    return bounded<CheckedPut>((whole, place) => {
      const given = members(whole, place, { ...DRAFT, wait: boolean }, { required: ['content'] })
      const draft = given && completed(given, asOf, place)
      return draft && { drafts: [draft], isMany: false, wait: given.wait ?? true }
    })(value, at)
  })
}

/** Beside a list of drafts stands nothing that is of one: no word of it is passed over. */
function manyDrafts(input: unknown, at: Place, asOf: Instant): CheckedPut | undefined {
  const draft: Check<BeliefDraft> = (value, place) => {
    const given = members(value, place, DRAFT, { required: ['content'] })
    return given && completed(given, asOf, place)
  }
  const alone = 'no such member beside "beliefs": each of them has its own'
  const shape = { beliefs: listOf(bounded(draft), Number.POSITIVE_INFINITY), wait: bounded(boolean) }
  const given = members(input, at, shape, { unknown: (_, place) => !place.fault('not_alone', alone) })
  return given && { drafts: given.beliefs ?? [], isMany: true, wait: given.wait ?? true }
}

interface CheckedSupersede {
  readonly revision: BeliefRevision
  /** Whether to wait for vectors. */
  readonly wait: boolean
}

/** A revision, and whether to wait. */
export function checkSupersede(input: unknown): CheckedSupersede {
  return checked(input, (value, at) => {
    const given = members(value, at, { ...REVISION, wait: boolean }, { required: ['belief_id'] })
    const revision = given && soundRevision(given, at)
    return revision && { revision, wait: given.wait ?? true }
  })
}

/** `belief_id`, which is the version that it follows, and whatever changes. */
export function checkRevision(input: unknown, path = ''): BeliefRevision {
  return checked(
    input,
    (value, at) => {
      const given = members(value, at, REVISION, { required: ['belief_id'] })
      return given && soundRevision(given, at)
    },
    path,
  )
}

/** The old version with the changes; throws INVALID_QUERY where they do not go with what stays. */
export function revised(old: BeliefDraft, revision: BeliefRevision): BeliefDraft {
  return checked(null, (_, at) => {
    const content = revision.content ?? old.content
    const visibility = revision.visibility ?? old.visibility
    const validFrom = revision.validFrom ?? old.validFrom
    const validUntil = revision.validUntil === undefined ? old.validUntil : revision.validUntil
    checkHash(content, revision.contentHash, at)
    checkWindow(validFrom, validUntil, at)
    const federationIds = revision.federationIds ?? (visibility === 'federated' ? old.federationIds : [])
    checkFederations(visibility, federationIds, at)
    return {
      id: revision.id,
      content,
      contentHash: sha256(content),
      confidence: { ...old.confidence, ...revision.confidence },
      validFrom,
      validUntil,
      derivation: revision.derivation ?? old.derivation,
      domains: revision.domains ?? old.domains,
      visibility,
      federationIds,
    }
  })
}

/** In bytes of UTF-8. */
const MAX_CONTENT_BYTES = 65_536
const MAX_DOMAINS = 20

const MOST_FEDERATIONS = 50

const dimension: Check<number | null> = orNull(numberIn(SHARE))
const CONFIDENCE: Readonly<Record<Dimension, Check<number | null>>> = {
  source_reliability: dimension,
  method_quality: dimension,
  internal_consistency: dimension,
  temporal_freshness: dimension,
  corroboration: dimension,
  domain_applicability: dimension,
}

const DRAFT = {
  id,
  content,
  content_hash: contentHash,
  confidence: (value: unknown, at: Place) => members(value, at, CONFIDENCE),
  valid_from: instant,
  valid_until: orNull(instant),
  derivation,
  domains: listOf(domain, MAX_DOMAINS, 'domains'),
  visibility,
  federation_ids: listOf(id, MOST_FEDERATIONS, 'federations'),
}

const REVISION = { belief_id: id, ...DRAFT }

type Given = Members<typeof DRAFT>

function soundRevision(given: Members<typeof REVISION>, at: Place): BeliefRevision | undefined {
  checkHash(given.content, given.content_hash, at)
  return given.belief_id === undefined ? undefined : revisionOf(given.belief_id, given)
}

function completed(given: Given, asOf: Instant, at: Place): BeliefDraft | undefined {
  const { content: words, valid_from: validFrom = asOf, valid_until: validUntil = null } = given
  const level = given.visibility ?? 'private'
  const federationIds = ascending(given.federation_ids ?? [])
  checkHash(words, given.content_hash, at)
  checkWindow(validFrom, validUntil, at)
  checkFederations(level, federationIds, at)
  if (words === undefined) return undefined
  return {
    id: given.id ?? null,
    content: words,
    contentHash: sha256(words),
    confidence: { ...DEFAULT_CONFIDENCE, ...given.confidence },
    validFrom,
    validUntil,
    derivation: given.derivation ?? ASSUMED,
    domains: uniqueItems(given.domains ?? []),
    visibility: level,
    federationIds,
  }
}

function revisionOf(of: string, given: Given): BeliefRevision {
  return {
    of,
    id: given.id ?? null,
    content: given.content,
    contentHash: given.content_hash,
    confidence: given.confidence,
    validFrom: given.valid_from,
    validUntil: given.valid_until,
    derivation: given.derivation,
    domains: given.domains && uniqueItems(given.domains),
    visibility: given.visibility,
    federationIds: given.federation_ids && ascending(given.federation_ids),
  }
}

function content(value: unknown, at: Place): string | undefined {
  const expected = `text of 1 to ${MAX_CONTENT_BYTES} bytes of UTF-8`
  if (typeof value !== 'string') return at.fault('type', expected, value)
  if (!isStorable(value)) return at.fault('malformed', `${expected}, without NUL and half surrogate pairs`, value)
  const bytes = new TextEncoder().encode(value).length
  return bytes >= 1 && bytes <= MAX_CONTENT_BYTES ? value : at.fault('range', `${expected} (it has ${bytes})`, value)
}

/** What is no level of ours is private: nobody sees more for a word that we do not know (BQ-010). */
function visibility(value: unknown, at: Place): Visibility | undefined {
  if (typeof value !== 'string') return at.fault('type', `one of ${VISIBILITIES.join(', ')}`, value)
  return VISIBILITIES.find(level => level === value.toLowerCase()) ?? 'private'
}

function contentHash(value: unknown, at: Place): string | undefined {
  const isHash = typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
  return isHash
    ? value
    : at.fault('malformed', 'the SHA-256 of the content, as 64 lower-case hexadecimal digits', value)
}

function checkHash(words: string | undefined, hash: string | undefined, at: Place): void {
  if (words === undefined || hash === undefined || sha256(words) === hash) return
  at.member('content_hash').fault('wrong_hash', `the SHA-256 of the content (${sha256(words)}), or none`, hash)
}

function checkWindow(validFrom: Instant, validUntil: Instant | null, at: Place): void {
  if (validUntil === null || validUntil > validFrom) return
  const expected = `a time after valid_from, ${new Date(validFrom).toISOString()}, or null`
  at.member('valid_until').fault('valid_window', expected, new Date(validUntil).toISOString())
}

function checkFederations(level: Visibility, federationIds: readonly string[], at: Place): void {
  if (level === 'federated' || federationIds.length === 0) return
  const expected = `none, as the visibility is ${level}; to share it say "visibility": "federated"`
  at.member('federation_ids').fault('not_federated', expected, federationIds)
}

function ascending(ids: readonly string[]): readonly string[] {
  return uniqueItems(ids).toSorted(compareText)
}

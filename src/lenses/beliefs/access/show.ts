/** A version as its requester is shown it (BQ-090, BQ-099, BQ-104): nothing in it names what the requester may not see. */
import type { EntryKey } from '../../../model/entry.ts'
import { toIso } from '../../../model/instant.ts'
import type { Belief, BeliefSource, Derivation, DerivationSource } from '../model.ts'
import type { Guest } from '../nodes/guest.ts'
import { comesFromSame, currentOfKeys, historyOf, mayName, type SeenVersion, type View } from '../record/read.ts'
import { namedBy, withoutHolder } from '../record/references.ts'
import { audienceOf, pastVersion, type StoredVersion } from '../record/version.ts'
import { VERSIONS } from '../tables.ts'
import type { TrustedAs } from '../trust/trust-in.ts'
import { pseudonymOf } from './pseudonym.ts'
import { ALL_SOURCES, type EnabledSources } from './requester.ts'

/** A view, with what pseudonyms are made with and which vectors count. */
export interface ShowView extends View {
  secret(): string
  /** Key of the embedder's model; null: there is none. */
  readonly model: string | null
  /** Which of its beliefs came from other nodes; absent: none can. */
  readonly guests?: ReadonlyMap<EntryKey, Guest> | undefined
  /** Whether a current belief has its vector by now. */
  isEmbedded(entry: EntryKey): boolean
}

export interface ShownBelief {
  readonly entry: EntryKey
  readonly belief: Belief
  readonly version: StoredVersion
  readonly source: BeliefSource
  /** Whose trust counted, of a belief that came from another node. */
  readonly trustedAs?: TrustedAs | undefined
}

/**
 * Current beliefs of these keys, in the order asked for; what the requester may not see (now) is left out, as is what no
 * enabled source has. This is the second check of the matrix (BQ-095): made with a view of its own, it is as of then.
 */
export function showCurrent(
  view: ShowView,
  keys: readonly EntryKey[],
  enabled: EnabledSources = ALL_SOURCES,
): readonly ShownBelief[] {
  return currentOfKeys(view, keys).flatMap(seen => {
    const source = sourceOfSeen(view, seen, enabled)
    if (source === null || seen.entry === null) return []
    return [{ entry: seen.entry.key, belief: showBelief(view, seen, source), version: seen.version, source }]
  })
}

/** Where a version comes from; of the past: by the audience it had. Null: no enabled source has it. */
export function sourceOfSeen(
  { requester }: View,
  { version, entry }: SeenVersion,
  enabled: EnabledSources = ALL_SOURCES,
): BeliefSource | null {
  if (entry !== null) return requester.sourceOf(entry.partition, version.holder, enabled)
  return requester.sourceOfAudience(audienceOf(version), enabled)
}

/** The versions of a past that may be seen, as it was read: newest first. Each read on its own would read the others again. */
export function showHistory(view: ShowView, history: readonly SeenVersion[]): readonly Belief[] {
  return history.flatMap((seen, at) => {
    view.time?.check()
    const source = sourceOfSeen(view, seen)
    return source === null ? [] : [showBelief(view, seen, source, numberAmong(view, history, at))]
  })
}

/** A version that the requester may see, as it comes from this source. */
export function showBelief(
  view: ShowView,
  { version, entry, model }: SeenVersion,
  source: BeliefSource,
  number: number = shownNumber(view, version),
): Belief {
  const { requester } = view
  const isOwn = version.holder === requester.id
  const vector = entry === null ? model : view.isEmbedded(entry.key) ? view.model : null
  return {
    id: version.id,
    version: number,
    content: version.content,
    content_hash: version.contentHash,
    confidence: version.confidence,
    valid_from: toIso(version.validFrom ?? version.createdAt),
    valid_until: isoOrNull(version.validUntil),
    derivation: shownDerivation(view, version),
    domains: version.domains,
    visibility: version.visibility,
    federation_ids: isOwn ? version.federationIds : requester.federationsOfAudience(audienceOf(version)),
    holder_id: shownHolder(view, version.holder, source),
    created_at: toIso(version.createdAt),
    supersedes: shownPredecessor(view, version),
    superseded_by: version.supersededBy,
    embedding_model: vector,
    deleted_at: isoOrNull(version.deletedAt),
  }
}

/** The holder's name, or a pseudonym where another is met through a federation; null where that is strict (BQ-099). */
export function shownHolder(view: ShowView, holder: string, source: BeliefSource): string | null {
  if (source.kind !== 'federated' || source.id === null || holder === view.requester.id) return holder
  if (view.requester.isStrict(source.id)) return null
  return pseudonymOf(view.secret(), source.id, view.requester.id, holder)
}

/**
 * Without the sources that may not be seen, which read like those that nobody holds; of one with a reference to the world
 * outside, that stays.
 */
function shownDerivation(view: View, { derivation, holder }: StoredVersion): Derivation {
  const sources = derivation.sources.flatMap((kept): readonly DerivationSource[] => {
    const source = withoutHolder(kept)
    const named = namedBy(kept, holder)
    if (source.belief_id === null || (named !== null && mayName(view, named))) return [source]
    return source.external_ref === null ? [] : [{ ...source, belief_id: null }]
  })
  return { ...derivation, sources }
}

/** Counted over the versions that the requester may read: the number tells of no others (BQ-112). */
function shownNumber(view: View, { holder, chain, id, version }: StoredVersion): number {
  if (version === 1 || holder === view.requester.id) return version
  const readable = historyOf(view, holder, chain)
  return readable.length - readable.findIndex(each => each.version.id === id)
}

/** The same, of one in a history that was read. */
function numberAmong({ requester }: View, history: readonly SeenVersion[], at: number): number {
  const { version } = history[at] as SeenVersion
  return version.version === 1 || version.holder === requester.id ? version.version : history.length - at
}

/** The version before, where it may be seen and its holder is shown alike: this one may be seen. */
function shownPredecessor({ reader, requester }: View, version: StoredVersion): string | null {
  const { holder, supersedes: id } = version
  if (id === null || holder === requester.id) return id
  const row = reader.table(VERSIONS).get({ holder, id })
  return row !== undefined && comesFromSame(requester, pastVersion(row), version) ? id : null
}

function isoOrNull(instant: number | null): string | null {
  return instant === null ? null : toIso(instant)
}

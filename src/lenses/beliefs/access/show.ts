/**
 * Makes the form of a belief's version that its requester may see (BQ-090, BQ-099, BQ-104): it contains no name that the requester may not
 * see. In answers through a federation (BQ-101) a holder has a pseudonym, which is constant for one requester and federation, different for
 * every other pair, and cannot be resolved without the store's secret.
 */
import { canonicalJson } from '../../../base/canonical.ts'
import type { Clock } from '../../../base/clock.ts'
import { Recent } from '../../../base/recent.ts'
import { sign } from '../../../base/sealed.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { QuerentError } from '../../../model/errors.ts'
import { toIso } from '../../../model/instant.ts'
import type { Store, StoreWriter } from '../../../store/store.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import type { Belief, BeliefSource, Derivation, DerivationSource, RankedBelief, ScopeKind } from '../model.ts'
import type { RemoteBelief } from '../nodes/remote-belief.ts'
import { comesFromSame, currentOfKeys, historyOf, mayName, type SeenVersion, type View } from '../record/read.ts'
import { audienceOf, namedBy, pastVersion, type StoredVersion, withoutHolder } from '../record/version.ts'
import { VERSIONS } from '../tables.ts'
import { federationTarget, type TrustedAs } from '../trust/edge.ts'
import { ALL_SOURCES, type EnabledSources, type Requester } from './requester.ts'

const SECRET = 'beliefs.secret'
const SECRET_BYTES = 32
/**
 * Longest time in milliseconds to wait for other processes that write to the store when the secret is stored; short, because a query has a
 * time limit.
 */
const WAIT_MS = 50
const PREFIX = 'holder:'

/**
 * The pseudonym of a holder for one requester and federation: `holder:` and 26 characters. No agent can have such a name, because names
 * contain no colon.
 */
export function pseudonymOf(secret: string, federation: string, requester: string, holder: string): string {
  // The length in the key marks where the requester's name ends; just a precaution, since names contain no blanks.
  return MADE.get(`${secret} ${federation} ${requester.length} ${requester} ${holder}`, () => {
    const name = canonicalJson(['pseudonym', federation, requester, holder])
    return `${PREFIX}${sign(secret, name).slice(0, 26)}`
  })
}

/** Cache of pseudonyms: one holder is shown repeatedly, and the keyed hash costs more than everything else about showing a belief. */
const MADE = new Recent<string, string>(50_000)

/**
 * The store's secret, from which pseudonyms are computed. If the store cannot be written, a random secret is used for as long as the store
 * is open.
 */
export class Secret {
  readonly #store: Store
  readonly #random: (bytes: number) => Uint8Array
  readonly #clock: Clock
  #known: string | null = null

  constructor(store: Store, random: (bytes: number) => Uint8Array, clock: Clock) {
    this.#store = store
    this.#random = random
    this.#clock = clock
  }

  /** Stores a new secret if the store has none. Must not be called during a read of the store. */
  make(): void {
    this.#known ??= this.#store.meta(SECRET) ?? this.#written()
  }

  get value(): string {
    this.#known ??= this.#store.meta(SECRET) ?? this.#fresh()
    return this.#known
  }

  #written(): string {
    const made = this.#fresh()
    const write = (writer: StoreWriter) => {
      const meanwhile = writer.meta(SECRET)
      if (meanwhile === undefined) writer.setMeta(SECRET, made)
      return meanwhile ?? made
    }
    try {
      return this.#store.write(this.#clock.now(), write, WAIT_MS)
    } catch (error) {
      if (!(error instanceof QuerentError)) throw error
      return made
    }
  }

  #fresh(): string {
    return Buffer.from(this.#random(SECRET_BYTES)).toString('base64url')
  }
}

/** A view of the store's beliefs, with what is needed to show them: the secret for pseudonyms, and the model whose vectors count. */
export interface ShowView extends View {
  secret(): string
  /** Identifier of the embedding model whose vectors are used; null: there is no embedder. */
  readonly model: string | null
  /** Beliefs in the view that came from other nodes, by their temporary entry keys; absent: there are none. */
  readonly remotes?: ReadonlyMap<EntryKey, RemoteBelief> | undefined
  /** Whether the vector of a current belief has been made already. */
  isEmbedded(entry: EntryKey): boolean
}

export interface ShownBelief {
  readonly entry: EntryKey
  readonly belief: Belief
  readonly version: StoredVersion
  readonly source: BeliefSource
  /**
   * Present for a belief seen through a federation or from another node: whether the score used trust in the federation or trust in the
   * belief's holder.
   */
  readonly trustedAs?: TrustedAs | undefined
}

/**
 * The current beliefs with these keys, in the given order. Left out are beliefs that the requester may no longer see, or that come from a
 * kind of source that the query excludes. This is the second check of the visibility matrix (BQ-095), with the permissions of the moment at
 * which the view was made.
 */
export function showCurrent(
  view: ShowView,
  keys: readonly EntryKey[],
  enabled: EnabledSources = ALL_SOURCES,
): readonly ShownBelief[] {
  const { remotes } = view
  const own = currentOfKeys(view, remotes === undefined ? keys : keys.filter(key => !remotes.has(key))).flatMap(
    seen => {
      const source = sourceOfSeen(view, seen, enabled)
      if (source === null || seen.entry === null) return []
      return [{ entry: seen.entry.key, belief: showBelief(view, seen, source), version: seen.version, source }]
    },
  )
  if (remotes === undefined) return own
  const shown = new Map<EntryKey, ShownBelief>(own.map(one => [one.entry, one]))
  return keys.flatMap(key => {
    const remote = remotes.get(key)
    if (remote !== undefined && isLetIn(view, remote)) return [shownRemote(key, remote)]
    return shown.get(key) ?? []
  })
}

/**
 * Whether the requester may still see a belief from another node: if the belief was shared through a federation, the requester must still
 * be allowed to query that federation.
 */
export function isLetIn({ requester }: View, { source }: RemoteBelief): boolean {
  return source.kind !== 'federated' || requester.federations.includes(source.id as string)
}

function shownRemote(entry: EntryKey, remote: RemoteBelief): ShownBelief {
  const { belief, source } = remote
  return { entry, belief, version: remoteVersion(remote), source, trustedAs: trustedAsRemote(remote) }
}

/** Converts a belief from another node to the form in which this store has versions, so that its derivation can be shown. */
function remoteVersion({ belief, source }: RemoteBelief): StoredVersion {
  const { id, content, confidence, derivation, domains, visibility, embedding_model: _, ...rest } = belief
  return {
    // The holder is left empty, because only the other node knows who it is; no agent has an empty name.
    holder: '',
    ...{ id, chain: id, version: 1, content, confidence, domains, visibility },
    contentHash: rest.content_hash,
    validFrom: Date.parse(rest.valid_from),
    validUntil: rest.valid_until === null ? null : Date.parse(rest.valid_until),
    derivation: { ...derivation, sources: derivation.sources.map(each => ({ ...each, holder: null })) },
    federationIds: source.kind === 'federated' && source.id !== null ? [source.id] : [],
    createdAt: Date.parse(rest.created_at),
    supersedes: null,
    supersededBy: null,
    deletedAt: null,
  }
}

/**
 * The source through which the requester sees a version of a belief: own, public, or a federation. Found by the belief's partition; for a
 * past version, which is in no partition, by its audience. Null: the query includes no such source.
 */
export function sourceOfSeen(
  { requester }: View,
  { version, entry }: SeenVersion,
  enabled: EnabledSources = ALL_SOURCES,
): BeliefSource | null {
  if (entry !== null) return requester.sourceOf(entry.partition, version.holder, enabled)
  return requester.sourceOfAudience(audienceOf(version), enabled)
}

/**
 * The versions of a belief's history that the requester may see, newest first. The whole history is passed in, because showing a single
 * version would require reading all others again.
 */
export function showHistory(view: ShowView, history: readonly SeenVersion[]): readonly Belief[] {
  return history.flatMap((seen, at) => {
    view.time?.check()
    const source = sourceOfSeen(view, seen)
    return source === null ? [] : [showBelief(view, seen, source, numberAmong(view, history, at))]
  })
}

/** The form of a belief's version that the requester may see, if the version comes from this source. */
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

/**
 * Name of a belief's holder as the requester sees it: a pseudonym for another holder seen through a federation; null if that federation is
 * strict (BQ-099).
 */
export function shownHolder(view: ShowView, holder: string, source: BeliefSource): string | null {
  if (source.kind !== 'federated' || source.id === null || holder === view.requester.id) return holder
  if (view.requester.isStrict(source.id)) return null
  return pseudonymOf(view.secret(), source.id, view.requester.id, holder)
}

/**
 * The derivation of a belief without the ids of sources that the requester may not see, so that these cannot be distinguished from sources
 * that do not exist. An external reference of such a source is kept.
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

/**
 * Number of the version, counted among the versions that the requester may read, so that it does not reveal how many others exist (BQ-112).
 * A holder sees the true number.
 */
function shownNumber(view: View, { holder, chain, id, version }: StoredVersion): number {
  if (version === 1 || holder === view.requester.id) return version
  const readable = historyOf(view, holder, chain)
  return readable.length - readable.findIndex(each => each.version.id === id)
}

/**
 * Number of the version at an index of a history that was read already, counted among the versions in this history, which are those that
 * the requester may read.
 */
function numberAmong({ requester }: View, history: readonly SeenVersion[], at: number): number {
  const { version } = history[at] as SeenVersion
  return version.version === 1 || version.holder === requester.id ? version.version : history.length - at
}

/**
 * Id of the version before a visible one, if the requester may see that earlier version and sees both from the same source; otherwise null.
 */
function shownPredecessor({ reader, requester }: View, version: StoredVersion): string | null {
  const { holder, supersedes: id } = version
  if (id === null || holder === requester.id) return id
  const row = reader.table(VERSIONS).get({ holder, id })
  return row !== undefined && comesFromSame(requester, pastVersion(row), version) ? id : null
}

function isoOrNull(instant: number | null): string | null {
  return instant === null ? null : toIso(instant)
}

/**
 * Number of active members of the federation who share with it a belief with the same content as the one in this row; at least 1. Beliefs
 * with this content that are private or shared elsewhere do not count.
 */
export function memberCount(columns: BeliefColumns, requester: Requester, row: number, federation: string): number {
  const { partitions, holders } = columns.arrays
  const counted = new Set<number>()
  for (let copy = columns.firstCopy(row); copy !== -1; copy = columns.nextCopy(copy)) {
    const partition = partitions[copy] as number
    if (requester.federationsOf(partition).includes(federation)) counted.add(holders[copy] as number)
  }
  return Math.max(1, counted.size)
}

/**
 * Fields of an answer that say through which node and federation a belief came, and how many members of the federation hold it; empty for a
 * belief of this node that came through no federation.
 */
export function cameThrough(
  { columns, requester, remotes }: ShowView,
  entry: EntryKey,
  { kind, id }: BeliefSource,
): Pick<RankedBelief, 'node' | 'federation_id' | 'member_count'> {
  const remote = remotes?.get(entry)
  const node = remote === undefined ? {} : { node: remote.node }
  if (kind !== 'federated' || id === null) return node
  const count = remote === undefined ? memberCount(columns, requester, columns.rowOf(entry), id) : remote.memberCount
  return { ...node, federation_id: id, member_count: count ?? 1 }
}

/** Whether the requester may see a current belief through a kind of source (own, federated, public) that the query includes. */
export function isSeen(view: ShowView, entry: EntryKey, enabled: EnabledSources): boolean {
  const { columns, requester, remotes } = view
  const remote = remotes?.get(entry)
  if (remote !== undefined) return isLetIn(view, remote)
  const row = columns.rowOf(entry)
  if (row === -1) return false
  return requester.sourceOf(columns.arrays.partitions[row] as number, columns.holderOf(row), enabled) !== null
}

// For rows of the belief columns (the table of current beliefs in memory): finds the source of each row's belief, and the name of its
// holder as the requester sees it.

export class RowOrigins {
  readonly #view: ShowView
  readonly #enabled: EnabledSources
  /** The kinds of sources that the query includes, except the requester's own beliefs (the source `local`). */
  readonly #others: EnabledSources
  /** Cache of shown names of holders, by number of the holder and federation: computing a pseudonym takes longer than a look-up. */
  readonly #shown = new Map<string, string | null>()

  constructor(view: ShowView, enabled: EnabledSources) {
    this.#view = view
    this.#enabled = enabled
    this.#others = { ...enabled, local: false }
  }

  /**
   * The source of the belief in a row of the belief columns (the table of current beliefs in memory). `source`: number of the kind of
   * source (such as LOCAL) by which the query matched the row.
   */
  sourceOf(row: number, source: number): BeliefSource {
    const found = this.#from(row, source === LOCAL ? this.#enabled : this.#others)
    if (found === null) throw new Error('invariant broken: a match without a source')
    return found
  }

  /** Name of a row's holder as the requester sees it: the true name, a pseudonym, or null if the name is hidden. */
  holderShown(row: number, source: number): string | null {
    const { columns } = this.#view
    if (source !== FEDERATED) return columns.holderOf(row)
    const from = this.sourceOf(row, source)
    const key = `${columns.arrays.holders[row]} ${from.id}`
    const known = this.#shown.get(key)
    if (known !== undefined) return known
    const shown = shownHolder(this.#view, columns.holderOf(row), from)
    this.#shown.set(key, shown)
    return shown
  }

  /**
   * Trust in whom counts in the score of the belief in this row, if not trust in its holder: for example trust in a federation. Null: trust
   * in the holder counts.
   */
  trustedAs(row: number, source: number): TrustedAs | null {
    if (source !== FEDERATED) return null
    const { columns, requester } = this.#view
    const from = this.#from(row, this.#others)
    return from === null ? null : trustedThrough(requester, from, columns.holderOf(row))
  }

  #from(row: number, enabled: EnabledSources): BeliefSource | null {
    const { columns, requester } = this.#view
    return requester.sourceOf(columns.arrays.partitions[row] as number, columns.holderOf(row), enabled)
  }
}

/**
 * Trust in whom counts in the score of a belief from this source (BQ-104). Another holder's belief seen through a federation: trust in the
 * federation if it is strict (hides holders), otherwise trust in the holder, reduced to low, medium or high. Null: trust in the holder
 * counts.
 */
export function trustedThrough(requester: Requester, { kind, id }: BeliefSource, holder: string): TrustedAs | null {
  if (kind !== 'federated' || id === null || holder === requester.id) return null
  return { target: federationTarget(id), member: requester.isStrict(id) ? null : holder }
}

/**
 * Trust in whom counts in the score of a belief from another node (BQ-126): trust in the federation through which it came; if it came
 * through none, trust in its holder.
 */
export function trustedAsRemote({ source, belief }: RemoteBelief): TrustedAs {
  const target = source.kind === 'federated' ? federationTarget(source.id as string) : (belief.holder_id as string)
  return { target, member: null }
}

export const LOCAL = 1
export const FEDERATED = 2
export const NETWORK = 3

export const SOURCE_NUMBERS: Readonly<Record<ScopeKind, number>> = {
  local: LOCAL,
  federated: FEDERATED,
  network: NETWORK,
}

/**
 * The form in which one version of a belief is stored. The current version is an entry with a row in the beliefs table; past versions are
 * rows of another table.
 */
import type { Instant } from '../../../base/clock.ts'
import type { ChunkDraft, Entry, EntryDraft } from '../../../model/entry.ts'
import { type Audience, audience } from '../../../model/partition.ts'
import type { Row } from '../../../model/table.ts'
import { DIMENSIONS } from '../dimensions.ts'
import type { Confidence, Derivation, DerivationSource, Visibility } from '../model.ts'
import { COLLECTION, KIND } from '../tables.ts'

/** Permanent name of a version: its holder, and its id, which is unique among the holder's versions. */
export interface VersionName {
  readonly holder: string
  readonly id: string
}

/** A source of a belief in stored form: as given by the writer, with the holder that its belief id was resolved to. */
interface KeptSource extends DerivationSource {
  /**
   * Holder of the belief to which the source's id refers, determined when the version was written. Null: the writer saw no belief with this
   * id. Absent in versions written before holders were stored: the belief is then the writer's own, because nobody else can store a belief
   * under the writer's name.
   */
  readonly holder?: string | null
}

/**
 * A derivation in stored form. Each belief id among its sources refers to one version of one holder (BQ-090, BQ-097). The holder is
 * determined when the derivation is written and stored with the source, so that a belief stored later under an equal id changes nothing.
 */
export interface KeptDerivation extends Derivation {
  readonly sources: readonly KeptSource[]
}

/** The version to which a source of the writer's belief refers. Null: the source names no belief, or none that the writer saw. */
export function namedBy({ belief_id: id, holder: kept }: KeptSource, writer: string): VersionName | null {
  const holder = kept === undefined ? writer : kept
  return id === null || holder === null ? null : { holder, id }
}

/** A source in the form shown to clients, which does not contain the holder. */
export function withoutHolder({ holder: _, ...source }: KeptSource): DerivationSource {
  return source
}

/** The belief versions that a derivation rests on: its sources with contribution type primary or supporting (BQ-053). */
export function parentsIn({ sources }: KeptDerivation, writer: string): readonly VersionName[] {
  const named = sources.flatMap(source => {
    const { contribution_type: contribution } = source
    return contribution === 'primary' || contribution === 'supporting' ? (namedBy(source, writer) ?? []) : []
  })
  return named.filter(({ holder, id }, at) => named.findIndex(each => each.holder === holder && each.id === id) === at)
}

export interface StoredVersion {
  readonly holder: string
  readonly id: string
  /** Id of the belief's first version, by which the chain of all its versions is named; unique per holder. */
  readonly chain: string
  /** Number of this version in its chain, from 1. */
  readonly version: number
  readonly content: string
  readonly contentHash: string
  readonly confidence: Confidence
  /** Start and end of the belief's validity; null: unbounded. */
  readonly validFrom: Instant | null
  readonly validUntil: Instant | null
  readonly derivation: KeptDerivation
  /** Domains of the belief in normal form. */
  readonly domains: readonly string[]
  readonly visibility: Visibility
  readonly federationIds: readonly string[]
  readonly createdAt: Instant
  readonly supersedes: string | null
  /** Id of the version that follows this one. Null: this is the current version, or the tombstone of a deleted belief. */
  readonly supersededBy: string | null
  /** Time at which the belief was deleted; null unless this version is a tombstone. */
  readonly deletedAt: Instant | null
}

/** The current version of a belief together with its entry in the store. */
export interface CurrentBelief {
  readonly entry: Entry
  readonly version: StoredVersion
}

/** Vector of a version of a belief, with the identifier of the embedding model that computed it. */
export interface VersionVector {
  readonly model: string
  readonly vector: Float32Array
}

export function audienceOf({ holder, visibility, federationIds }: StoredVersion): Audience {
  return audience(visibility === 'federated' ? 'shared' : visibility, holder, federationIds, visibility === 'federated')
}

export function visibilityOf({ audience }: Pick<Entry, 'audience'>): Visibility {
  return audience.kind === 'shared' ? 'federated' : audience.kind
}

/** Makes the current version of a belief from its entry and its row in the beliefs table. */
export function currentVersion(entry: Entry, row: Row): StoredVersion {
  const { holder } = entry.audience
  return {
    holder,
    id: entry.id,
    chain: row['chain'] as string,
    version: row['version'] as number,
    content: entry.content,
    contentHash: entry.contentHash,
    confidence: confidenceIn(row),
    validFrom: entry.validFrom,
    validUntil: entry.validUntil,
    derivation: JSON.parse(row['derivation'] as string) as KeptDerivation,
    domains: JSON.parse(row['domains'] as string) as readonly string[],
    visibility: visibilityOf(entry),
    federationIds: entry.audience.kind === 'shared' ? entry.audience.federations : [],
    createdAt: entry.createdAt,
    supersedes: row['supersedes'] as string | null,
    supersededBy: null,
    deletedAt: null,
  }
}

export function entryOf(version: StoredVersion, now: Instant): EntryDraft {
  return {
    id: version.id,
    collection: COLLECTION,
    kind: KIND,
    title: '',
    content: version.content,
    tags: [],
    metadata: {},
    audience: audienceOf(version),
    origin: null,
    createdAt: version.createdAt,
    updatedAt: now,
    validFrom: version.validFrom,
    validUntil: version.validUntil,
    knownAt: now,
  }
}

/**
 * The single chunk of a belief, from which its vector is computed (BQ-031). The embedded text is the content, after a line with the domains
 * if there are any.
 */
export function chunkOf({ content, domains }: Pick<StoredVersion, 'content' | 'domains'>): ChunkDraft {
  const headings = domains.length === 0 ? [] : [domains.join(', ')]
  return { start: 0, end: content.length, startLine: 1, endLine: content.split('\n').length, headings }
}

/** Whether two versions have equal embedded texts (content and domains), so that the vector of one can be used for the other. */
export function sameText(a: StoredVersion, b: StoredVersion): boolean {
  return a.content === b.content && a.domains.join() === b.domains.join()
}

export function aspectRow(version: StoredVersion, entry: number): Row {
  return {
    entry,
    version: version.version,
    chain: version.chain,
    supersedes: version.supersedes,
    domains: JSON.stringify(version.domains),
    ...version.confidence,
    derivation: JSON.stringify(version.derivation),
  }
}

/** Fields of a past version that are stored as JSON in its row: all except those with columns of their own. */
type Recorded = Omit<StoredVersion, 'holder' | 'id' | 'chain' | 'version' | 'supersededBy'>

export function versionRow(version: StoredVersion, at: Instant, embedded: VersionVector | null): Row {
  const { holder, id, chain, version: number, supersededBy, ...recorded } = version
  return {
    holder,
    id,
    chain,
    version: number,
    record: JSON.stringify(recorded satisfies Recorded),
    superseded_by: supersededBy,
    replaced_at: at,
    embedding: embedded && bytesOf(embedded.vector),
    model: embedded?.model ?? null,
  }
}

/** Makes a past version of a belief from its row in the versions table. */
export function pastVersion(row: Row): StoredVersion {
  return {
    ...(JSON.parse(row['record'] as string) as Recorded),
    holder: row['holder'] as string,
    id: row['id'] as string,
    chain: row['chain'] as string,
    version: row['version'] as number,
    supersededBy: row['superseded_by'] as string | null,
  }
}

function confidenceIn(row: Row): Confidence {
  return Object.fromEntries(DIMENSIONS.map(name => [name, row[name] ?? null])) as Confidence
}

/** Encodes a vector as bytes: 32-bit floats, little-endian on every machine. */
function bytesOf(vector: Float32Array): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(vector.length * 4))
  for (const [i, component] of vector.entries()) bytes.setFloat32(i * 4, component, true)
  return new Uint8Array(bytes.buffer)
}

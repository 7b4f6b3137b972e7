/** One version of a belief as it is stored: the current one is an entry with its aspect, all others are rows. */
import type { Instant } from '../../../base/clock.ts'
import type { ChunkDraft, Entry, EntryDraft } from '../../../model/entry.ts'
import { type Audience, audience } from '../../../model/partition.ts'
import type { Row } from '../../../model/table.ts'
import { DIMENSIONS } from '../dimensions.ts'
import type { Confidence, Derivation, DerivationSource, Visibility } from '../model.ts'
import { COLLECTION, KIND } from '../tables.ts'

/** One version of one holder, for ever. */
export interface VersionName {
  readonly holder: string
  readonly id: string
}

/** A source as it is kept. */
interface KeptSource extends DerivationSource {
  /**
   * Who holds the belief of this id that the writer meant; null: the writer saw none. Absent in versions that were written
   * before this was kept: then the writer's own is meant, for nobody else can store one under its name.
   */
  readonly holder?: string | null
}

/**
 * What an id among the sources of a belief names (BQ-090, BQ-097): a version of one holder, settled when it was written and
 * kept with the source, so that a belief that is stored later under the same id changes nothing.
 */
export interface KeptDerivation extends Derivation {
  readonly sources: readonly KeptSource[]
}

/** The version that a source of a belief of the writer's names; null: none, or none that the writer saw. */
export function namedBy({ belief_id: id, holder: kept }: KeptSource, writer: string): VersionName | null {
  const holder = kept === undefined ? writer : kept
  return id === null || holder === null ? null : { holder, id }
}

/** As it is shown: without the holder of the source. */
export function withoutHolder({ holder: _, ...source }: KeptSource): DerivationSource {
  return source
}

/** Sources that a belief rests on: beliefs that were named as primary or supporting (BQ-053). */
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
  /** Id of the first version: names all versions of one belief of one holder. */
  readonly chain: string
  /** From 1. */
  readonly version: number
  readonly content: string
  readonly contentHash: string
  readonly confidence: Confidence
  /** Null: without bound. */
  readonly validFrom: Instant | null
  readonly validUntil: Instant | null
  readonly derivation: KeptDerivation
  /** Normalised. */
  readonly domains: readonly string[]
  readonly visibility: Visibility
  readonly federationIds: readonly string[]
  readonly createdAt: Instant
  readonly supersedes: string | null
  /** Null: it is the current one, or a tombstone. */
  readonly supersededBy: string | null
  /** Of a tombstone. */
  readonly deletedAt: Instant | null
}

/** A current version and its entry. */
export interface CurrentBelief {
  readonly entry: Entry
  readonly version: StoredVersion
}

/** The vector that a version had, and by which model. */
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

/** A current version, from its entry and the row of its aspect. */
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

/** One chunk, so one vector: what is embedded is the line of the domains, if there are any, and the content (BQ-031). */
export function chunkOf({ content, domains }: Pick<StoredVersion, 'content' | 'domains'>): ChunkDraft {
  const headings = domains.length === 0 ? [] : [domains.join(', ')]
  return { start: 0, end: content.length, startLine: 1, endLine: content.split('\n').length, headings }
}

/** Whether both are embedded as the same text. */
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

/** What of a version is in the JSON of its row: all but what the columns say. */
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

/** A version of the past, from its row. */
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

/** Little-endian, whatever the machine. */
function bytesOf(vector: Float32Array): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(vector.length * 4))
  for (const [i, component] of vector.entries()) bytes.setFloat32(i * 4, component, true)
  return new Uint8Array(bytes.buffer)
}

/**
 * Lists the entries that a viewer may see in pages, and counts them for the status. A cursor holds the position of the last entry shown, so
 * pages neither skip nor repeat entries.
 */
import { canonicalJson, type Json, sha256 } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import { compareText } from '../base/compare.ts'
import { Recent } from '../base/recent.ts'
import { type Embedder, modelKey } from '../embed/embedder.ts'
import type { Index, LinkIndex, PointIndex, SearchScope, VectorIndex, WordIndex } from '../index/contract.ts'
import { lensNames } from '../lenses/registry.ts'
import type { AccessState, Entry, EntryKey } from '../model/entry.ts'
import type { Filter } from '../model/filter.ts'
import { toIso } from '../model/instant.ts'
import { DEFAULT_LIMIT } from '../model/limits.ts'
import type { CallContext } from '../model/operation.ts'
import { OWNER } from '../model/partition.ts'
import type { Position } from '../model/query.ts'
import { SUGGESTED_FIELDS, type SuggestedField, type SuggestInput, type Suggestion } from '../model/query-input.ts'
import { type AccessScope, isOwner, type Viewer } from '../model/viewer.ts'
import { noSuchEntry, visibleAudience, visibleOrigin } from '../pipeline/access.ts'
import { readCursor, writeCursor } from '../pipeline/cursor.ts'
import { NoteLinks } from '../pipeline/note-links.ts'
import { noticesFor } from '../pipeline/notices.ts'
import { allOf, filterFromInput } from '../pipeline/resolve-query.ts'
import { turnsUntil } from '../pipeline/time-limit.ts'
import { AGENTS } from '../store/core-tables.ts'
import type { ListPosition, Store, StoreReader, Upkeep } from '../store/store.ts'
import type { EntryName, EntryView, ListInput, ListPage, Status } from './engine.ts'
import { VERSION } from './home.ts'
import type { Parts } from './parts.ts'
import { queryFields, storeSecret } from './question-contexts.ts'

/**
 * In a cursor of a list that is ordered by a time: the position of an entry that does not have that time. In the cursor's JSON it becomes
 * null.
 */
const NO_INSTANT = Number.NaN

type Order = NonNullable<ListInput['order']>

export function listEntries(
  { store, clock, random, tables }: Pick<Parts, 'store' | 'clock' | 'random' | 'tables'>,
  input: ListInput,
  accessScope: AccessScope,
): ListPage {
  const { order = 'updated', limit = DEFAULT_LIMIT } = input
  const filter = input.filter === undefined ? null : allOf(filterFromInput(input.filter, queryFields({ tables })))
  const now = clock.now()
  const seal = { secret: storeSecret(store, random), binding: bindingOf(filter, order, accessScope), now }
  const after = input.cursor === undefined ? null : positionOf(readCursor(input.cursor, seal).position)
  return store.read(reader => {
    const found = reader.list({ accessScope, filter, order, limit: limit + 1, after })
    const shown = found.slice(0, limit)
    const access = reader.access(
      accessScope.viewer,
      shown.map(entry => entry.key),
    )
    const last = found.length > limit ? shown.at(-1) : undefined
    return {
      items: shown.map(entry => viewHead(entry, access.get(entry.key) ?? null, accessScope.viewer, reader)),
      total: filter === null ? countVisible(store, accessScope) : reader.count(accessScope, filter),
      cursor:
        last === undefined
          ? null
          : writeCursor(
              { position: placeOf(last, order, access.get(last.key)?.lastAccessed ?? null), asOf: now, begun: now },
              seal,
            ),
    }
  })
}

/** Hash of viewer, filter and order of a list; a cursor is sealed with this hash, so that the cursor cannot be used for another list. */
function bindingOf(filter: Filter | null, order: Order, accessScope: AccessScope): string {
  return sha256(canonicalJson({ list: order, filter: filter as unknown as Json, viewer: accessScope.viewer.id }))
}

function placeOf(entry: Entry, order: Order, lastAccessed: Instant | null): Position {
  const at = { created: entry.createdAt, updated: entry.updatedAt, accessed: lastAccessed, id: null }[order]
  return {
    order: at ?? NO_INSTANT,
    id: entry.id,
    holder: entry.audience.holder,
    rank: 0,
    depth: 0,
    round: 0,
    shown: '',
  }
}

function positionOf({ order, id, holder }: Position): ListPosition {
  return { at: Number.isFinite(order) ? order : null, id, holder }
}

/** Whether an agent with this id was created in the store; other viewers may still query it. */
export function isAgent(reader: StoreReader, id: string): boolean {
  return reader.table(AGENTS).get({ id }) !== undefined
}

/**
 * The entry with this id that the viewer may see. If several holders have an entry with this id, the viewer's own comes first, then the
 * first by holder. Throws `store_corrupt` if the entry is damaged.
 */
export function requireVisible(reader: StoreReader, id: string, accessScope: AccessScope): Entry {
  const keys = reader.find(id, accessScope.partitions)
  const entries = reader.entries(keys)
  const entry = entries.find(candidate => candidate.audience.holder === accessScope.viewer.id) ?? entries[0]
  if (entry === undefined) throw noSuchEntry(reader, id, accessScope)
  return entry
}

/** Converts an entry to the form that callers see: times as ISO 8601 texts instead of instants, field names in snake_case. */
export function viewEntry(
  entry: Entry,
  access: AccessState | null,
  accessScope: AccessScope,
  reader: StoreReader,
): EntryView {
  const links = new NoteLinks(reader, accessScope)
  return {
    ...viewHead(entry, access, accessScope.viewer, reader),
    content: entry.content,
    links: namesOfEntries(links.linksOf(entry.key), reader),
    backlinks: namesOfEntries(links.backlinksOf(entry.key), reader),
  }
}

/** Maximum number of links shown with an entry; all of them are found by a query with `linked:`. */
const MAX_LINKS = 100

/** Ids and titles of the entries with these keys, sorted by title. */
function namesOfEntries(keys: readonly EntryKey[], reader: StoreReader): readonly EntryName[] {
  const names = reader.entries(keys).map(({ id, title }) => ({ id, title }))
  return names.sort((a, b) => compareText(a.title, b.title) || compareText(a.id, b.id)).slice(0, MAX_LINKS)
}

/** Converts an entry to the form for lists, which leaves out the content. */
function viewHead(
  entry: Entry,
  access: AccessState | null,
  viewer: Viewer,
  reader: StoreReader,
): ListPage['items'][number] {
  return {
    id: entry.id,
    holder: entry.audience.holder,
    audience: visibleAudience(entry.audience, viewer, reader),
    collection: entry.collection,
    kind: entry.kind,
    title: entry.title,
    tags: entry.tags,
    metadata: entry.metadata,
    origin: visibleOrigin(entry, viewer, reader),
    created_at: toIso(entry.createdAt),
    updated_at: toIso(entry.updatedAt),
    valid_from: entry.validFrom === null ? null : toIso(entry.validFrom),
    valid_until: entry.validUntil === null ? null : toIso(entry.validUntil),
    known_at: toIso(entry.knownAt),
    access:
      access === null
        ? null
        : { last_accessed: toIso(access.lastAccessed), count: access.count, strength: access.strength },
  }
}

/**
 * Maximum number of cached entry counts. A count is cached for each set of partitions (parts of the store with equal access) that some
 * viewer may read.
 */
const SCOPES = 100

interface Kept {
  readonly version: number
  readonly counts: Recent<string, number>
}

const known = new WeakMap<Store, Kept>()

/**
 * Number of entries that a viewer may see. The number is shown on every page of a list, and counting a million entries takes a tenth of a
 * second, so it is cached until the next commit.
 */
export function countVisible(store: Store, accessScope: AccessScope): number {
  const version = store.version()
  let kept = known.get(store)
  if (kept?.version !== version) kept = { version, counts: new Recent(SCOPES) }
  known.set(store, kept)
  return kept.counts.get(accessScope.partitions.join(), () => store.count(accessScope, null))
}

/**
 * Default number of suggested completions for each field. Only names from entries that the viewer may see are suggested, so that none
 * reveals a hidden entry.
 */
const DEFAULT_SUGGESTIONS = 10
/** Maximum number of different values of a field that are compared with the typed prefix: the most frequent values. */
const MAX_COMPARED = 10_000

type Named = Pick<Suggestion, 'value' | 'count'>

export function suggest(store: Store, input: SuggestInput, accessScope: AccessScope): readonly Suggestion[] {
  const { prefix = '', fields = SUGGESTED_FIELDS, limit = DEFAULT_SUGGESTIONS } = input
  const begin = prefix.toLowerCase()
  return SUGGESTED_FIELDS.filter(field => fields.includes(field)).flatMap(field =>
    namesOf(store, field, accessScope)
      .filter(({ value }) => value.toLowerCase().startsWith(begin))
      .slice(0, limit)
      .map(({ value, count }) => ({ field, value, count })),
  )
}

function namesOf(store: Store, field: SuggestedField, accessScope: AccessScope): readonly Named[] {
  if (field !== 'holder') return store.facet(accessScope, field, MAX_COMPARED)
  return isOwner(accessScope.viewer) ? holdersOf(store, accessScope) : []
}

/**
 * Names of the holders (owners) of entries, for completion. Two kinds are missing: the local owner, whose name nobody has to choose in
 * order to act as the owner; and holders with public entries only, because the partition of public entries does not record their holders.
 */
function holdersOf(store: Store, accessScope: AccessScope): readonly Named[] {
  const held = Map.groupBy(store.partitions(), ({ audience }) => audience.holder)
  held.delete(OWNER)
  return [...held]
    .map(([value, parts]) => ({
      value,
      count: countVisible(store, { ...accessScope, partitions: parts.map(({ id }) => id) }),
    }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
}

/** Maximum number of collections listed, the largest first. */
const MAX_COLLECTIONS = 100

/** The status of the engine. Loads every index, with pauses; the result reflects the moment after the last pause. */
export async function statusOf(
  { store, home, embedder, embedderError, indexes, registry, files }: Parts,
  look: () => AccessScope,
  { viewer, signal }: Pick<CallContext, 'viewer' | 'signal'>,
): Promise<Status> {
  const owner = isOwner(viewer)
  const paths = owner ? files.statesOf(await files.look({ signal })) : null
  await turnsUntil(signal).run(indexes.getInSteps(...indexes.names))
  const accessScope = look()
  const { partitions } = accessScope
  return {
    version: VERSION,
    home: owner ? home : null,
    entries: countVisible(store, accessScope),
    chunks: store.countChunks(partitions),
    embedded: embedder === null ? 0 : store.countVectors(modelKey(embedder.model), partitions),
    collections: store.facet(accessScope, 'collection', MAX_COLLECTIONS),
    embedder: embedder === null ? null : embedderOf(embedder),
    embedder_error: owner || embedderError === null ? embedderError : 'there is no embedder at the moment',
    indexes: indexes.all.map(index => ({
      name: index.name,
      bytes: owner ? index.byteLength : null,
      rows: rowsOf(index, { partitions }),
    })),
    lenses: lensNames(registry.all),
    notices: noticesFor(store, accessScope.viewer),
    storage: owner && store.upkeep !== undefined ? storageOf(store.upkeep) : null,
    paths,
  }
}

function embedderOf({ model, runsOn }: Embedder): Status['embedder'] {
  return { id: model.id, dimensions: model.dimensions, runs_on: runsOn?.() ?? null }
}

function storageOf(upkeep: Upkeep): Status['storage'] {
  return { log_bytes: upkeep.log()?.bytes ?? 0, to_erase: upkeep.forgotten()?.isErased === false }
}

/** Number of rows in an index, for the status; for a graph, the number of its links. Null: the index has no count. */
function rowsOf(index: Index, scope: SearchScope): number | null {
  if (!('count' in index)) return null
  const counted = (index as WordIndex | VectorIndex | PointIndex | LinkIndex).count(scope)
  return typeof counted === 'number' ? counted : counted.links
}

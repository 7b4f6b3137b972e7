/**
 * Reads beliefs by id, and their earlier versions (BQ-004, BQ-005, BQ-011), with the requester's permissions: the result for a hidden
 * belief is equal to that for one that does not exist.
 */
import { compareText } from '../../../base/compare.ts'
import type { Entry, EntryKey } from '../../../model/entry.ts'
import { toIso } from '../../../model/instant.ts'
import type { PartitionId } from '../../../model/partition.ts'
import type { Row } from '../../../model/table.ts'
import { nearVisibleIds } from '../../../pipeline/access.ts'
import type { StoreReader } from '../../../store/store.ts'
import type { Requester } from '../access/requester.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import { type BeliefsError, noSuchBelief } from '../errors.ts'
import { overall } from '../measures/confidence.ts'
import type { ChainLink, Contribution, DerivationChain } from '../model.ts'
import { BELIEFS, VERSIONS } from '../tables.ts'
import type { TimeLimit } from '../time-limit.ts'
import {
  audienceOf,
  type CurrentBelief,
  currentVersion,
  namedBy,
  pastVersion,
  type StoredVersion,
  type VersionName,
} from './version.ts'

/** The current belief of this holder with this id; undefined if the holder has none, even if another holder does. */
export function currentOf(reader: StoreReader, holder: string, id: string): CurrentBelief | undefined {
  const keys = reader.find(id, partitionsOf(reader, holder))
  const identity = reader.identities(keys).find(found => found.holder === holder)
  const entry = identity && reader.entry(identity.key)
  const row = entry && reader.table(BELIEFS).get({ entry: entry.key })
  return entry && row && { entry, version: currentVersion(entry, row) }
}

/** Partitions that can contain beliefs of this holder: the holder's own partitions, and the public ones. */
function partitionsOf(reader: StoreReader, holder: string): readonly PartitionId[] {
  const own = reader.partitions().filter(({ audience }) => audience.kind === 'public' || audience.holder === holder)
  return own.map(({ id }) => id)
}

/** The error if the holder never had a belief with this id; it suggests similar ids of the holder's own beliefs. */
export function notHeld(reader: StoreReader, holder: string, id: string, path: string): BeliefsError {
  const scope = { viewer: { id: holder }, partitions: partitionsOf(reader, holder) }
  const near = nearVisibleIds(reader, id, scope).filter(like => currentOf(reader, holder, like) !== undefined)
  return noSuchBelief(path, 'the id of a belief that you hold', near)
}

/** Columns read for a past version: all except its vector, which is large. */
const PAST_COLUMNS = VERSIONS.columns.map(({ name }) => name).filter(name => name !== 'embedding')

/** One view of the store for a requester: a reader, the requester's permissions, and columns that were brought up to date just before. */
export interface View {
  readonly reader: StoreReader
  readonly requester: Requester
  readonly columns: BeliefColumns
  /** Time limit for reading; absent: no limit. */
  readonly time?: TimeLimit | undefined
}

/** A version that the requester may see, with its entry if it is the current one. */
export interface SeenVersion {
  readonly version: StoredVersion
  readonly entry: Entry | null
  /** For a past version, the model that made its stored vector; null: it has no vector, or the version is current. */
  readonly model: string | null
}

/**
 * The row of the current belief to which an id in a request refers; -1: none. If several holders use the id, the requester's own belief is
 * taken, otherwise the oldest visible one (at equal age by holder's name), so that nobody can take over an id by reusing it.
 * Not used for the ids of a belief's sources, whose meaning was fixed at writing.
 */
export function rowOfId({ requester, columns }: Omit<View, 'reader'>, id: number): number {
  if (id === -1) return -1
  const own = columns.texts.holderNumber(requester.id)
  let best = -1
  for (let row = columns.firstOfId(id); row !== -1; row = columns.nextOfId(row)) {
    const { partitions, holders } = columns.arrays
    if (!requester.sees(partitions[row] as number)) continue
    if (best === -1 || (holders[best] !== own && (holders[row] === own || comesBefore(columns, row, best)))) best = row
  }
  return best
}

/** A belief by id; with `past`, also past versions. Undefined: none exists, or the requester may not see it. */
export function versionOfId(view: View, id: string, past: boolean): SeenVersion | undefined {
  const { columns } = view
  const row = rowOfId(view, columns.texts.idNumber(id))
  const current = row === -1 ? undefined : currentOfKeys(view, [columns.arrays.entries[row] as number])[0]
  if (current !== undefined || !past) return current
  const found = view.reader.table(VERSIONS).scan({ id }, { columns: ['holder', 'chain'] })
  const isOwn = (row: Row) => row['holder'] === view.requester.id
  const rows = [...found].sort((a, b) => Number(isOwn(b)) - Number(isOwn(a)))
  for (const { holder, chain } of rows) {
    if (!mayHaveHistory(view, holder as string, chain as string)) continue
    const seen = historyOf(view, holder as string, chain as string).find(({ version }) => version.id === id)
    if (seen !== undefined) return seen
  }
  return undefined
}

/**
 * The error for an id that does not exist or that the requester may not see, equal for both (BQ-097); it suggests similar ids of visible
 * beliefs.
 */
export function notSeen({ reader, requester, columns }: View, id: string, path = 'belief_id'): BeliefsError {
  const isBelief = (near: string) => rowOfId({ requester, columns }, columns.texts.idNumber(near)) !== -1
  const near = nearVisibleIds(reader, id, requester.accessScope).filter(isBelief)
  return noSuchBelief(path, 'the id of a belief that you may see', near)
}

/**
 * Whether the requester may see earlier versions of a belief: its holder always may, others only if the belief still exists and they may
 * see it.
 */
function mayHaveHistory({ requester, columns }: View, holder: string, chain: string): boolean {
  if (holder === requester.id) return true
  const row = columns.rowOfChain(holder, chain)
  return row !== -1 && requester.sees(columns.arrays.partitions[row] as number)
}

/** The version, current or past, with this holder and this id. Undefined: none exists, or the requester may not see it. */
export function versionNamed(view: View, { holder, id }: VersionName): SeenVersion | undefined {
  const { columns, reader } = view
  const row = rowNamed(view, { holder, id })
  if (row !== -1) return currentOfKeys(view, [columns.arrays.entries[row] as number])[0]
  const [past] = reader.table(VERSIONS).scan({ holder, id }, { columns: ['chain'] })
  if (past === undefined) return undefined
  return historyOf(view, holder, past['chain'] as string).find(({ version }) => version.id === id)
}

/** Whether an id may be shown to the requester: it must belong to a version that the requester may see. */
export function mayName(view: View, name: VersionName): boolean {
  const row = rowNamed(view, name)
  if (row !== -1) return view.requester.sees(view.columns.arrays.partitions[row] as number)
  return versionNamed(view, name) !== undefined
}

function rowNamed({ columns }: View, { holder, id }: VersionName): number {
  return columns.rowOfVersion(columns.texts.holderNumber(holder), columns.texts.idNumber(id))
}

/** Current beliefs with these entry keys that the requester may see, in the order of the keys. */
export function currentOfKeys({ reader, requester, columns }: View, keys: readonly EntryKey[]): readonly SeenVersion[] {
  return columns.versions
    .get(reader, keys)
    .filter(({ entry }) => requester.sees(entry.partition))
    .map(({ entry, version }) => ({ entry, version, model: null }))
}

/**
 * The versions of one belief that the requester may see, newest first. Its holder sees all of them. Others see versions back to the first
 * one that is hidden from them, or that came to them through another source than the newest. So a belief that was deleted or whose audience
 * was reduced cannot be read through its history, and a history never reveals the holder behind a pseudonym or links two pseudonyms.
 */
export function historyOf(
  { reader, requester, time }: Omit<View, 'columns'>,
  holder: string,
  chain: string,
): readonly SeenVersion[] {
  // The time limit is checked here, because a belief may have any number of versions.
  time?.check()
  const past = pastOf(reader, holder, chain)
  const next = past.length === 0 ? chain : (past.at(-1)?.version.supersededBy ?? null)
  const current = next === null ? undefined : currentOf(reader, holder, next)
  const all = [...past, ...(current === undefined ? [] : [{ ...current, model: null }])].reverse()
  if (holder === requester.id) return all
  if (current === undefined) return []
  const end = all.findIndex(({ version }) => !comesFromSame(requester, version, current.version))
  return end === -1 ? all : all.slice(0, end)
}

/**
 * Whether two versions reach the requester through the same source (own, one federation, or network). If so, the requester sees both under
 * the same name of the holder, so that showing both reveals no pseudonym.
 */
export function comesFromSame(requester: Requester, version: StoredVersion, other: StoredVersion): boolean {
  const [source, ofOther] = [version, other].map(each => requester.sourceOfAudience(audienceOf(each)))
  return source != null && source.kind === ofOther?.kind && source.id === ofOther.id
}

/** Past versions of a chain (all versions of one belief of one holder), by ascending version number. */
function pastOf(reader: StoreReader, holder: string, chain: string): readonly SeenVersion[] {
  return reader
    .table(VERSIONS)
    .scan({ holder, chain }, { columns: PAST_COLUMNS })
    .map(row => ({ version: pastVersion(row), entry: null, model: row['model'] as string | null }))
    .sort((a, b) => a.version.version - b.version.version)
}

function comesBefore(columns: BeliefColumns, row: number, other: number): boolean {
  const { created } = columns.arrays
  const later = (created[row] as number) - (created[other] as number)
  return later < 0 || (later === 0 && compareText(columns.holderOf(row), columns.holderOf(other)) < 0)
}

// Derivations as far as the requester may see them: the sources of a belief step by step (BQ-089, BQ-090), and the number of steps to a
// belief without visible sources (BQ-053).

const PREVIEW_LENGTH = 200

/**
 * The derivation of a version: nearest sources first, and within one depth in the order in which they are named. The sources of a version
 * that occurs repeatedly are listed only once, and a version that the requester may not see ends its branch without a trace. `look` is
 * called before the sources of each version are read, and may throw to stop.
 */
export function derivationChain(
  view: View,
  from: StoredVersion,
  maxDepth: number,
  look: () => void = () => undefined,
): DerivationChain {
  const chain: ChainLink[] = [linkOf(from, 0, null)]
  const met = new Set([nameOf(from)])
  let level: readonly StoredVersion[] = [from]
  let depth = 0
  while (depth < maxDepth && level.length > 0) {
    const next = level.flatMap(version => {
      look()
      return sourcesOf(view, version).filter(source => !isMet(met, source.version))
    })
    if (next.length > 0) depth++
    chain.push(...next.map(({ version, contribution }) => linkOf(version, depth, contribution)))
    level = next.map(({ version }) => version)
  }
  return { belief_id: from.id, depth, chain }
}

interface SeenSource {
  readonly version: StoredVersion
  readonly contribution: Contribution
}

/** Versions that a version names as its sources and that the requester may see, with any type of contribution, in the order of naming. */
export function sourcesOf(view: View, { derivation, holder }: StoredVersion): readonly SeenSource[] {
  return derivation.sources.flatMap(source => {
    const named = namedBy(source, holder)
    const seen = named === null ? undefined : versionNamed(view, named)
    return seen === undefined ? [] : [{ version: seen.version, contribution: source.contribution_type }]
  })
}

/** Adds a version to the set; returns whether the set contained it before. */
function isMet(met: Set<string>, version: StoredVersion): boolean {
  const before = met.size
  return met.add(nameOf(version)).size === before
}

/** Key of a version: holder and id, separated by a blank. Names of holders contain no blanks, so different versions have different keys. */
function nameOf({ holder, id }: StoredVersion): string {
  return `${holder} ${id}`
}

function linkOf(version: StoredVersion, depth: number, contribution: Contribution | null): ChainLink {
  return {
    belief_id: version.id,
    depth,
    contribution_type: contribution,
    content_preview: previewOf(version.content),
    derivation_type: version.derivation.type,
    overall: overall(version.confidence).overall,
    created_at: toIso(version.createdAt),
  }
}

/** The first 200 characters of a content, without half a surrogate pair at the end. */
function previewOf(content: string): string {
  const cut = content.slice(0, PREVIEW_LENGTH)
  return cut.isWellFormed() ? cut : cut.slice(0, -1)
}

/** Mark for a belief without a derivation depth: it is hidden, or all of its derivations run in cycles. */
const NO_DEPTH = -1

interface Made {
  readonly columns: BeliefColumns
  /** Number of changes of beliefs in the requester's visible partitions when the depths were computed. */
  readonly changes: number
  readonly depths: Int32Array
}

/** Cached derivation depths, by requester with its memberships; valid while no visible belief changes. */
const MADE = new WeakMap<Requester, Made>()

/**
 * Returns a function that gives the derivation depth of a row (BQ-053): the minimum number of steps to a root over beliefs visible to the
 * requester, where a root is a belief based on no visible belief. A source that is a visible past version counts as the current version of
 * its chain. Infinite: there is no root, or the row is hidden. The depths are cached until a visible belief changes.
 */
export function derivationDepths(view: View): (row: number) => number {
  const depths = remembered(view)
  return row => {
    const depth = depths[row] ?? NO_DEPTH
    return depth === NO_DEPTH ? Number.POSITIVE_INFINITY : depth
  }
}

function remembered(view: View): Int32Array {
  const { requester, columns } = view
  const known = MADE.get(requester)
  const changes = columns.changesIn(requester.accessScope.partitions)
  if (known?.columns === columns && known.changes === changes) return known.depths
  const depths = depthsOf(view)
  MADE.set(requester, { columns, changes, depths })
  return depths
}

/** Computes for each row the minimum number of steps to a root (a belief based on no visible belief); `NO_DEPTH`: there is none. */
function depthsOf(view: View): Int32Array {
  const parents = visibleParents(view)
  const depths = new Int32Array(view.columns.rows).fill(NO_DEPTH)
  const children = childrenOf(parents)
  let front: number[] = []
  for (const partition of view.requester.accessScope.partitions) {
    for (const row of view.columns.rowsIn(partition)) {
      if (parents.has(row)) continue
      depths[row] = 0
      if (children.has(row)) front.push(row)
    }
  }
  for (let depth = 1; front.length > 0; depth++) {
    const reached: number[] = []
    for (const row of front) {
      for (const child of children.get(row) ?? []) {
        if (depths[child] !== NO_DEPTH) continue
        depths[child] = depth
        reached.push(child)
      }
    }
    front = reached
  }
  return depths
}

/** For each visible belief, the rows of the visible beliefs on which it is based; beliefs based on none are absent. */
function visibleParents(view: View): ReadonlyMap<number, readonly number[]> {
  const { columns, requester } = view
  const { partitions } = columns.arrays
  const pastRow = pastRows(view)
  const found = new Map<number, readonly number[]>()
  const tick = view.time?.ticker()
  for (const partition of requester.accessScope.partitions) {
    for (const row of columns.rowsIn(partition)) {
      tick?.()
      const named = columns.parentsOf(row)
      if (named.length === 0) continue
      const rows: number[] = []
      for (let at = 0; at < named.length; at += 2) {
        const [holder, id] = [named[at] as number, named[at + 1] as number]
        const current = columns.rowOfVersion(holder, id)
        const parent = current === -1 ? pastRow(holder, id) : current
        if (parent !== -1 && requester.sees(partitions[parent] as number)) rows.push(parent)
      }
      if (rows.length > 0) found.set(row, rows)
    }
  }
  return found
}

function childrenOf(parents: ReadonlyMap<number, readonly number[]>): ReadonlyMap<number, readonly number[]> {
  const children = new Map<number, number[]>()
  for (const [row, above] of parents) {
    for (const parent of above) {
      const list = children.get(parent)
      if (list === undefined) children.set(parent, [row])
      else list.push(row)
    }
  }
  return children
}

/**
 * Returns a function that gives, for a past version, the row of the current version of its chain; each result is cached. -1: the past
 * version does not exist, is hidden, or its chain has no current version.
 */
function pastRows(view: View): (holder: number, id: number) => number {
  const { columns, time } = view
  const known = new Map<string, number>()
  const lookUp = (holder: number, id: number) => {
    // The time limit is checked at each lookup, because a lookup reads the store and takes longer than visiting many rows.
    time?.check()
    const seen = versionNamed(view, { holder: columns.texts.holder(holder), id: columns.texts.id(id) })
    const newest = seen && historyOf(view, seen.version.holder, seen.version.chain)[0]
    return newest?.entry ? columns.rowOf(newest.entry.key) : -1
  }
  return (holder, id) => {
    const name = `${holder}:${id}`
    const row = known.get(name) ?? lookUp(holder, id)
    known.set(name, row)
    return row
  }
}

/** Tables of the lens `chroma` in the store. Deleting an entry deletes its rows in them. Times are Unix seconds. */

import type { EntryKey } from '../../model/entry.ts'
import type { Row, TableDeclaration } from '../../model/table.ts'
import { isOwner } from '../../model/viewer.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import type { LensHost } from '../lens.ts'
import type { NodeMemory } from './model.ts'

/** Table with one row per node: the fields that make an entry a node, which are its colour and others that use does not change. */
export const NODES: TableDeclaration = {
  name: 'chroma_nodes',
  aspect: 'color',
  ofEntry: true,
  key: ['entry'],
  columns: [
    { name: 'entry', type: 'integer' },
    { name: 'l', type: 'real' },
    { name: 'a', type: 'real' },
    { name: 'b', type: 'real' },
    { name: 'node_id', type: 'text' },
    /** Hashtags of the node as a JSON array, in ascending order of anchor. */
    { name: 'hashtags', type: 'text' },
    { name: 'mode_name', type: 'text' },
    { name: 'decay_enabled', type: 'integer' },
    /** 0 when the node was stored with metadata null, else 1. */
    { name: 'has_metadata', type: 'integer' },
    { name: 'created_at', type: 'integer' },
    /** Number of changes to the parts of the node that all viewers share: text, metadata, mode and colour. */
    { name: 'version', type: 'integer' },
  ],
}

/** Table of the bindings: which hashtag is bound to which anchor (fixed colour position). Every viewer can read it. */
export const HASHTAGS: TableDeclaration = {
  name: 'chroma_hashtags',
  key: ['anchor'],
  columns: [
    { name: 'anchor', type: 'integer' },
    { name: 'hashtag', type: 'text' },
  ],
  indexes: [['hashtag']],
}

/** Table of memories: one row per viewer and node. A viewer who never used a node has no row for it. */
export const MEMORY: TableDeclaration = {
  name: 'chroma_memory',
  ofEntry: true,
  countedFor: null,
  key: ['viewer', 'entry'],
  columns: [
    { name: 'viewer', type: 'text' },
    { name: 'entry', type: 'integer' },
    { name: 'last_accessed', type: 'integer' },
    { name: 'access_count', type: 'integer' },
    { name: 'strength_raw', type: 'real' },
    { name: 'decay_health', type: 'real' },
    { name: 'ascension', type: 'integer' },
    { name: 'rotten', type: 'integer' },
    /** Unix time up to which the strength has been decayed; 0: never. */
    { name: 'decayed_at', type: 'integer' },
    { name: 'version', type: 'integer' },
  ],
}

/** Table with the time at which each viewer's last decay cycle ended; a skipped cycle counts too (CQ-138). */
export const CYCLES: TableDeclaration = {
  name: 'chroma_cycles',
  key: ['viewer'],
  columns: [
    { name: 'viewer', type: 'text' },
    { name: 'at', type: 'integer' },
  ],
}

/**
 * Table of the log of changed memories, from which every process on the store updates its cached memories without reading all of them.
 * Lines are numbered per viewer. A line names the changed entries in a JSON array; null in its place means "read all memories again".
 */
export const USES: TableDeclaration = {
  name: 'chroma_uses',
  key: ['viewer', 'seq'],
  mechanical: true,
  columns: [
    { name: 'viewer', type: 'text' },
    { name: 'seq', type: 'integer' },
    { name: 'entries', type: 'text', nullable: true },
  ],
}

/** Table of values of plug-in columns. It has one row per value, so that a plug-in can add columns to an existing store. */
export const PLUGIN_FIELDS: TableDeclaration = {
  name: 'chroma_plugin_fields',
  ofEntry: true,
  key: ['entry', 'name'],
  columns: [
    { name: 'entry', type: 'integer' },
    /** Name of the plug-in column, unique among all plug-ins. */
    { name: 'name', type: 'text' },
    /** Value of the plug-in column as JSON; never null, since an unset column has no row. */
    { name: 'value', type: 'text' },
  ],
  indexes: [['name']],
}

export const CHROMA_TABLES: readonly TableDeclaration[] = [NODES, HASHTAGS, MEMORY, CYCLES, USES, PLUGIN_FIELDS]

// Reads and writes rows of the table MEMORY: one viewer's memory of one node. Where there is no row, the viewer never used the node.

const PAGE = 10_000

export interface StoredMemory extends NodeMemory {
  /** Unix time up to which decay cycles have already reduced the strength; 0 when none has yet. */
  readonly decayed_at: number
}

/** The memory of a node that was never used; its last access is its creation. */
export function defaultMemory(createdAt: number): StoredMemory {
  return {
    last_accessed: createdAt,
    access_count: 0,
    strength_raw: 0,
    decay_health: 1,
    ascension: false,
    rotten: false,
    decayed_at: 0,
    version: 0,
  }
}

export function readMemory(reader: StoreReader, viewer: string, entry: EntryKey): StoredMemory | undefined {
  const row = reader.table(MEMORY).get({ viewer, entry })
  return row && memoryOf(row)
}

/** One viewer's stored memories of these nodes, by entry key; a node without a stored memory is left out. */
export function readMemories(
  reader: StoreReader,
  viewer: string,
  entries: readonly EntryKey[],
): ReadonlyMap<EntryKey, StoredMemory> {
  const rows = reader.table(MEMORY).scan({ viewer }, { entries })
  return new Map(rows.map(row => [row['entry'] as EntryKey, memoryOf(row)]))
}

/**
 * Writes one viewer's memory of one node. Within the transaction of this write, the caller must also add a line to the log of changed
 * memories (`logUses`).
 */
export function writeMemory(writer: StoreWriter, viewer: string, entry: EntryKey, memory: StoredMemory): void {
  const { ascension, rotten, ...numbers } = memory
  writer.table(MEMORY).put({ viewer, entry, ...numbers, ascension: Number(ascension), rotten: Number(rotten) })
}

/** One row for every node of which this viewer has a memory, in ascending order of entry key, with `entry` and the named columns. */
export function* memoryRows(reader: StoreReader, viewer: string, names: readonly string[]): Generator<Row> {
  const table = reader.table(MEMORY)
  const columns = ['viewer', 'entry', ...names]
  // Each page of rows is found from the primary key of the last row alone, with no other condition. Finding the start of a page therefore
  // takes one index look-up, however far into the table it is.
  let after: EntryKey = -1
  for (;;) {
    const rows = table.scan({}, { after: { viewer, entry: after }, limit: PAGE, columns })
    for (const row of rows) {
      if (row['viewer'] !== viewer) return
      yield row
    }
    if (rows.length < PAGE) return
    after = rows.at(-1)?.['entry'] as EntryKey
  }
}

/** Ids of the viewers who have at least one stored memory, ascending. */
export function viewersWithMemory(reader: StoreReader): readonly string[] {
  const viewers: string[] = []
  for (;;) {
    const last = viewers.at(-1)
    const after = last === undefined ? {} : { after: { viewer: last, entry: Number.MAX_SAFE_INTEGER } }
    const [row] = reader.table(MEMORY).scan({}, { ...after, limit: 1 })
    if (row === undefined) return viewers
    viewers.push(row['viewer'] as string)
  }
}

function memoryOf({ viewer: _, entry: __, ascension, rotten, ...numbers }: Row): StoredMemory {
  // The cast is safe: the other columns of the row are the numbers of a memory, under the names that the type has.
  return { ...numbers, ascension: ascension === 1, rotten: rotten === 1 } as unknown as StoredMemory
}

// Log of a viewer's changed memories, numbered without gaps. When it has more than `KEPT` lines, the oldest are deleted in groups. A reader
// looks up the number after the last line it read; when that last line has been deleted, the reader may have missed lines.

const KEPT = 4096
/** Number of log lines that are deleted together; adjacent lines usually lie in one page of the file. */
const SWEPT = 64

/**
 * Appends a line to the log of a viewer's changed memories and returns the line's number. `entries` null: readers must read all memories
 * again. `last`: the newest line's number, where the caller knows it.
 */
export function logUses(
  writer: StoreWriter,
  viewer: string,
  entries: readonly EntryKey[] | null,
  last: number = lastUse(writer, viewer),
): number {
  const table = writer.table(USES)
  const seq = last + 1
  table.put({ viewer, seq, entries: entries === null ? null : JSON.stringify(entries) })
  if (seq > KEPT && seq % SWEPT === 0) {
    for (let old = seq - KEPT - SWEPT + 1; old <= seq - KEPT; old++) table.delete({ viewer, seq: old })
  }
  return seq
}

/**
 * Number of the newest line in the log of a viewer's changed memories; 0 when the log is empty. Takes some dozen look-ups, since the store
 * can find the first row of a range but not the last.
 */
export function lastUse(reader: StoreReader, viewer: string): number {
  const table = reader.table(USES)
  const [first] = table.scan({ viewer }, { limit: 1 })
  if (first === undefined) return 0
  let there = first['seq'] as number
  let gone = there + KEPT + SWEPT + 1
  while (gone - there > 1) {
    const middle = there + ((gone - there) >>> 1)
    if (table.get({ viewer, seq: middle }) === undefined) gone = middle
    else there = middle
  }
  return there
}

export interface UseNews {
  /**
   * Keys of the nodes whose memory changed after the given log line, possibly with repeats; null when lines after it were already deleted,
   * so all memories must be read again.
   */
  readonly entries: readonly EntryKey[] | null
  readonly last: number
}

/** Reads the lines of the log of a viewer's changed memories that come after the line `seen`. */
export function usesSince(reader: StoreReader, viewer: string, seen: number): UseNews {
  const table = reader.table(USES)
  const entries: EntryKey[] = []
  let last = seen
  for (;;) {
    const row = table.get({ viewer, seq: last + 1 })
    if (row === undefined) break
    if (row['entries'] === null) return { entries: null, last: lastUse(reader, viewer) }
    entries.push(...(JSON.parse(row['entries'] as string) as EntryKey[]))
    last++
  }
  if (last === seen && isMissing(reader, viewer, seen)) return { entries: null, last: lastUse(reader, viewer) }
  return { entries, last }
}

/** Whether lines after `seen` may be missing from the log of a viewer's changed memories, because old lines were deleted. */
function isMissing(reader: StoreReader, viewer: string, seen: number): boolean {
  const table = reader.table(USES)
  if (seen > 0) return table.get({ viewer, seq: seen }) === undefined
  return table.scan({ viewer }, { limit: 1 }).length > 0
}

/** Time of the viewer's last decay cycle, in Unix seconds; 0 when there was none. */
export function lastCycle(reader: StoreReader, viewer: string): number {
  return (reader.table(CYCLES).get({ viewer })?.['at'] as number | undefined) ?? 0
}

/** Ends a decay cycle: stores its time as the viewer's last cycle, unless a later one is stored, and clears the cycle's progress. */
export function endCycle(writer: StoreWriter, viewer: string, now: number): void {
  const at = Math.max(now, lastCycle(writer, viewer))
  if (at !== lastCycle(writer, viewer)) writer.table(CYCLES).put({ viewer, at })
  if (openCycle(writer, viewer) !== null) writer.setMeta(metaName(viewer), '')
}

export interface OpenCycle {
  /** Time that this decay cycle takes as the present, in Unix seconds; an interrupted cycle keeps it. */
  readonly now: number
  /** Key of the last node that the decay cycle has handled; all nodes with lower keys are done. */
  readonly after: EntryKey
}

/** The viewer's decay cycle that was begun but not ended; null when there is none. */
export function openCycle(reader: StoreReader, viewer: string): OpenCycle | null {
  const text = reader.meta(metaName(viewer))
  return text === undefined || text === '' ? null : (JSON.parse(text) as OpenCycle)
}

export function keepCycle(writer: StoreWriter, viewer: string, cycle: OpenCycle): void {
  writer.setMeta(metaName(viewer), JSON.stringify(cycle))
}

/** Whether the daily run for a viewer, a decay cycle and then a lifecycle check, was begun but not ended. */
export function isDayOpen(reader: StoreReader, viewer: string): boolean {
  return (reader.meta(dayName(viewer)) ?? '') !== ''
}

export function setDay(writer: StoreWriter, viewer: string, state: 'open' | 'done'): void {
  writer.setMeta(dayName(viewer), state === 'open' ? state : '')
}

function metaName(viewer: string): string {
  return `chroma.cycle:${viewer}`
}

function dayName(viewer: string): string {
  return `chroma.day:${viewer}`
}

/** A column of the table of nodes that is never null, so that a filter on it finds exactly the entries that are nodes. */
const IS_NODE = 'color.created_at'

export interface VisibleNodes {
  has(entry: EntryKey): boolean
  /** Number of nodes that the viewer sees; null for the local owner, who sees all nodes. */
  readonly size: number | null
}

export function visibleNodes(host: LensHost, viewer: string): VisibleNodes {
  if (isOwner({ id: viewer })) return { has: () => true, size: null }
  return host.store.matching(host.accessScope({ id: viewer }), { op: 'exists', field: IS_NODE })
}

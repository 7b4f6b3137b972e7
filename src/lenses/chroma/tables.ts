/** Tables of the lens `chroma` in the store. Deleting an entry deletes its rows. Times are Unix seconds. */

import type { EntryKey } from '../../model/entry.ts'
import type { Row, TableDeclaration } from '../../model/table.ts'
import { isOwner } from '../../model/viewer.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import type { LensHost } from '../lens.ts'
import type { NodeMemory } from './model.ts'

/** The aspect that makes an entry a node: its colour and the fields that do not change with use. */
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
    /** Hashtags of the node as a JSON array, by ascending anchor. */
    { name: 'hashtags', type: 'text' },
    { name: 'mode_name', type: 'text' },
    { name: 'decay_enabled', type: 'integer' },
    /** 0 when the node was stored with metadata null. */
    { name: 'has_metadata', type: 'integer' },
    { name: 'created_at', type: 'integer' },
    /** Number of changes to what all viewers share: text, metadata, mode, colour. */
    { name: 'version', type: 'integer' },
  ],
}

/** Which hashtag is bound to which anchor; visible to all viewers. */
export const HASHTAGS: TableDeclaration = {
  name: 'chroma_hashtags',
  key: ['anchor'],
  columns: [
    { name: 'anchor', type: 'integer' },
    { name: 'hashtag', type: 'text' },
  ],
  indexes: [['hashtag']],
}

/** A node's memory for one viewer. No row: the viewer never used the node. */
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
    /** Time up to which strength has been decayed; 0: never. */
    { name: 'decayed_at', type: 'integer' },
    { name: 'version', type: 'integer' },
  ],
}

/** The end of each viewer's last decay cycle; a skipped cycle counts too (CQ-138). */
export const CYCLES: TableDeclaration = {
  name: 'chroma_cycles',
  key: ['viewer'],
  columns: [
    { name: 'viewer', type: 'text' },
    { name: 'at', type: 'integer' },
  ],
}

/**
 * Log of changed memories, so that every process on the store can follow without reading all of them. Numbered per viewer; entries as a
 * JSON array, null for "read all again".
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

/** Values of plug-in columns: one row per value, so that a plug-in can add columns to an existing store. */
export const PLUGIN_FIELDS: TableDeclaration = {
  name: 'chroma_plugin_fields',
  ofEntry: true,
  key: ['entry', 'name'],
  columns: [
    { name: 'entry', type: 'integer' },
    /** Name of the column, unique among all plug-ins. */
    { name: 'name', type: 'text' },
    /** The value as JSON; never null, since an unset column has no row. */
    { name: 'value', type: 'text' },
  ],
  indexes: [['name']],
}

export const CHROMA_TABLES: readonly TableDeclaration[] = [NODES, HASHTAGS, MEMORY, CYCLES, USES, PLUGIN_FIELDS]

// Rows of the table MEMORY: one viewer's memory of one node. No row means that the viewer never used the node.

const PAGE = 10_000

export interface StoredMemory extends NodeMemory {
  /** Time up to which strength has been decayed; 0: never. */
  readonly decayed_at: number
}

/** The memory of a node that was never used. */
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

/** The stored memories of these nodes; nodes without one are left out. */
export function readMemories(
  reader: StoreReader,
  viewer: string,
  entries: readonly EntryKey[],
): ReadonlyMap<EntryKey, StoredMemory> {
  const rows = reader.table(MEMORY).scan({ viewer }, { entries })
  return new Map(rows.map(row => [row['entry'] as EntryKey, memoryOf(row)]))
}

/** Writes a memory. The caller must log it in the same transaction (`logUses`). */
export function writeMemory(writer: StoreWriter, viewer: string, entry: EntryKey, memory: StoredMemory): void {
  const { ascension, rotten, ...numbers } = memory
  writer.table(MEMORY).put({ viewer, entry, ...numbers, ascension: Number(ascension), rotten: Number(rotten) })
}

/** For every node of which this viewer has a memory, by ascending entry key: the named columns and `entry`. */
export function* memoryRows(reader: StoreReader, viewer: string, names: readonly string[]): Generator<Row> {
  const table = reader.table(MEMORY)
  const columns = ['viewer', 'entry', ...names]
  // Each page starts behind a whole key without a condition, which is a seek in the primary key at any depth.
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

/** Viewers with at least one memory, ascending. */
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
  // The cast is safe: the other columns are the numbers of a memory, under the same names.
  return { ...numbers, ascension: ascension === 1, rotten: rotten === 1 } as unknown as StoredMemory
}

// Log of changed memories of a viewer. Numbered without gaps and bounded: lines older than the newest `KEPT` are deleted in groups. A
// reader finds news by looking up the number after the last one it saw, and knows that it missed some when that last line itself has been
// deleted.

const KEPT = 4096
/** Lines deleted together: adjacent lines are in one page of the file. */
const SWEPT = 64

/**
 * Appends a line to the log and returns its number. `entries` null: readers must read all memories again. `last`: the newest number, where
 * it is known.
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

/** The newest line number; 0 when there is none. Takes some dozen look-ups, as the store can find the first of a range but not the last. */
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
  /** Nodes whose memory changed since, possibly repeated; null: more happened than the log holds. */
  readonly entries: readonly EntryKey[] | null
  readonly last: number
}

/** Changes logged after the line `seen`. */
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

/** Whether the log no longer reaches back to the line `seen`. */
function isMissing(reader: StoreReader, viewer: string, seen: number): boolean {
  const table = reader.table(USES)
  if (seen > 0) return table.get({ viewer, seq: seen }) === undefined
  return table.scan({ viewer }, { limit: 1 }).length > 0
}

/** Time of the viewer's last decay cycle in Unix seconds; 0: none yet. */
export function lastCycle(reader: StoreReader, viewer: string): number {
  return (reader.table(CYCLES).get({ viewer })?.['at'] as number | undefined) ?? 0
}

/** Ends a cycle: stores its time, which never moves back, and clears its progress. */
export function endCycle(writer: StoreWriter, viewer: string, now: number): void {
  const at = Math.max(now, lastCycle(writer, viewer))
  if (at !== lastCycle(writer, viewer)) writer.table(CYCLES).put({ viewer, at })
  if (openCycle(writer, viewer) !== null) writer.setMeta(metaName(viewer), '')
}

export interface OpenCycle {
  /** The cycle's time, in Unix seconds. */
  readonly now: number
  /** Last node that the cycle has processed; all nodes up to it are done. */
  readonly after: EntryKey
}

/** The decay cycle that was begun and not ended; null when there is none. */
export function openCycle(reader: StoreReader, viewer: string): OpenCycle | null {
  const text = reader.meta(metaName(viewer))
  return text === undefined || text === '' ? null : (JSON.parse(text) as OpenCycle)
}

export function keepCycle(writer: StoreWriter, viewer: string, cycle: OpenCycle): void {
  writer.setMeta(metaName(viewer), JSON.stringify(cycle))
}

/** Whether the daily work of a viewer, a cycle and the check after it, was begun and not ended. */
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

/** A column of the aspect that is never null, so that a filter on it finds exactly the nodes. */
const IS_NODE = 'color.created_at'

export interface VisibleNodes {
  has(entry: EntryKey): boolean
  /** Number of visible nodes; null: the viewer sees all nodes. */
  readonly size: number | null
}

export function visibleNodes(host: LensHost, viewer: string): VisibleNodes {
  if (isOwner({ id: viewer })) return { has: () => true, size: null }
  return host.store.matching(host.accessScope({ id: viewer }), { op: 'exists', field: IS_NODE })
}

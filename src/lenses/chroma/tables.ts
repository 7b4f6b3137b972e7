/** What the lens keeps in the store. Deleting an entry takes its rows along. Times are Unix seconds. */

import type { EntryKey } from '../../model/entry.ts'
import type { Row, TableDeclaration } from '../../model/table.ts'
import { isOwner } from '../../model/viewer.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import type { LensHost } from '../lens.ts'
import type { NodeMemory } from './model.ts'

/** The aspect that makes an entry a node: its colour and what never changes with use. */
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
    /** JSON array, by ascending anchor. */
    { name: 'hashtags', type: 'text' },
    { name: 'mode_name', type: 'text' },
    { name: 'decay_enabled', type: 'integer' },
    /** 0: the node was stored with metadata null. */
    { name: 'has_metadata', type: 'integer' },
    { name: 'created_at', type: 'integer' },
    /** Changes of what all viewers share: text, metadata, mode, colour. */
    { name: 'version', type: 'integer' },
  ],
}

/** Which hashtag sits on which anchor: known to all viewers. */
export const HASHTAGS: TableDeclaration = {
  name: 'chroma_hashtags',
  key: ['anchor'],
  columns: [
    { name: 'anchor', type: 'integer' },
    { name: 'hashtag', type: 'text' },
  ],
  indexes: [['hashtag']],
}

/** A node's memory for one viewer. No row: never used, as it was when stored. */
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
    /** Up to when strength has been decayed; 0: never. */
    { name: 'decayed_at', type: 'integer' },
    { name: 'version', type: 'integer' },
  ],
}

/** The end of each viewer's last decay cycle, also of those that were skipped (CQ-138). */
export const CYCLES: TableDeclaration = {
  name: 'chroma_cycles',
  key: ['viewer'],
  columns: [
    { name: 'viewer', type: 'text' },
    { name: 'at', type: 'integer' },
  ],
}

/**
 * Which memories changed, so that every process on the store can follow without reading them all: numbered by viewer;
 * entries as a JSON array, null for "read all again".
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

/** Columns of plug-ins: one row a value, so that a plug-in can add columns to a store that exists. */
export const PLUGIN_FIELDS: TableDeclaration = {
  name: 'chroma_plugin_fields',
  ofEntry: true,
  key: ['entry', 'name'],
  columns: [
    { name: 'entry', type: 'integer' },
    /** The column; unique among all plug-ins. */
    { name: 'name', type: 'text' },
    /** JSON; never null: an unset column has no row. */
    { name: 'value', type: 'text' },
  ],
  indexes: [['name']],
}

export const CHROMA_TABLES: readonly TableDeclaration[] = [NODES, HASHTAGS, MEMORY, CYCLES, USES, PLUGIN_FIELDS]

// The rows of MEMORY: one viewer's memory of one node. No row means never used.

const PAGE = 10_000

export interface StoredMemory extends NodeMemory {
  /** Up to when strength has been decayed; 0: never. */
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

/** Those there are, of these nodes. */
export function readMemories(
  reader: StoreReader,
  viewer: string,
  entries: readonly EntryKey[],
): ReadonlyMap<EntryKey, StoredMemory> {
  const rows = reader.table(MEMORY).scan({ viewer }, { entries })
  return new Map(rows.map(row => [row['entry'] as EntryKey, memoryOf(row)]))
}

/** Whoever writes memories logs it in the same transaction (`logUses`). */
export function writeMemory(writer: StoreWriter, viewer: string, entry: EntryKey, memory: StoredMemory): void {
  const { ascension, rotten, ...numbers } = memory
  writer.table(MEMORY).put({ viewer, entry, ...numbers, ascension: Number(ascension), rotten: Number(rotten) })
}

/** Of every node with a memory of this viewer's, ascending, these columns and `entry`. */
export function* memoryRows(reader: StoreReader, viewer: string, names: readonly string[]): Generator<Row> {
  const table = reader.table(MEMORY)
  const columns = ['viewer', 'entry', ...names]
  // From behind a whole key and without a condition: that is a seek in the primary key, at whatever depth.
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

/** Everybody who has a memory of anything, ascending. */
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
  // The cast: the other columns are the numbers of a memory, under their names.
  return { ...numbers, ascension: ascension === 1, rotten: rotten === 1 } as unknown as StoredMemory
}

// The log of which memories of a viewer changed. Numbered without gaps, of bounded length: lines older than the newest
// `KEPT` go, some at a time. So a reader finds the news by looking up the number after the last it saw, and knows that it
// missed some when even that last one is gone.

const KEPT = 4096
/** Lines removed together: neighbours lie in one page of the file. */
const SWEPT = 64

/** Appends a line, and says its number. `entries` null: read all again. `last`: the newest number, where it is known. */
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

/** The newest number; 0 when there is none. Some dozen look-ups: the store finds the first of a range, not the last. */
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
  /** Those changed since, some perhaps more than once; null: more than the log has. */
  readonly entries: readonly EntryKey[] | null
  readonly last: number
}

/** What happened after the line `seen`. */
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

/** Unix seconds; 0: never. */
export function lastCycle(reader: StoreReader, viewer: string): number {
  return (reader.table(CYCLES).get({ viewer })?.['at'] as number | undefined) ?? 0
}

/** Ends a cycle: its time, which never moves back, and nothing left to finish. */
export function endCycle(writer: StoreWriter, viewer: string, now: number): void {
  const at = Math.max(now, lastCycle(writer, viewer))
  if (at !== lastCycle(writer, viewer)) writer.table(CYCLES).put({ viewer, at })
  if (openCycle(writer, viewer) !== null) writer.setMeta(metaName(viewer), '')
}

export interface OpenCycle {
  /** The time the cycle is of. */
  readonly now: number
  /** All nodes up to this one are done. */
  readonly after: EntryKey
}

/** The cycle that began and did not end. */
export function openCycle(reader: StoreReader, viewer: string): OpenCycle | null {
  const text = reader.meta(metaName(viewer))
  return text === undefined || text === '' ? null : (JSON.parse(text) as OpenCycle)
}

export function keepCycle(writer: StoreWriter, viewer: string, cycle: OpenCycle): void {
  writer.setMeta(metaName(viewer), JSON.stringify(cycle))
}

/** Whether the daily work of a viewer has begun and not ended: a cycle, and the check behind it. */
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

/** Any column of the aspect that is never null. */
const IS_NODE = 'color.created_at'

export interface VisibleNodes {
  has(entry: EntryKey): boolean
  /** Null: all there are. */
  readonly size: number | null
}

export function visibleNodes(host: LensHost, viewer: string): VisibleNodes {
  if (isOwner({ id: viewer })) return { has: () => true, size: null }
  return host.store.matching(host.accessScope({ id: viewer }), { op: 'exists', field: IS_NODE })
}

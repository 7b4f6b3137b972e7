/** The rows of MEMORY: one viewer's memory of one node. No row means never used. */
import type { EntryKey } from '../../../model/entry.ts'
import type { Row } from '../../../model/table.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import type { NodeMemory } from '../model.ts'
import { MEMORY } from '../tables.ts'

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

/** Whoever writes memories tells of it in the same transaction (`tellUses`). */
export function writeMemory(writer: StoreWriter, viewer: string, entry: EntryKey, memory: StoredMemory): void {
  writer.table(MEMORY).put({
    viewer,
    entry,
    last_accessed: memory.last_accessed,
    access_count: memory.access_count,
    strength_raw: memory.strength_raw,
    decay_health: memory.decay_health,
    ascension: memory.ascension ? 1 : 0,
    rotten: memory.rotten ? 1 : 0,
    decayed_at: memory.decayed_at,
    version: memory.version,
  })
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

function memoryOf(row: Row): StoredMemory {
  return {
    last_accessed: row['last_accessed'] as number,
    access_count: row['access_count'] as number,
    strength_raw: row['strength_raw'] as number,
    decay_health: row['decay_health'] as number,
    ascension: row['ascension'] === 1,
    rotten: row['rotten'] === 1,
    decayed_at: row['decayed_at'] as number,
    version: row['version'] as number,
  }
}

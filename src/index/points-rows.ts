/** Reads points from the store: three columns of an aspect's table, and the partition of the entry they belong to. */
import { must } from '../base/assert.ts'
import type { EntryKey } from '../model/entry.ts'
import { invalidArgument } from '../model/errors.ts'
import type { PartitionId } from '../model/partition.ts'
import type { Row, TableDeclaration } from '../model/table.ts'
import { LOCAL_OWNER } from '../model/viewer.ts'
import type { StoreReader } from '../store/store.ts'
import { grownInts } from './points-arrays.ts'
import type { Point, PointRow } from './points-blocks.ts'
import { PointColumns } from './points-columns.ts'

export interface PointIndexOptions {
  /** Of the index. */
  readonly name: string
  /** One row an entry: belongs to entries, keyed by `entry`. */
  readonly table: TableDeclaration
  /** Columns of reals, in the order of the coordinates. An entry in whose row one is null has no point. */
  readonly columns: readonly [string, string, string]
}

/** Rows read at once. */
const PAGE = 4096

export function checkOptions({ table, columns }: PointIndexOptions): void {
  if (table.ofEntry !== true || table.key.join() !== 'entry') {
    throw invalidArgument('table', table.name, 'a table of entries, keyed by entry')
  }
  for (const name of columns) {
    if (table.columns.find(column => column.name === name)?.type !== 'real') {
      throw invalidArgument('columns', name, `a column of reals in ${table.name}`)
    }
  }
}

/** Every point there is. */
export function allPoints(reader: StoreReader, { table, columns }: PointIndexOptions): PointColumns {
  const partitionOf = partitionsByEntry(reader)
  const rows = reader.table(table)
  const points = new PointColumns(rows.count())
  let after: Row | undefined
  for (;;) {
    const page = rows.scan({}, { after, limit: PAGE, columns: ['entry', ...columns] })
    for (const row of page) {
      const entry = row['entry'] as EntryKey
      const point = pointIn(row, columns)
      const partition = must(partitionOf[entry], 'the partition of an entry') - 1
      if (point !== undefined) points.push(entry, partition, ...point)
    }
    if (page.length < PAGE) return points
    after = { entry: must(page.at(-1)?.['entry'], 'the last entry') }
  }
}

/** The point of an entry of this partition, if it has one. */
export function pointOfEntry(
  reader: StoreReader,
  { table, columns }: PointIndexOptions,
  entry: EntryKey,
  partition: PartitionId,
): PointRow | undefined {
  const row = reader.table(table).get({ entry })
  const point = row && pointIn(row, columns)
  return point && { entry, partition, point }
}

function pointIn(row: Row, columns: PointIndexOptions['columns']): Point | undefined {
  const [l, a, b] = [row[columns[0]], row[columns[1]], row[columns[2]]]
  return typeof l === 'number' && typeof a === 'number' && typeof b === 'number' ? [l, a, b] : undefined
}

/** Plus 1, by entry; by way of sets of keys, as reading the entries themselves would read all their texts. */
function partitionsByEntry(reader: StoreReader): Int32Array {
  let partitionOf = new Int32Array(1024)
  for (const { id } of reader.partitions()) {
    const entries = reader.matching({ viewer: LOCAL_OWNER, partitions: [id] }, { op: 'and', of: [] })
    for (const entry of entries) {
      if (entry >= partitionOf.length) partitionOf = grownInts(partitionOf, entry + 1)
      partitionOf[entry] = id + 1
    }
  }
  return partitionOf
}

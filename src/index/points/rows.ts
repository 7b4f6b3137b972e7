/** Reads points from the store: three columns of an aspect's table, and the partition of the entry they belong to. */
import { must } from '../../base/assert.ts'
import type { Steps } from '../../base/turns.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { Row } from '../../model/table.ts'
import { partitionOfAll } from '../../store/feed.ts'
import type { StoreReader } from '../../store/store.ts'
import type { PointIndexDeclaration } from '../contract.ts'
import { checkAspect, checkColumn } from '../declared-tables.ts'
import type { PointRow } from './blocks.ts'
import { type Point, PointColumns } from './columns.ts'

/** Rows read at once. */
const PAGE = 2048

export function checkDeclared({ table, columns }: PointIndexDeclaration): void {
  checkAspect('table', table)
  for (const name of columns) checkColumn('columns', table, name, 'real')
}

/** Every point there is, in steps: what comes, moves or goes at a pause is as it was or as it is then. */
export function* allPoints(reader: StoreReader, { table, columns }: PointIndexDeclaration): Steps<PointColumns> {
  const partitionOf = yield* partitionOfAll(reader)
  const rows = reader.table(table)
  const points = new PointColumns(rows.count())
  let after: Row | undefined
  for (;;) {
    const page = rows.scan({}, { after, limit: PAGE, columns: ['entry', ...columns] })
    for (const row of page) {
      const entry = row['entry'] as EntryKey
      const point = pointIn(row, columns)
      // Undefined of one that came at a pause.
      const partition = partitionOf(entry)
      if (point !== undefined && partition !== undefined) points.push(entry, partition, ...point)
    }
    if (page.length < PAGE) return points
    yield
    after = { entry: must(page.at(-1)?.['entry'], 'the last entry') }
  }
}

/** The point of an entry of this partition, if it has one. */
export function pointOfEntry(
  reader: StoreReader,
  { table, columns }: PointIndexDeclaration,
  entry: EntryKey,
  partition: PartitionId,
): PointRow | undefined {
  const row = reader.table(table).get({ entry })
  const point = row && pointIn(row, columns)
  return point && { entry, partition, point }
}

function pointIn(row: Row, columns: PointIndexDeclaration['columns']): Point | undefined {
  const [l, a, b] = [row[columns[0]], row[columns[1]], row[columns[2]]]
  return typeof l === 'number' && typeof a === 'number' && typeof b === 'number' ? [l, a, b] : undefined
}

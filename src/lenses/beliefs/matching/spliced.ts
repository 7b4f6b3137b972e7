import { placeIn } from '../../../base/ascending.ts'

/** Rows in ascending order, and the source of each by its place. */
interface SourcedRows {
  readonly rows: Int32Array
  readonly sources: Uint8Array
}

/** Without some rows and with some others. A row may be of both: it was given to another belief. */
export function spliced({ rows, sources }: SourcedRows, gone: ReadonlySet<number>, came: SourcedRows): SourcedRows {
  const size = rows.length - gone.size + came.rows.length
  const into = { rows: new Int32Array(size), sources: new Uint8Array(size) }
  let from = 0
  let end = 0
  /** All before this row. */
  const copyUntil = (row: number) => {
    const to = placeIn(rows, row)
    into.rows.set(rows.subarray(from, to), end)
    into.sources.set(sources.subarray(from, to), end)
    end += to - from
    from = to
  }
  const changed = [...new Set([...gone, ...came.rows])].sort((a, b) => a - b)
  let next = 0
  for (const row of changed) {
    copyUntil(row)
    if (gone.has(row)) from++
    if (came.rows[next] !== row) continue
    into.rows[end] = row
    into.sources[end++] = came.sources[next++] as number
  }
  copyUntil(Number.POSITIVE_INFINITY)
  return into
}

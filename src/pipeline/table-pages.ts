/** Reading whole tables, page by page, so that who does may pause between two of them. */
import { StepPace, type Steps } from '../base/turns.ts'
import type { EntryKey } from '../model/entry.ts'
import type { Cell, Row, TableDeclaration } from '../model/table.ts'
import { LOCAL_OWNER } from '../model/viewer.ts'
import type { StoreReader } from '../store/store.ts'

/** Rows of a page: some milliseconds of work where they are short. */
const PAGE = 500

/** All rows in the order of the key, with these columns and those of the key. No page is empty. */
export function* tablePages(
  reader: StoreReader,
  table: TableDeclaration,
  columns: readonly string[],
  page: number = PAGE,
): Generator<readonly Row[]> {
  const all = [...new Set([...table.key, ...columns])]
  for (let after: Row | undefined; ; ) {
    const rows = reader.table(table).scan({}, { after, limit: page, columns: all })
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
    if (rows.length < page) return
    after = Object.fromEntries(table.key.map(name => [name, last[name] as Cell]))
  }
}

/** Entries looked at in one step: a millisecond. */
const ENTRIES_AT_ONCE = 10_000

/** How many of these entries have not this kind, or are not there; and how many others have it. One statement a partition. */
export function* countStrays(reader: StoreReader, kind: string, known: ReadonlySet<EntryKey>): Steps<number> {
  const pace = new StepPace(ENTRIES_AT_ONCE)
  let [found, others] = [0, 0]
  for (const { id } of reader.partitions()) {
    yield
    const accessScope = { viewer: LOCAL_OWNER, partitions: [id] }
    for (const entry of reader.matching(accessScope, { op: 'eq', field: 'kind', value: kind })) {
      if (known.has(entry)) found++
      else others++
      if (pace.isOver(1)) yield
    }
  }
  return known.size - found + others
}

/** Reads and writes many rows: skipping damaged ones, page by page, cached by a table's version, with pauses. */

import type { Instant } from '../base/clock.ts'
import { onePer } from '../base/recent.ts'
import { atOnce, StepPace, type Steps, type Turns } from '../base/turns.ts'
import type { EntryKey } from '../model/entry.ts'
import type { QuerentError } from '../model/errors.ts'
import type { Note } from '../model/page.ts'
import type { Cell, Row, TableDeclaration } from '../model/table.ts'
import { LOCAL_OWNER } from '../model/viewer.ts'
import type { Store, StoreReader, StoreWriter } from '../store/store.ts'

/** Rows in a page: some milliseconds of work for short rows. */
const PAGE = 500

/** All rows in the order of the key, in pages, with these columns and those of the key. No page is empty. */
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

/** Entries examined in one step: a millisecond. */
const ENTRIES_AT_ONCE = 10_000

/**
 * Number of these entries that have another kind or do not exist, plus the number of other entries that have this kind. One statement per
 * partition.
 */
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

/** Reads rows that are kept in memory without the damaged ones, which the doctor reports. */
export function aroundDamage<T>(reader: StoreReader, body: () => T): T {
  return reader.around(() => undefined, body)
}

/** Handler for `StoreReader.around`: damaged rows are left out of the answer, which gets a note. */
export function noteDamage(context: { note(note: Note): void }): (damage: QuerentError) => void {
  return ({ message }) => context.note({ code: 'store_corrupt', message: `Left out: ${message}.` })
}

/** The result of `read` on a table of a store, cached until the table is written. */
export function readByVersion<T>(table: TableDeclaration, read: (store: Store) => T): (store: Store) => T {
  const lastOf = onePer((_: Store): { version: number; value?: T } => ({ version: -1 }))
  return store => {
    const last = lastOf(store)
    const version = store.version(table)
    if (last.version !== version) {
      last.value = read(store)
      last.version = version
    }
    return last.value as T
  }
}

/** Pieces written without a pause, some milliseconds: a write with pauses opens its own connection, which takes a millisecond. */
const AT_ONCE = 20

/** Runs one transaction, with pauses unless `pieces`, the number of its steps, is small. Rejects with the error by which `turns` end it. */
export function writeMany<T>(
  store: Store,
  now: Instant,
  pieces: number,
  body: (writer: StoreWriter) => Steps<T>,
  turns: Turns,
): Promise<T> {
  if (pieces > AT_ONCE) return store.writeInSteps(now, body, turns)
  return store.writeWhenFree(now, writer => atOnce(body(writer)))
}

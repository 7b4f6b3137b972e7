/**
 * Reads and writes many rows of a table: skips damaged rows, reads page by page, caches values by the table's version, and pauses so that
 * other work can run.
 */

import type { Instant } from '../base/clock.ts'
import { onePer } from '../base/recent.ts'
import { atOnce, StepPace, type Steps, type Turns } from '../base/turns.ts'
import type { EntryKey } from '../model/entry.ts'
import type { QuerentError } from '../model/errors.ts'
import type { Note } from '../model/page.ts'
import type { Cell, Row, TableDeclaration } from '../model/table.ts'
import { LOCAL_OWNER } from '../model/viewer.ts'
import type { Store, StoreReader, StoreWriter } from '../store/store.ts'

/** Number of rows read in one page: some milliseconds of work for short rows. */
const PAGE = 500

/**
 * All rows of a table in primary-key order, as pages (arrays of rows) that are never empty. Each row has the columns named and those of the
 * primary key.
 */
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

/** Number of entries compared before the work pauses so that other requests can run: about one millisecond. */
const ENTRIES_AT_ONCE = 10_000

/**
 * Counts differences between a set of entry keys and the entries of one kind: keys in the set whose entry has another kind or does not
 * exist, plus entries of that kind that are not in the set. Runs one SQL statement per partition.
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

/** Runs reads that leave out damaged rows, for values that are cached in memory; the damage is reported by the `doctor` command instead. */
export function aroundDamage<T>(reader: StoreReader, body: () => T): T {
  return reader.around(() => undefined, body)
}

/** Makes the handler for `StoreReader.around` that leaves damaged rows out of an answer and adds a note on each to the answer. */
export function noteDamage(context: { note(note: Note): void }): (damage: QuerentError) => void {
  return ({ message }) => context.note({ code: 'store_corrupt', message: `Left out: ${message}.` })
}

/** Makes a function that returns the result of `read` on a store's table and caches it until the table is written. */
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

/**
 * Number of pieces up to which a write runs to its end without letting other work run, which takes some milliseconds; a write that pauses
 * opens a connection of its own, which costs a millisecond.
 */
const AT_ONCE = 20

/**
 * Runs one write transaction as a generator. Unless `pieces`, the number of its steps, is small, it pauses between steps so that other work
 * can run. Rejects where `turns`, which schedules the steps, ends the work, with the error that `turns` gives.
 */
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

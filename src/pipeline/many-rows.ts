/** Reading and writing many rows: around damaged ones, page by page, once a version of a table, with pauses. */

import type { Instant } from '../base/clock.ts'
import { onePer } from '../base/recent.ts'
import { atOnce, StepPace, type Steps, type Turns } from '../base/turns.ts'
import type { EntryKey } from '../model/entry.ts'
import type { QuerentError } from '../model/errors.ts'
import type { Note } from '../model/page.ts'
import type { Cell, Row, TableDeclaration } from '../model/table.ts'
import { LOCAL_OWNER } from '../model/viewer.ts'
import type { Store, StoreReader, StoreWriter } from '../store/store.ts'

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

/** What is kept in memory of many rows is made without the damaged ones; the doctor reports those. */
export function aroundDamage<T>(reader: StoreReader, body: () => T): T {
  return reader.around(() => undefined, body)
}

/** For `StoreReader.around`: what is damaged is left out of the answer, which says so. */
export function noteDamage(context: { note(note: Note): void }): (damage: QuerentError) => void {
  return ({ message }) => context.note({ code: 'store_corrupt', message: `Left out: ${message}.` })
}

/** What `read` makes of a table of a store, read again only when something of the table was written since. */
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

/** Pieces written at once, some milliseconds: a write that pauses has a connection of its own, which takes a millisecond to open. */
const AT_ONCE = 20

/** One transaction; with pauses where `pieces`, the number of its steps, is not small. Rejects with what `turns` end it with. */
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

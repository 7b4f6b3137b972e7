/**
 * Schema 2: the check of every row (`row-checks.ts`). The columns come in the migration itself, the checks of the rows
 * that are there in portions, each a transaction of its own: a process that is killed on the way leaves the rest to the
 * next one that opens the store for writing. Some 10 µs a row.
 */
import { sha256 } from '../../base/canonical.ts'
import { readMeta, writeMeta } from './meta.ts'
import { CHECK, checkOf, isDamage } from './row-checks.ts'
import type { SqlDatabase, SqlValue } from './sql-driver.ts'

/** Tables of the store itself whose rows have a check; so has every declared one. */
const CHECKED: ReadonlySet<string> = new Set([
  ...['meta', 'declarations', 'partitions', 'entries', 'bodies', 'chunks', 'models', 'vectors', 'tallies'],
  ...['access', 'changes'],
])
/** In the store's own table once every row has its check. */
const FILLED = 'checks'
/** Rows of one transaction: some 50 ms. */
const AT_ONCE = 4_000

/** Tables whose rows have a check, by name. */
export function checkedTables(db: SqlDatabase): readonly string[] {
  return db
    .prepareArrays<[string]>(`select name from sqlite_schema where type = 'table' order by name`)
    .all()
    .map(([name]) => name)
    .filter(name => CHECKED.has(name) || name.startsWith('declared_'))
}

/** Inside the migration. A column that is there already is kept. */
export function addChecks(db: SqlDatabase): void {
  for (const table of checkedTables(db)) {
    if (!columnsOf(db, table).includes(CHECK)) db.exec(`alter table "${table}" add column ${CHECK} integer`)
  }
}

/** It is written last, so where it is there and damaged, all rows had their check. */
export function areChecksFilled(db: SqlDatabase): boolean {
  try {
    return readMeta(db, FILLED) !== undefined
  } catch (error) {
    if (isDamage(error)) return true
    throw error
  }
}

export function fillChecks(db: SqlDatabase): void {
  if (areChecksFilled(db)) return
  for (const table of checkedTables(db)) fillTable(db, table)
  db.write(() => writeMeta(db, FILLED, 'complete'))
}

function fillTable(db: SqlDatabase, table: string): void {
  const columns = columnsOf(db, table).filter(name => name !== CHECK)
  const keys = keyOf(db, table)
  const list = (names: readonly string[]) => names.join(', ')
  const [key, cells] = [list(keys), list(columns.map(name => `"${name}"`))]
  const marks = list(keys.map(() => '?'))
  const select = (behind: string) =>
    `select ${key}, ${cells} from "${table}" where ${behind} ${CHECK} is null order by ${key} limit ${AT_ONCE}`
  const update = `update "${table}" set ${CHECK} = ? where (${key}) = (${marks})`
  for (let after: readonly SqlValue[] = []; ; ) {
    const rows = db.write(() => {
      const behind = after.length === 0 ? '' : `(${key}) > (${marks}) and`
      const found = db.prepareArrays<readonly SqlValue[]>(select(behind)).all(...after)
      const set = db.prepare(update)
      for (const row of found) {
        const [place, values] = [row.slice(0, keys.length), row.slice(keys.length)]
        const check = checkOf(values)
        set.run(isDamagedBody(table, columns, values) ? ~check : check, ...place)
      }
      return found
    })
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.slice(0, keys.length)
  }
}

/** A text that is not what was written gets a check that does not agree, so that it is not read as if it were whole. */
function isDamagedBody(table: string, columns: readonly string[], values: readonly SqlValue[]): boolean {
  if (table !== 'bodies') return false
  const [content, hash] = ['content', 'content_hash'].map(name => values[columns.indexOf(name)])
  return typeof content !== 'string' || sha256(content) !== hash
}

export function columnsOf(db: SqlDatabase, table: string): readonly string[] {
  return db
    .prepareArrays<[string]>('select name from pragma_table_info(?)')
    .all(table)
    .map(([name]) => name)
}

/** What rows are told apart by: the row id, or where there is none the primary key. */
function keyOf(db: SqlDatabase, table: string): readonly string[] {
  const isWithout = db.prepareArrays<[number]>('select wr from pragma_table_list(?)').get(table)?.[0] === 1
  if (!isWithout) return ['rowid']
  return db
    .prepareArrays<[string]>('select name from pragma_table_info(?) where pk > 0 order by pk')
    .all(table)
    .map(([name]) => `"${name}"`)
}

/**
 * Checks the contents of a store file: rows against their check sums, tables against their declarations, and rows that refer to missing
 * rows.
 */
import { isRecord } from '../../base/record.ts'
import type { SqlDatabase, SqlValue } from '../sqlite/node-sqlite.ts'
import { CHECK, isWhole } from '../sqlite/rows.ts'
import { COPY_PREFIX, checkedTables, columnsOf, NAME_BYTES, nameIn } from '../sqlite/schema.ts'
import { quote } from '../sqlite/tables.ts'
import { type Check, counted, type Problem, parsed, problemOf, REPAIR_HELP, RESTORE_HELP, those } from './problem.ts'

/** Tables whose damaged rows are reported by other checks, which can repair them. */
const ELSEWHERE: ReadonlySet<string> = new Set(['vectors', 'tallies', 'changes', 'meta'])

/** Checks the rows of all tables that have no repair of their own against the rows' check sums. */
export const rows: Check = {
  name: 'rows',
  sound: 'every row is as it was written',
  look(db) {
    const tables = checkedTables(db).filter(table => !ELSEWHERE.has(table))
    const help = `${RESTORE_HELP} To restore entries of files, delete them and add the files again.`
    return those([
      ...tables.map(table => {
        const name = table.replace(/^declared_/, '')
        const found = [...damagedRows(db, table)]
        const what = ['row of', 'rows of'].map(rowsOf => `${rowsOf} ${name} not as written`) as [string, string]
        return problemOf(found, ...what, { help, repair: null })
      }),
      ownValues(db),
    ])
  },
}

/**
 * Names of texts in the store's `meta` table that the program makes again when they are missing, so that a damaged one can simply be
 * deleted.
 */
const REMAKEABLE: ReadonlySet<string> = new Set(['revision', 'forgotten', 'overwritten', 'cursor_secret'])

function ownValues(db: SqlDatabase): Problem | null {
  const found = [...damagedRows(db, 'meta')]
  const canDrop = found.every(name => REMAKEABLE.has(name) || name.startsWith(COPY_PREFIX))
  const repair = (at: SqlDatabase): string => {
    const drop = at.prepare('delete from meta where name = ?')
    const names = [...damagedRows(at, 'meta')]
    for (const name of names) drop.run(name)
    return `dropped ${counted(names.length, 'value')} that the store computes again`
  }
  const rest = canDrop ? { help: REPAIR_HELP, repair } : { help: RESTORE_HELP, repair: null }
  const shown = found.map(name => name.replace('\0', ''))
  return problemOf(shown, 'value of the store not as written', 'values of the store not as written', rest)
}

type EntryName = (key: number) => string

/** Names a table's damaged rows for the report. Rows whose entry is missing are left out, since the check `references` reports them. */
function* damagedRows(db: SqlDatabase, table: string): Generator<string> {
  const columns = columnsOf(db, table).filter(name => name !== CHECK)
  const cell = (name: string) => (isNameOfMeta(name) ? NAME_BYTES : quote(name))
  const isNameOfMeta = (name: string) => table === 'meta' && name === 'name'
  const list = [...columns, CHECK].map(cell).join(', ')
  const isOfEntry = columns.includes('entry')
  const where = isOfEntry ? 'where entry in (select key from entries)' : ''
  const found = db.prepareArrays<readonly SqlValue[]>(`select ${list} from ${quote(table)} not indexed ${where}`)
  const names = db.prepareArrays<[string]>(`select holder || '/' || id from entries where key = ?`)
  const entryName = (key: number) => names.get(key)?.[0] ?? `entry number ${key}`
  for (const cells of found.each()) {
    const row = cells.map((value, at) => (isNameOfMeta(columns[at] ?? '') ? nameIn(value) : value))
    if (!isWhole(row)) yield nameOf(table, columns, row, entryName)
  }
}

function nameOf(table: string, columns: readonly string[], row: readonly SqlValue[], entryName: EntryName): string {
  const cell = (name: string) => row[columns.indexOf(name)]
  if (table === 'entries') return `${cell('holder')}/${cell('id')}`
  return columns.includes('entry') ? entryName(cell('entry') as number) : String(row[0])
}

const rest = { help: RESTORE_HELP, repair: null }

export const tables: Check = {
  name: 'tables',
  sound: 'every table is what it was declared as',
  look(db) {
    const rows = db.prepareArrays<[string, string]>('select name, declaration from declarations order by name').all()
    const wrong = rows.filter(([name, json]) => !isStored(db, name, json)).map(([name]) => name)
    return those([problemOf(wrong, 'table is not as declared', 'tables are not as declared', rest)])
  },
}

function isStored(db: SqlDatabase, name: string, json: string): boolean {
  const declared = parsed(json)
  if (!isRecord(declared) || declared['name'] !== name || !Array.isArray(declared['columns'])) return false
  const columns = columnsOf(db, `declared_${name}`).filter(column => column !== CHECK)
  const wanted = declared['columns'].map(column => String((column as { name?: unknown }).name))
  return JSON.stringify([...columns].sort()) === JSON.stringify(wanted.sort())
}

/**
 * Tables whose rows can be deleted without loss when their entry is missing: such rows cannot be reached any more, and were derived from
 * the entry or its file. Rows with what a user wrote (contents, rows of lenses) are kept.
 */
const DERIVED: ReadonlySet<string> = new Set(['entry_tags', 'entry_values', 'chunks', 'access', 'declared_files'])

export const references: Check = {
  name: 'references',
  sound: 'every row belongs to something that exists',
  look: db => those([...orphanTables(db).map(([table, parent]) => orphans(db, table, parent)), withoutContent(db)]),
}

function orphanTables(db: SqlDatabase): readonly (readonly [table: string, parent: string])[] {
  const found = new Map<string, string>()
  const rows = db.prepareArrays<[string, number | null, string]>('pragma foreign_key_check').each()
  for (const [table, , parent] of rows) found.set(table, parent)
  // Tallies (stored counts of chunks and vectors per partition) of a missing partition are left out here, since another check counts all
  // tallies again.
  found.delete('tallies')
  return [...found]
}

function orphans(db: SqlDatabase, table: string, parent: string): Problem | null {
  const name = table.replace(/^declared_/, '')
  const column = parent === 'entries' ? 'entry' : 'partition'
  const gone = `${column} not in (select ${parent === 'entries' ? 'key' : 'id'} from ${parent})`
  const keys = db.prepareArrays<[number]>(`select ${column} from ${quote(table)} where ${gone} order by 1`).all()
  const [one, what] = parent === 'entries' ? ['row', 'entries that are gone'] : ['entry', 'partitions that are gone']
  return problemOf(
    keys.map(([key]) => key),
    `${one} in ${name} of ${what}`,
    `${one === 'row' ? 'rows' : 'entries'} in ${name} of ${what}`,
    DERIVED.has(table)
      ? {
          help: REPAIR_HELP,
          repair: at => dropped(at.prepare(`delete from ${quote(table)} where ${gone}`).run().changes, name),
        }
      : { help: RESTORE_HELP, repair: null },
  )
}

function dropped(rows: number, table: string): string {
  return `dropped ${counted(rows, 'row')} of ${table} that did not belong to anything`
}

/**
 * Finds entries whose content is missing: each entry has a row in `entries` and one with its content in `bodies`, and the second is lost.
 */
function withoutContent(db: SqlDatabase): Problem | null {
  const names = db
    .prepareArrays<[string]>(
      `select holder || '/' || id from entries where key not in (select entry from bodies) order by key`,
    )
    .all()
    .map(([name]) => name)
  return problemOf(names, 'entry without its content', 'entries without their content', {
    help: RESTORE_HELP,
    repair: null,
  })
}

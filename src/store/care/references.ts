/** Rows that belong to something that is gone. */
import type { SqlDatabase } from '../sqlite/sql-driver.ts'
import { quote } from '../sqlite/table.ts'
import { type Check, counted, type Problem, problemOf, REPAIR_HELP, RESTORE_HELP, those } from './problem.ts'

/**
 * Tables of which nothing is lost with a row whose entry is gone: nobody can ask for it any more, and what it says was
 * made from the entry or its file. What somebody wrote (contents, rows of lenses) is left alone.
 */
const DERIVED: ReadonlySet<string> = new Set(['entry_tags', 'entry_values', 'chunks', 'access', 'declared_files'])

export const references: Check = {
  name: 'references',
  sound: 'every row belongs to something that is there',
  look: db => those([...orphanTables(db).map(([table, parent]) => orphans(db, table, parent)), withoutContent(db)]),
}

function orphanTables(db: SqlDatabase): readonly (readonly [table: string, parent: string])[] {
  const found = new Map<string, string>()
  const rows = db.prepareArrays<[string, number | null, string]>('pragma foreign_key_check').each()
  for (const [table, , parent] of rows) found.set(table, parent)
  // Tallies are counted anew from what they count.
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
          mend: at => dropped(at.prepare(`delete from ${quote(table)} where ${gone}`).run().changes, name),
        }
      : { help: RESTORE_HELP, mend: null },
  )
}

function dropped(rows: number, table: string): string {
  return `dropped ${counted(rows, 'row')} of ${table} that belonged to nothing`
}

/** The two rows that make an entry, the one without the other. */
function withoutContent(db: SqlDatabase): Problem | null {
  const names = db
    .prepareArrays<[string]>(
      `select holder || '/' || id from entries where key not in (select entry from bodies) order by key`,
    )
    .all()
    .map(([name]) => name)
  return problemOf(names, 'entry without its content', 'entries without their content', {
    help: RESTORE_HELP,
    mend: null,
  })
}

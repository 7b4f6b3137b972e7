/** What tells who may see an entry, and what tables there are: nothing in the store says how these should be. */
import { type Audience, partitionKey } from '../../model/partition.ts'
import { columnsOf } from '../sqlite/fill-checks.ts'
import { CHECK } from '../sqlite/row-checks.ts'
import type { SqlDatabase } from '../sqlite/sql-driver.ts'
import { isObject, parsed } from './parsed.ts'
import { type Check, problemOf, RESTORE_HELP, those } from './problem.ts'

const rest = { help: RESTORE_HELP, mend: null }

export const partitions: Check = {
  name: 'partitions',
  sound: 'every entry has an audience',
  look(db) {
    const rows = db
      .prepareArrays<[number, string, string]>('select id, name, audience from partitions order by id')
      .all()
    const wrong = rows.filter(([, name, json]) => nameOf(json) !== name).map(([id]) => id)
    return those([
      problemOf(wrong, 'partition is not what its name says', 'partitions are not what their names say', rest),
    ])
  },
}

function nameOf(json: string): string | null {
  const found = parsed(json)
  if (!isObject(found) || !['public', 'private', 'shared'].includes(String(found['kind']))) return null
  if (typeof found['holder'] !== 'string') return null
  if (found['kind'] === 'shared' && !Array.isArray(found['federations'])) return null
  return partitionKey(found as unknown as Audience)
}

export const tables: Check = {
  name: 'tables',
  sound: 'every table is what it was declared as',
  look(db) {
    const rows = db.prepareArrays<[string, string]>('select name, declaration from declarations order by name').all()
    const wrong = rows.filter(([name, json]) => !stands(db, name, json)).map(([name]) => name)
    return those([problemOf(wrong, 'table is not as declared', 'tables are not as declared', rest)])
  },
}

function stands(db: SqlDatabase, name: string, json: string): boolean {
  const declared = parsed(json)
  if (!isObject(declared) || declared['name'] !== name || !Array.isArray(declared['columns'])) return false
  const columns = columnsOf(db, `declared_${name}`).filter(column => column !== CHECK)
  const wanted = declared['columns'].map(column => String((column as { name?: unknown }).name))
  return JSON.stringify([...columns].sort()) === JSON.stringify(wanted.sort())
}

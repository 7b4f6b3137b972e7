/** Entries against themselves: the hash of the content, JSON that can be read, chunks within the content. */
import { sha256 } from '../../base/canonical.ts'
import { checkedTables, columnsOf } from '../sqlite/fill-checks.ts'
import { CHECK, isWhole } from '../sqlite/row-checks.ts'
import { COPY_PREFIX, NAME_BYTES, nameIn } from '../sqlite/schema-copy.ts'
import type { SqlDatabase, SqlValue } from '../sqlite/sql-driver.ts'
import { quote } from '../sqlite/table.ts'
import { isObject, parsed } from './parsed.ts'
import { type Check, counted, type Problem, problemOf, REPAIR_HELP, RESTORE_HELP, those } from './problem.ts'

export const contents: Check = {
  name: 'contents',
  sound: 'every text is as it was written',
  look(db) {
    const [changed, unreadable]: [string[], string[]] = [[], []]
    const texts = db.prepareArrays<[string, string, string, string, string]>(
      `select e.holder || '/' || e.id, b.content, b.content_hash, b.tags, b.metadata
       from bodies b join entries e on e.key = b.entry order by b.entry`,
    )
    for (const [name, content, hash, tags, metadata] of texts.each()) {
      if (sha256(content) !== hash) changed.push(name)
      if (!(Array.isArray(parsed(tags)) && isObject(parsed(metadata)))) unreadable.push(name)
    }
    const help = `${RESTORE_HELP} What came from files is put right by deleting it and adding them again.`
    return those([
      problemOf(changed, 'text is not what was written', 'texts are not what was written', { help, mend: null }),
      problemOf(unreadable, 'entry with unreadable tags or metadata', 'entries with unreadable tags or metadata', {
        help,
        mend: null,
      }),
    ])
  },
}

/** Tables whose damaged rows are reported with a repair of their own. */
const ELSEWHERE: ReadonlySet<string> = new Set(['vectors', 'tallies', 'changes', 'meta'])

/** Every other row against its check: what only this table knows. */
export const rows: Check = {
  name: 'rows',
  sound: 'every row is as it was written',
  look(db) {
    const tables = checkedTables(db).filter(table => !ELSEWHERE.has(table))
    return those([
      ...tables.map(table => {
        const name = table.replace(/^declared_/, '')
        const found = [...damagedRows(db, table)]
        const what = ['row of', 'rows of'].map(rowsOf => `${rowsOf} ${name} not as written`) as [string, string]
        return problemOf(found, ...what, { help: RESTORE_HELP, mend: null })
      }),
      ownValues(db),
    ])
  },
}

/** Values of the store itself that it makes again when they are gone. */
const REMAKEABLE: ReadonlySet<string> = new Set(['revision', 'forgotten', 'overwritten', 'checks', 'cursor_secret'])

function ownValues(db: SqlDatabase): Problem | null {
  const found = [...damagedRows(db, 'meta')]
  const canDrop = found.every(name => REMAKEABLE.has(name) || name.startsWith(COPY_PREFIX))
  const mend = (at: SqlDatabase): string => {
    const drop = at.prepare('delete from meta where name = ?')
    const names = [...damagedRows(at, 'meta')]
    for (const name of names) drop.run(name)
    return `dropped ${counted(names.length, 'value')} that the store makes again`
  }
  const rest = canDrop ? { help: REPAIR_HELP, mend } : { help: RESTORE_HELP, mend: null }
  const shown = found.map(name => name.replace('\0', ''))
  return problemOf(shown, 'value of the store not as written', 'values of the store not as written', rest)
}

/** What tells them apart. A row of an entry that is gone is another finding (`references`). */
function* damagedRows(db: SqlDatabase, table: string): Generator<string> {
  const columns = columnsOf(db, table).filter(name => name !== CHECK)
  const cell = (name: string) => (isNameOfMeta(name) ? NAME_BYTES : quote(name))
  const isNameOfMeta = (name: string) => table === 'meta' && name === 'name'
  const list = [...columns, CHECK].map(cell).join(', ')
  const isOfEntry = columns.includes('entry')
  const where = isOfEntry ? 'where entry in (select key from entries)' : ''
  const found = db.prepareArrays<readonly SqlValue[]>(`select ${list} from ${quote(table)} not indexed ${where}`)
  for (const cells of found.each()) {
    const row = cells.map((value, at) => (isNameOfMeta(columns[at] ?? '') ? nameIn(value) : value))
    if (!isWhole(row)) yield nameOf(table, columns, row)
  }
}

function nameOf(table: string, columns: readonly string[], row: readonly SqlValue[]): string {
  const cell = (name: string) => String(row[columns.indexOf(name)])
  if (table === 'entries') return `${cell('holder')}/${cell('id')}`
  return columns.includes('entry') ? `entry number ${cell('entry')}` : String(row[0])
}

export const chunks: Check = {
  name: 'chunks',
  sound: 'every passage lies within its text',
  look(db) {
    const wrong: string[] = []
    const chunksOf = db.prepareArrays<[number, number, number, string]>(
      'select ordinal, start_unit, end_unit, headings from chunks where entry = ? order by ordinal, key',
    )
    for (const [key, name, length] of lengths(db)) {
      const isWrong = chunksOf.all(key).some(([ordinal, start, end, headings], at) => {
        return ordinal !== at || start < 0 || end < start || end > length || !Array.isArray(parsed(headings))
      })
      if (isWrong) wrong.push(name)
    }
    const help = 'Write these entries again (`querent add`, `put`): their passages are then cut anew.'
    return those([problemOf(wrong, 'entry with wrong passages', 'entries with wrong passages', { help, mend: null })])
  },
}

/** In the UTF-16 units that chunks are measured in, which SQLite does not count. */
function* lengths(db: SqlDatabase): Generator<readonly [key: number, name: string, length: number]> {
  const texts = db.prepareArrays<[number, string, string]>(
    `select e.key, e.holder || '/' || e.id, b.content from entries e join bodies b on b.entry = e.key order by e.key`,
  )
  for (const [key, name, content] of texts.each()) yield [key, name, content.length]
}

/**
 * The pages of the file, as SQLite checks them, and which tables a damage touches. What an index or a lookup table holds
 * stands elsewhere too, so damage there loses nothing; a table of its own rows is never made up from what is left of it.
 */
import { QuerentError } from '../../model/errors.ts'
import type { SqlDatabase } from '../sqlite/sql-driver.ts'
import { quote } from '../sqlite/table.ts'

export interface PageReport {
  /** As SQLite says it; none when all is sound. */
  readonly lines: readonly string[]
  readonly damaged: readonly DamagedTable[]
  /** What is wrong is in no table: pages that nobody uses, or a list of free pages that is wrong. */
  readonly isOutside: boolean
}

/** `rows`: some of its own are damaged. `indexes`: only what repeats them. `derived`: its rows repeat other tables. */
export interface DamagedTable {
  readonly table: string
  readonly part: 'rows' | 'indexes' | 'derived'
  /** The tree of the index is broken, so that SQLite cannot clear it. */
  readonly isBroken: boolean
}

/** Tables that the mending of lookups and tallies fills again. */
const DERIVED: ReadonlySet<string> = new Set(['entry_tags', 'entry_values', 'tallies'])
const MOST_LINES = 200

export function checkPages(db: SqlDatabase): PageReport {
  const lines = linesOf(db, `pragma integrity_check(${MOST_LINES})`)
  if (lines.length === 0) return { lines, damaged: [], isOutside: false }
  const damaged = tablesOf(db).flatMap(table => damageOf(db, table) ?? [])
  // Below a broken page there are pages that nobody seems to use, and a broken page reaches into others: both are of that
  // tree alone.
  const outside = lines.some(line => /freelist/i.test(line))
  const isLoose = damaged.length === 0 && lines.every(line => /never used|2nd reference/.test(line))
  return { lines, damaged, isOutside: outside || isLoose }
}

/** Whether nothing is damaged but what can be made again. */
export function isMendable({ damaged, isOutside, lines }: PageReport): boolean {
  if (damaged.some(({ part }) => part === 'rows')) return false
  // To make an index, pages are taken from the list of free ones: it must be right.
  return isOutside ? damaged.length === 0 : damaged.length > 0 || lines.length === 0
}

/** Also when the check itself fails on the way: what it said before counts. */
export function linesOf(db: SqlDatabase, pragma: string): readonly string[] {
  const lines: string[] = []
  try {
    for (const [text] of db.prepareArrays<[string]>(pragma).each()) lines.push(...text.split('\n'))
  } catch (error) {
    if (!(error instanceof QuerentError) || error.code !== 'store_corrupt') throw error
    lines.push('the check itself met damage')
  }
  return lines.filter(line => line !== 'ok' && !line.startsWith('***'))
}

interface Tree {
  readonly name: string
  readonly root: number
}

function tablesOf(db: SqlDatabase): readonly Tree[] {
  return db
    .prepareArrays<[string, number]>(`select name, rootpage from sqlite_schema where type = 'table' order by name`)
    .all()
    .map(([name, root]) => ({ name, root }))
}

function damageOf(db: SqlDatabase, { name, root }: Tree): DamagedTable | null {
  const lines = linesOf(db, `pragma integrity_check(${quote(name)})`)
  if (lines.length === 0) return null
  const isBroken = lines.some(line => /^Tree |met damage/.test(line))
  if (DERIVED.has(name)) return { table: name, part: 'derived', isBroken: true }
  const isOwn = lines.some(line => line.startsWith(`Tree ${root} `) || / value in /i.test(line))
  const rows = isOwn ? null : countRows(db, `select * from ${quote(name)} not indexed`)
  const part = rows === null || indexesKnowMore(db, name, rows) ? 'rows' : 'indexes'
  return { table: name, part, isBroken }
}

/** Reading every row to its end; null when one cannot be. */
function countRows(db: SqlDatabase, sql: string): number | null {
  try {
    let rows = 0
    for (const _ of db.prepareArrays<[]>(sql).each()) rows++
    return rows
  } catch (error) {
    if (error instanceof QuerentError) return null
    throw error
  }
}

/** An index that is whole and has more entries than there are rows tells of rows that were lost. */
function indexesKnowMore(db: SqlDatabase, table: string, rows: number): boolean {
  const indexes = db
    .prepareArrays<[string, number]>(
      `select name, partial from pragma_index_list(?) where origin <> 'pk' or partial = 0`,
    )
    .all(table)
  return indexes.some(([index, partial]) => {
    if (partial === 1) return false
    const known = countRows(db, `select 1 from ${quote(table)} indexed by ${quote(index)}`)
    return known !== null && known > rows && linesOf(db, `pragma quick_check(${quote(table)})`).length === 0
  })
}

/** One declared table in SQLite. */
import { assert } from '../../base/assert.ts'
import { invalidArgument } from '../../model/errors.ts'
import type { Cell, Row, TableDeclaration } from '../../model/table.ts'
import type { TablePage, TableWriter } from '../store.ts'
import { soundColumns, soundEntries, soundKey, soundPart, soundRow } from '../table-check.ts'
import type { SqlCondition } from './filter.ts'
import type { SqlDatabase, SqlValue } from './sql-driver.ts'
import { keyList, limitOf } from './values.ts'

/** Who hears of what is done to a table. */
export interface TableNotes {
  wrote(): void
  deleted(): void
}

export class SqliteTable implements TableWriter {
  readonly #db: SqlDatabase
  readonly #table: string
  readonly #declaration: TableDeclaration
  readonly #stands: () => boolean
  readonly #notes: TableNotes | null
  /** Statements that a row is read and written by. */
  readonly #getSql: string
  readonly #names: readonly string[]
  readonly #putSql: string

  /** `table` is what statements read from; `stands` says whether it has been made yet; only writers have `notes`. */
  constructor(
    db: SqlDatabase,
    table: string,
    declaration: TableDeclaration,
    stands: () => boolean,
    notes: TableNotes | null = null,
  ) {
    this.#db = db
    this.#table = table
    this.#declaration = declaration
    this.#stands = stands
    this.#notes = notes
    this.#getSql = `select ${allColumns(declaration)} from ${this.#table} where ${keyCondition(declaration)}`
    this.#names = declaration.columns.map(({ name }) => name)
    this.#putSql = upsert(this.#table, declaration)
  }

  get(key: Row): Row | undefined {
    const sound = soundKey(this.#declaration, key)
    if (!this.#stands()) return undefined
    const values = this.#declaration.key.map(name => sound[name] as SqlValue)
    const cells = this.#db.prepareArrays<Cell[]>(this.#getSql).get(...values)
    return cells && rowOf(this.#names, cells)
  }

  scan(where: Row = {}, page: TablePage = {}): readonly Row[] {
    const condition = ofEntries(
      equal(soundPart(this.#declaration, where)),
      soundEntries(this.#declaration, page.entries),
    )
    if (page.after === undefined) return this.#select(condition, page)
    const after = soundKey(this.#declaration, page.after)
    const names = this.#declaration.key
    const behind = `(${names.map(quote).join(', ')}) > (${names.map(() => '?').join(', ')})`
    const values = [...condition.values, ...names.map(name => after[name] as SqlValue)]
    return this.#select({ sql: `${condition.sql} and ${behind}`, values }, page)
  }

  count(where: Row = {}): number {
    const { sql, values } = equal(soundPart(this.#declaration, where))
    if (!this.#stands()) return 0
    const count = this.#db.prepareArrays<[number]>(`select count(*) from ${this.#table} where ${sql}`)
    return count.get(...values)?.[0] ?? 0
  }

  put(row: Row): void {
    this.#mustWrite()
    const { name: table, columns, ofEntry } = this.#declaration
    const sound = soundRow(this.#declaration, row)
    if (ofEntry && !this.#hasEntry(sound['entry'] as number)) {
      throw invalidArgument(`${table}.entry`, sound['entry'], 'an entry that exists')
    }
    this.#db.prepare(this.#putSql).run(...columns.map(({ name }) => sound[name] as SqlValue))
  }

  delete(where: Row): number {
    this.#mustWrite()
    if (Object.keys(where).length === 0) throw invalidArgument(`table ${this.#declaration.name}`, where, 'a condition')
    const { sql, values } = equal(soundPart(this.#declaration, where))
    const { changes } = this.#db.prepare(`delete from ${this.#table} where ${sql}`).run(...values)
    if (changes > 0) this.#notes?.deleted()
    return changes
  }

  #select({ sql, values }: SqlCondition, page: TablePage): readonly Row[] {
    const { limit = Number.POSITIVE_INFINITY } = page
    const names = soundColumns(this.#declaration, page.columns)
    if (!this.#stands()) return []
    const order = this.#declaration.key.map(quote).join(', ')
    const columns = names.map(quote).join(', ')
    return this.#db
      .prepareArrays<Cell[]>(`select ${columns} from ${this.#table} where ${sql} order by ${order} limit ?`)
      .all(...values, limitOf(limit))
      .map(cells => rowOf(names, cells))
  }

  #hasEntry(key: number): boolean {
    return this.#db.prepareArrays('select 1 from entries where key = ?').get(key) !== undefined
  }

  #mustWrite(): void {
    assert(this.#db.writing, 'a writer works only inside its transaction')
    this.#notes?.wrote()
  }
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Half the time that objects of the driver's own making and their copies would take. */
function rowOf(names: readonly string[], cells: readonly Cell[]): Row {
  const row: Record<string, Cell> = {}
  for (let at = 0; at < names.length; at++) row[names[at] as string] = cells[at] as Cell
  return row
}

/** Changes a row in place: replacing it would take it out of every index and put it in again, at ten times the cost. */
function upsert(table: string, declaration: TableDeclaration): string {
  const { columns, key } = declaration
  const rest = columns.map(({ name }) => name).filter(name => !key.includes(name))
  const change = rest.map(name => `${quote(name)} = excluded.${quote(name)}`).join(', ')
  return `insert into ${table} (${allColumns(declaration)}) values (${columns.map(() => '?').join(', ')})
    on conflict (${key.map(quote).join(', ')}) do ${rest.length === 0 ? 'nothing' : `update set ${change}`}`
}

function allColumns({ columns }: TableDeclaration): string {
  return columns.map(({ name }) => quote(name)).join(', ')
}

function keyCondition({ key }: TableDeclaration): string {
  return key.map(name => `${quote(name)} = ?`).join(' and ')
}

function ofEntries({ sql, values }: SqlCondition, entries: readonly number[] | undefined): SqlCondition {
  if (entries === undefined) return { sql, values }
  return { sql: `${sql} and entry in (select value from json_each(?))`, values: [...values, keyList(entries)] }
}

/** `is` holds for null too, and uses an index as `=` does. */
function equal(part: Row): SqlCondition {
  const names = Object.keys(part)
  return {
    sql: ['1', ...names.map(name => `${quote(name)} is ?`)].join(' and '),
    values: names.map(name => part[name] as SqlValue),
  }
}

/** One declared table in SQLite. */
import { assert } from '../../base/assert.ts'
import { invalidArgument, type QuerentError } from '../../model/errors.ts'
import type { Cell, Row, TableDeclaration } from '../../model/table.ts'
import type { TablePage, TableWriter } from '../store.ts'
import { soundColumns, soundEntries, soundKey, soundPart, soundRow } from '../table-check.ts'
import type { SqlCondition } from './filter.ts'
import { CHECK, checked, type DamagePolicy, damaged, isWhole } from './row-checks.ts'
import { rowsInOrder } from './rows.ts'
import type { SqlDatabase, SqlValue } from './sql-driver.ts'
import { keyList, limitOf } from './values.ts'

/** Who hears of what is done to a table. */
export interface TableNotes {
  wrote(): void
  deleted(): void
}

/** What statements read from, and the connection they are read by. */
export interface TablePlace {
  readonly db: SqlDatabase
  readonly damage: DamagePolicy
  readonly table: string
}

export class SqliteTable implements TableWriter {
  readonly #db: SqlDatabase
  readonly #damage: DamagePolicy
  readonly #table: string
  readonly #declaration: TableDeclaration
  readonly #stands: () => boolean
  readonly #notes: TableNotes | null
  /** Statements that a row is read and written by. */
  readonly #getSql: string
  readonly #names: readonly string[]
  readonly #columns: string
  readonly #putSql: string

  /** `stands` says whether the table has been made yet; only writers have `notes`. */
  constructor(
    { db, damage, table }: TablePlace,
    declaration: TableDeclaration,
    stands: () => boolean,
    notes: TableNotes | null = null,
  ) {
    this.#db = db
    this.#damage = damage
    this.#table = table
    this.#declaration = declaration
    this.#stands = stands
    this.#notes = notes
    this.#names = declaration.columns.map(({ name }) => name)
    this.#columns = [...this.#names, CHECK].map(quote).join(', ')
    this.#getSql = `select ${this.#columns} from ${this.#table} where ${keyCondition(declaration)}`
    this.#putSql = upsert(this.#table, declaration)
  }

  get(key: Row): Row | undefined {
    const sound = soundKey(this.#declaration, key)
    if (!this.#stands()) return undefined
    const values = this.#declaration.key.map(name => sound[name] as SqlValue)
    try {
      const cells = this.#db.prepareArrays<Cell[]>(this.#getSql).get(...values)
      return cells === undefined ? undefined : this.#taker(sound, this.#names)(cells)
    } catch (error) {
      this.#damage.met(error)
      return undefined
    }
  }

  scan(where: Row = {}, page: TablePage = {}): readonly Row[] {
    const part = soundPart(this.#declaration, where)
    const condition = ofEntries(equal(part), soundEntries(this.#declaration, page.entries))
    if (page.after === undefined) return this.#select(condition, part, page)
    const after = soundKey(this.#declaration, page.after)
    const names = this.#declaration.key
    const behind = `(${names.map(quote).join(', ')}) > (${names.map(() => '?').join(', ')})`
    const values = [...condition.values, ...names.map(name => after[name] as SqlValue)]
    return this.#select({ sql: `${condition.sql} and ${behind}`, values }, part, page)
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
    this.#db.prepare(this.#putSql).run(...checked(columns.map(({ name }) => sound[name] as SqlValue)))
  }

  delete(where: Row): number {
    this.#mustWrite()
    if (Object.keys(where).length === 0) throw invalidArgument(`table ${this.#declaration.name}`, where, 'a condition')
    const { sql, values } = equal(soundPart(this.#declaration, where))
    const { changes } = this.#db.prepare(`delete from ${this.#table} where ${sql}`).run(...values)
    if (changes > 0) this.#notes?.deleted()
    return changes
  }

  /** Whole rows, also where only some columns are asked for: a check is of a row. */
  #select({ sql, values }: SqlCondition, part: Row, page: TablePage): readonly Row[] {
    const { limit = Number.POSITIVE_INFINITY } = page
    const names = soundColumns(this.#declaration, page.columns)
    if (!this.#stands()) return []
    const { key } = this.#declaration
    const select = `select ${this.#columns} from ${this.#table} where ${sql}`
    const ordered = {
      forward: `${select} order by ${key.map(quote).join(', ')}`,
      backward: `${select} order by ${key.map(name => `${quote(name)} desc`).join(', ')}`,
      ...{ values, limit: limitOf(limit), take: this.#taker(part, names) },
    }
    return rowsInOrder(this.#db, ordered, this.#damage)
  }

  /** Makes the row asked for of cells that are as they were written, and that an index did not give for others. */
  #taker(part: Row, names: readonly string[]): (cells: Cell[]) => Row {
    const [all, asked] = [this.#names, Object.keys(part).filter(name => isPlain(part[name]))]
    const isAll = names.length === all.length && names.every((name, at) => name === all[at])
    return cells => {
      const row = rowOf(all, cells)
      if (!isWhole(cells) || asked.some(name => row[name] !== part[name])) throw this.#damaged(row)
      return isAll ? row : some(row, names)
    }
  }

  #damaged(row: Row): QuerentError {
    const { name, key } = this.#declaration
    const place = key.map(column => showCell(row[column])).join('/')
    return damaged(`row ${place} of ${name}`, { table: name, key: place })
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

function some(row: Row, names: readonly string[]): Row {
  return Object.fromEntries(names.map(name => [name, row[name] as Cell]))
}

/** Bytes are equal without being the same. */
function isPlain(cell: Cell | undefined): boolean {
  return !(cell instanceof Uint8Array)
}

function showCell(cell: Cell | undefined): string {
  return cell instanceof Uint8Array ? Buffer.from(cell).toString('hex') : String(cell)
}

/** Changes a row in place: replacing it would take it out of every index and put it in again, at ten times the cost. */
function upsert(table: string, declaration: TableDeclaration): string {
  const { columns, key } = declaration
  const rest = columns.map(({ name }) => name).filter(name => !key.includes(name))
  const change = [...rest, CHECK].map(name => `${quote(name)} = excluded.${quote(name)}`).join(', ')
  const all = [...columns.map(({ name }) => name), CHECK]
  return `insert into ${table} (${all.map(quote).join(', ')}) values (${all.map(() => '?').join(', ')})
    on conflict (${key.map(quote).join(', ')}) do update set ${change}`
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

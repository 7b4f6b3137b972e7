/** Tables declared by lenses, in SQLite: a table is created at its first write, and its declaration is recorded in the file. */

import { assert } from '../../base/assert.ts'
import { invalidArgument, type QuerentError } from '../../model/errors.ts'
import type { Cell, ColumnDeclaration, Row, TableDeclaration } from '../../model/table.ts'
import {
  checkDeclaration,
  missingColumns,
  soundCells,
  soundColumns,
  soundEntries,
  soundKey,
  soundPart,
  TableVersions,
} from '../check.ts'
import type { TablePage, TableReader, TableWriter } from '../store.ts'
import type { SqliteForgotten } from './changes.ts'
import type { SqlDatabase, SqlValue } from './node-sqlite.ts'
import { CHECK, checked, checkOf, type DamagePolicy, damaged, isWhole, keyList, limitOf, rowsInOrder } from './rows.ts'
import { renewSchemaCopy } from './schema.ts'
import type { AspectLookup, SqlCondition, ValueType } from './search.ts'

/** For each declared column type, the type as which filters compare its values; null: not comparable (bytes). */
const VALUE_TYPES: Readonly<Record<ColumnDeclaration['type'], ValueType | null>> = {
  text: 'text',
  integer: 'number',
  real: 'number',
  blob: null,
}

export class SqliteTables {
  readonly versions: TableVersions = new TableVersions()
  readonly #db: SqlDatabase
  readonly #forgotten: SqliteForgotten
  readonly #damage: DamagePolicy
  /** Declarations of tables that were found in the file, by table name. */
  #known = new Map<string, TableDeclaration>()
  /** SQLite's schema version of the file when all declarations were last read. */
  #schema = -1
  /** Number of the transaction in which the schema version was last compared with the file's; 0: none. */
  #checkedIn = 0
  /** Names of tables whose declaration was damaged when all declarations were last read. */
  #damagedNames: ReadonlySet<string> = new Set()
  readonly #readers = new WeakMap<TableDeclaration, SqliteTable>()
  /** Readers of tables that did not exist when the reader was made; no longer used once the table is known. */
  #readersOfMissing = new WeakMap<TableDeclaration, SqliteTable>()
  readonly #writers = new WeakMap<TableDeclaration, SqliteTable>()

  constructor(db: SqlDatabase, forgotten: SqliteForgotten, damage: DamagePolicy) {
    this.#damage = damage
    this.#db = db
    this.#forgotten = forgotten
    db.onRollback(() => {
      this.#known.clear()
      this.#readersOfMissing = new WeakMap()
      this.#schema = -1
      this.#checkedIn = 0
    })
  }

  /** A reader of a declared table. While the table does not exist, it reads as empty; once it is created, the reader reads its rows. */
  reader(declaration: TableDeclaration): TableReader {
    checkDeclaration(declaration)
    const isMissing = !this.#known.has(declaration.name)
    const known = this.#readers.get(declaration) ?? (isMissing ? this.#readersOfMissing.get(declaration) : undefined)
    if (known !== undefined) return known
    // All declarations are read at once. A table that did not exist then may have been created since; this is not checked here, but by the
    // reader when rows are read.
    const found = this.#schema < 0 || this.#known.has(declaration.name) ? this.#find(declaration) : undefined
    const place = { db: this.#db, damage: this.#damage, table: readFrom(declaration, found) }
    const made = new SqliteTable(place, declaration, () => this.#find(declaration) !== undefined)
    const readers = found === undefined ? this.#readersOfMissing : this.#readers
    readers.set(declaration, made)
    return made
  }

  /** A writer of a declared table; creates the table in the file, or the columns and indexes that it lacks. */
  writer(declaration: TableDeclaration): TableWriter {
    checkDeclaration(declaration)
    const found = this.#find(declaration)
    const missing = found === undefined ? [] : missingColumns(found, declaration)
    if (found === undefined || missing.length > 0 || isDeclaredAgain(found, declaration)) {
      this.#make(declaration, missing)
    }
    const known = this.#writers.get(declaration)
    if (known !== undefined) return known
    const notes = {
      wrote: () => this.versions.wrote(declaration.name),
      deleted: () => {
        if (declaration.mechanical !== true) this.#forgotten.note()
      },
    }
    const place = { db: this.#db, damage: this.#damage, table: quote(physicalName(declaration)) }
    const made = new SqliteTable(place, declaration, () => true, notes)
    this.#writers.set(declaration, made)
    return made
  }

  readonly aspectColumn: AspectLookup = (aspect, name) => {
    const ofAspect = (declaration: TableDeclaration) => declaration.aspect === aspect
    const declaration = [...this.#known.values()].find(ofAspect) ?? this.#load().find(ofAspect)
    const column = declaration?.columns.find(candidate => candidate.name === name)
    const type = column && VALUE_TYPES[column.type]
    return declaration && type ? { table: physicalName(declaration), column: name, type } : undefined
  }

  /**
   * The declaration stored under this table's name; undefined: there is none. Throws where the stored one belongs to a different table than
   * the given declaration.
   */
  #find(declaration: TableDeclaration): TableDeclaration | undefined {
    const { name } = declaration
    const found = this.#known.get(name) ?? this.#lookUp(name)
    if (found !== undefined) missingColumns(found, declaration)
    return found
  }

  /**
   * Finds a stored declaration by name, reading all declarations at once and caching them: reading takes longer than most queries, and
   * tables that do not exist are looked up often.
   */
  #lookUp(name: string): TableDeclaration | undefined {
    if (!this.#isCurrent() || this.#damagedNames.has(name)) this.#load()
    if (this.#damagedNames.has(name)) throw damaged(`table ${name}`, { table: name })
    return this.#known.get(name)
  }

  /** Whether the cached declarations are current, that is, were read since any process last created a table. */
  #isCurrent(): boolean {
    const { transaction } = this.#db
    if (transaction !== 0 && transaction === this.#checkedIn) return true
    const schema = this.#db.prepareArrays<[number]>('pragma schema_version').get()?.[0] ?? -1
    const isCurrent = schema === this.#schema
    this.#schema = schema
    this.#checkedIn = transaction
    return isCurrent
  }

  /** Reads the current declarations from the file; damaged ones are left out. */
  all(): readonly TableDeclaration[] {
    return this.#load()
  }

  #load(): readonly TableDeclaration[] {
    const rows = this.#db
      .prepareArrays<[string, string, number]>('select name, declaration, _check from declarations order by name')
      .all()
    // The names of tables with a damaged declaration are kept: such a table cannot be used, and must not be created again beside the
    // existing one.
    const [whole, others] = [rows.filter(row => isWhole(row)), rows.filter(row => !isWhole(row))]
    const declarations = whole.map(([, json]) => JSON.parse(json) as TableDeclaration)
    this.#damagedNames = new Set(others.map(([name]) => name))
    for (const declaration of declarations) this.#known.set(declaration.name, declaration)
    return declarations
  }

  #make(declaration: TableDeclaration, missing: readonly ColumnDeclaration[]): void {
    const table = physicalName(declaration)
    this.#db.exec(createTable(table, declaration))
    for (const { name, type } of missing) this.#db.exec(`alter table ${quote(table)} add column ${quote(name)} ${type}`)
    for (const sql of createIndexes(declaration)) this.#db.exec(sql)
    this.#db
      .prepare('insert or replace into declarations (name, declaration, _check) values (?, ?, ?)')
      .run(...checked([declaration.name, JSON.stringify(declaration)]))
    renewSchemaCopy(this.#db)
    this.#known.set(declaration.name, declaration)
  }
}

/** SQL of the table as it is read: columns that an older table lacks read as null, until the first write adds them. */
function readFrom(declaration: TableDeclaration, found: TableDeclaration | undefined): string {
  const table = quote(physicalName(declaration))
  const missing = found === undefined ? [] : missingColumns(found, declaration)
  if (missing.length === 0) return table
  return `(select *, ${missing.map(({ name }) => `null as ${quote(name)}`).join(', ')} from ${table})`
}

/** Name of a declared table in the file: a prefix keeps it apart from the store's own tables, whatever name a lens chooses. */
export function physicalName({ name }: TableDeclaration): string {
  return `declared_${name}`
}

function createTable(table: string, { columns, key, ofEntry }: TableDeclaration): string {
  const lines = columns.map(({ name, type, nullable }) => {
    const parent = ofEntry && name === 'entry' ? ' references entries on delete cascade' : ''
    return `${quote(name)} ${type}${nullable ? '' : ' not null'}${parent}`
  })
  lines.push(`${CHECK} integer`)
  lines.push(`primary key (${key.map(quote).join(', ')})`)
  return `create table if not exists ${quote(table)} (${lines.join(', ')}) strict`
}

export function createIndexes(declaration: TableDeclaration): readonly string[] {
  const table = physicalName(declaration)
  return indexesOf(declaration).map(columns => {
    const name = quote(`${table} by ${columns.join(', ')}`)
    return `create index if not exists ${name} on ${quote(table)} (${columns.map(quote).join(', ')})`
  })
}

/** Indexes of a declared table: the declared ones, and one by which the rows of a deleted entry are found. */
function indexesOf({ ofEntry, key, indexes = [] }: TableDeclaration): readonly (readonly string[])[] {
  return ofEntry && key[0] !== 'entry' ? [['entry'], ...indexes] : indexes
}

/**
 * Whether the declaration of a table differs from the stored one in its indexes, or in the holder to whose byte quota its rows count, so
 * that the stored declaration must be updated.
 */
function isDeclaredAgain(found: TableDeclaration, declaration: TableDeclaration): boolean {
  if (found === declaration) return false
  return indexList(found) !== indexList(declaration) || found.countedFor !== declaration.countedFor
}

function indexList(declaration: TableDeclaration): string {
  return JSON.stringify(declaration.indexes ?? [])
}

/** Functions that a table's writer calls when it has written or deleted rows. */
interface TableNotes {
  wrote(): void
  deleted(): void
}

/** Where a table's statements run: its connection, damage policy, and the SQL name or expression of the table. */
interface TablePlace {
  readonly db: SqlDatabase
  readonly damage: DamagePolicy
  readonly table: string
}

class SqliteTable implements TableWriter {
  readonly #db: SqlDatabase
  readonly #damage: DamagePolicy
  readonly #table: string
  readonly #declaration: TableDeclaration
  readonly #exists: () => boolean
  readonly #notes: TableNotes | null
  /** SQL statements of the table: `#getSql` reads a row by its key, `#putSql` writes a row. */
  readonly #getSql: string
  readonly #names: readonly string[]
  readonly #columns: string
  readonly #putSql: string

  /**
   * `exists`: tells whether the table has been created yet. `notes`: functions called when rows are written or deleted; null for readers.
   */
  constructor(
    { db, damage, table }: TablePlace,
    declaration: TableDeclaration,
    exists: () => boolean,
    notes: TableNotes | null = null,
  ) {
    this.#db = db
    this.#damage = damage
    this.#table = table
    this.#declaration = declaration
    this.#exists = exists
    this.#notes = notes
    this.#names = declaration.columns.map(({ name }) => name)
    this.#columns = [...this.#names, CHECK].map(quote).join(', ')
    this.#getSql = `select ${this.#columns} from ${this.#table} where ${keyCondition(declaration)}`
    this.#putSql = upsert(this.#table, declaration)
  }

  get(key: Row): Row | undefined {
    const sound = soundKey(this.#declaration, key)
    if (!this.#exists()) return undefined
    const values = this.#declaration.key.map(name => sound[name] as SqlValue)
    try {
      const cells = this.#db.prepareArrays<Cell[]>(this.#getSql).get(...values)
      return cells === undefined ? undefined : this.#rowReader(sound, this.#names)(cells)
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
    if (!this.#exists()) return 0
    const count = this.#db.prepareArrays<[number]>(`select count(*) from ${this.#table} where ${sql}`)
    return count.get(...values)?.[0] ?? 0
  }

  put(row: Row): void {
    this.#mustWrite()
    const { name: table, ofEntry } = this.#declaration
    const cells = soundCells(this.#declaration, row) as SqlValue[]
    cells.push(checkOf(cells))
    const { changes } = this.#db.prepare(this.#putSql).run(...cells)
    if (changes === 0 && ofEntry) throw invalidArgument(`${table}.entry`, row['entry'], 'an entry that exists')
  }

  delete(where: Row): number {
    this.#mustWrite()
    if (Object.keys(where).length === 0) throw invalidArgument(`table ${this.#declaration.name}`, where, 'a condition')
    const { sql, values } = equal(soundPart(this.#declaration, where))
    const { changes } = this.#db.prepare(`delete from ${this.#table} where ${sql}`).run(...values)
    if (changes > 0) this.#notes?.deleted()
    return changes
  }

  /** Whole rows are read even where only some columns are requested, since a check sum covers a whole row. */
  #select({ sql, values }: SqlCondition, part: Row, page: TablePage): readonly Row[] {
    const { limit = Number.POSITIVE_INFINITY } = page
    const names = soundColumns(this.#declaration, page.columns)
    if (!this.#exists()) return []
    const { key } = this.#declaration
    const select = `select ${this.#columns} from ${this.#table} where ${sql}`
    const ordered = {
      forward: `${select} order by ${key.map(quote).join(', ')}`,
      backward: `${select} order by ${key.map(name => `${quote(name)} desc`).join(', ')}`,
      ...{ values, limit: limitOf(limit), take: this.#rowReader(part, names) },
    }
    return rowsInOrder(this.#db, ordered, this.#damage)
  }

  /**
   * Returns a function that makes the requested row from its cells. It throws unless the cells are undamaged and meet the condition, as a
   * damaged index may lead to a wrong row.
   */
  #rowReader(part: Row, names: readonly string[]): (cells: Cell[]) => Row {
    const placeOf = (name: string) => this.#names.indexOf(name)
    const asked = Object.keys(part).filter(name => isPlain(part[name]))
    const [places, askedPlaces] = [names.map(placeOf), asked.map(placeOf)]
    return cells => {
      if (!isWhole(cells) || askedPlaces.some((place, at) => cells[place] !== part[asked[at] as string]))
        throw this.#damaged(cells)
      const row: Record<string, Cell> = {}
      // Filling the object in a loop takes half the time of objects made by the driver and then copied.
      for (let at = 0; at < names.length; at++) row[names[at] as string] = cells[places[at] as number] as Cell
      return row
    }
  }

  #damaged(cells: readonly Cell[]): QuerentError {
    const { name, key } = this.#declaration
    const place = key.map(column => showCell(cells[this.#names.indexOf(column)])).join('/')
    return damaged(`row ${place} of ${name}`, { table: name, key: place })
  }

  #mustWrite(): void {
    assert(this.#db.writing, 'a writer works only inside its transaction')
    this.#notes?.wrote()
  }
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Whether a cell can be compared with `===`; equal byte arrays are different objects. */
function isPlain(cell: Cell | undefined): boolean {
  return !(cell instanceof Uint8Array)
}

function showCell(cell: Cell | undefined): string {
  return cell instanceof Uint8Array ? Buffer.from(cell).toString('hex') : String(cell)
}

/**
 * SQL that inserts a row or changes it in place: replacing a row would remove and add it in every index, at ten times the cost. Writes
 * nothing for an entry that does not exist.
 */
function upsert(table: string, declaration: TableDeclaration): string {
  const { columns, key, ofEntry } = declaration
  const rest = columns.map(({ name }) => name).filter(name => !key.includes(name))
  const change = [...rest, CHECK].map(name => `${quote(name)} = excluded.${quote(name)}`).join(', ')
  const all = [...columns.map(({ name }) => name), CHECK]
  const entry = 1 + columns.findIndex(({ name }) => name === 'entry')
  const condition = ofEntry ? `exists (select 1 from entries where key = ?${entry})` : 'true'
  return `insert into ${table} (${all.map(quote).join(', ')})
    select ${all.map((_, at) => `?${at + 1}`).join(', ')} where ${condition}
    on conflict (${key.map(quote).join(', ')}) do update set ${change}`
}

function keyCondition({ key }: TableDeclaration): string {
  return key.map(name => `${quote(name)} = ?`).join(' and ')
}

function ofEntries({ sql, values }: SqlCondition, entries: readonly number[] | undefined): SqlCondition {
  if (entries === undefined) return { sql, values }
  return { sql: `${sql} and entry in (select value from json_each(?))`, values: [...values, keyList(entries)] }
}

/** SQL condition that columns equal the given values. It uses `is`, which also works for null and uses an index like `=`. */
function equal(part: Row): SqlCondition {
  const names = Object.keys(part)
  return {
    sql: ['1', ...names.map(name => `${quote(name)} is ?`)].join(' and '),
    values: names.map(name => part[name] as SqlValue),
  }
}

/** Declared tables in SQLite: made when first written to, and remembered in the file with their declaration. */
import type { ColumnDeclaration, TableDeclaration } from '../../model/table.ts'
import type { TableReader, TableWriter } from '../store.ts'
import { checkDeclaration, missingColumns } from '../table-check.ts'
import { TableVersions } from '../table-versions.ts'
import type { AspectLookup, ValueType } from './filter.ts'
import type { SqliteForgotten } from './forgotten.ts'
import { CHECK, checked, type DamagePolicy, damaged, isWhole } from './row-checks.ts'
import { renewSchemaCopy } from './schema-copy.ts'
import type { SqlDatabase } from './sql-driver.ts'
import { quote, SqliteTable } from './table.ts'

/** How filters compare a column; bytes they do not. */
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
  /** Declarations that were seen in the file, by name. */
  #known = new Map<string, TableDeclaration>()
  readonly #readers = new WeakMap<TableDeclaration, SqliteTable>()
  readonly #writers = new WeakMap<TableDeclaration, SqliteTable>()

  constructor(db: SqlDatabase, forgotten: SqliteForgotten, damage: DamagePolicy) {
    this.#damage = damage
    this.#db = db
    this.#forgotten = forgotten
    db.onRollback(() => this.#known.clear())
  }

  /** A table that is not there yet reads as empty, and as soon as it is there as what it holds. */
  reader(declaration: TableDeclaration): TableReader {
    checkDeclaration(declaration)
    const stands = () => this.#find(declaration) !== undefined
    stands()
    const known = this.#readers.get(declaration)
    if (known !== undefined) return known
    const made = new SqliteTable(
      { db: this.#db, damage: this.#damage, table: this.#readFrom(declaration) },
      declaration,
      stands,
    )
    this.#readers.set(declaration, made)
    return made
  }

  /** Makes the table, or the columns and indexes it lacks. */
  writer(declaration: TableDeclaration): TableWriter {
    checkDeclaration(declaration)
    const found = this.#find(declaration)
    const missing = found === undefined ? [] : missingColumns(found, declaration)
    if (found === undefined || missing.length > 0 || isDeclaredAnew(found, declaration)) {
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

  /** Columns that a table of an older version lacks read as null, until the first write adds them. */
  #readFrom(declaration: TableDeclaration): string {
    const table = quote(physicalName(declaration))
    const found = this.#find(declaration)
    const missing = found === undefined ? [] : missingColumns(found, declaration)
    if (missing.length === 0) return table
    return `(select *, ${missing.map(({ name }) => `null as ${quote(name)}`).join(', ')} from ${table})`
  }

  /** The stored declaration of this name; throws when it declares another table. */
  #find(declaration: TableDeclaration): TableDeclaration | undefined {
    const found = this.#known.get(declaration.name) ?? this.#load().find(({ name }) => name === declaration.name)
    if (found !== undefined) missingColumns(found, declaration)
    else if (this.#isDamaged(declaration.name)) throw damaged(`table ${declaration.name}`, { table: declaration.name })
    return found
  }

  /** As the file has them now, without those that are damaged. */
  all(): readonly TableDeclaration[] {
    return this.#load()
  }

  #isDamaged(name: string): boolean {
    const sql = 'select 1 from declarations where name = ?'
    return this.#db.prepareArrays(sql).get(name) !== undefined
  }

  #load(): readonly TableDeclaration[] {
    const rows = this.#db
      .prepareArrays<[string, string, number]>('select name, declaration, _check from declarations order by name')
      .all()
    // The table of one that is damaged is not found, and cannot be made again beside the one that is there.
    const declarations = rows.filter(row => isWhole(row)).map(([, json]) => JSON.parse(json) as TableDeclaration)
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

/** Apart from the store's own tables, whatever a lens calls its own. */
export function physicalName({ name }: TableDeclaration): string {
  return `declared_${name}`
}

export function createTable(table: string, { columns, key, ofEntry }: TableDeclaration): string {
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

/** The declared ones, and what deleting an entry needs to find its rows. */
function indexesOf({ ofEntry, key, indexes = [] }: TableDeclaration): readonly (readonly string[])[] {
  return ofEntry && key[0] !== 'entry' ? [['entry'], ...indexes] : indexes
}

/** What may change of a declaration beside its columns. */
function isDeclaredAnew(found: TableDeclaration, declaration: TableDeclaration): boolean {
  return indexList(found) !== indexList(declaration) || found.countedFor !== declaration.countedFor
}

function indexList(declaration: TableDeclaration): string {
  return JSON.stringify(declaration.indexes ?? [])
}

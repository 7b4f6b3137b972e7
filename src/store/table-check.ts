/** Declared tables, as every store holds them to their declaration. */
import type { EntryKey } from '../model/entry.ts'
import { invalidArgument, QuerentError } from '../model/errors.ts'
import type { Cell, ColumnDeclaration, Row, TableDeclaration } from '../model/table.ts'
import { checkText } from './check.ts'

const NAME = /^[a-z][a-z0-9_]{0,62}$/

/** What is known of declarations: they are constants, and looked at with every access to a table. */
const soundOnes = new WeakSet<TableDeclaration>()
const shapes = new WeakMap<TableDeclaration, string>()

/** Refuses a declaration that no store could make a table from. */
export function checkDeclaration(table: TableDeclaration): void {
  if (soundOnes.has(table)) return
  const columns = new Set<string>()
  for (const name of [table.name, ...table.columns.map(column => column.name)]) {
    if (!NAME.test(name)) throw invalidArgument(`table ${table.name}`, name, 'a snake_case name')
  }
  for (const { name } of table.columns) {
    if (columns.has(name)) throw invalidArgument(`table ${table.name}`, name, 'each column once')
    columns.add(name)
  }
  if (table.key.length === 0) throw invalidArgument(`table ${table.name}`, [], 'a primary key')
  for (const name of [...table.key, ...(table.indexes ?? []).flat()]) columnOf(table, name)
  for (const name of table.key) {
    if (columnOf(table, name).nullable) throw invalidArgument(`table ${table.name}`, name, 'no null in the key')
  }
  if (table.ofEntry && columnOf(table, 'entry').type !== 'integer') {
    throw invalidArgument(`table ${table.name}`, 'entry', 'an integer column')
  }
  if (table.aspect !== undefined && (!table.ofEntry || table.key.join() !== 'entry')) {
    throw invalidArgument(`table ${table.name}`, table.aspect, 'an aspect to belong to entries and be keyed by entry')
  }
  soundOnes.add(table)
}

/**
 * The columns that a stored table lacks to be the declared one. A declaration may grow nullable columns at its end, and
 * change its indexes; with any other difference it is another table, which throws `conflict`.
 */
export function missingColumns(stored: TableDeclaration, declared: TableDeclaration): readonly ColumnDeclaration[] {
  if (stored === declared || tableShape(stored) === tableShape(declared)) return []
  const missing = declared.columns.slice(stored.columns.length)
  const rest = { ...declared, columns: declared.columns.slice(0, stored.columns.length) }
  const isGrown = shapeOf(rest) === tableShape(stored) && missing.every(({ nullable }) => nullable === true)
  if (!isGrown) throw tableMismatch(declared.name)
  return missing
}

function tableShape(table: TableDeclaration): string {
  const known = shapes.get(table)
  if (known !== undefined) return known
  const shape = shapeOf(table)
  shapes.set(table, shape)
  return shape
}

function tableMismatch(name: string): QuerentError {
  const message = `table ${name}: the store has one of this name with other columns, which another version made; \`querent export --skip-damaged\` saves everything else`
  return new QuerentError('conflict', message, { field: name })
}

/** The cells of a row in declared order: absent ones null, -0 made 0. */
export function soundCells(table: TableDeclaration, row: Row): Cell[] {
  for (const name of Object.keys(row)) columnOf(table, name)
  return table.columns.map(column => soundCell(table, column, row[column.name]))
}

/** Some columns of a row, checked: a condition. */
export function soundPart(table: TableDeclaration, part: Row): Row {
  const cells = Object.entries(part).map(([name, cell]) => {
    const column = columnOf(table, name)
    return [name, cell === null ? null : soundCell(table, column, cell)] as const
  })
  return Object.fromEntries(cells)
}

/** The condition that names a row by its whole key. */
export function soundKey(table: TableDeclaration, key: Row): Row {
  const names = Object.keys(key)
  if (names.length !== table.key.length || !table.key.every(name => name in key)) {
    throw invalidArgument(`table ${table.name}`, names, `the key columns ${table.key.join(', ')}`)
  }
  return soundPart(table, key)
}

/** The columns asked for, checked; all when none are named. */
export function soundColumns(table: TableDeclaration, names: readonly string[] | undefined): readonly string[] {
  for (const name of names ?? []) columnOf(table, name)
  return names ?? table.columns.map(({ name }) => name)
}

/** As given, where the table's rows can be told apart by entry. */
export function soundEntries(
  table: TableDeclaration,
  entries: readonly EntryKey[] | undefined,
): readonly EntryKey[] | undefined {
  if (entries !== undefined) columnOf(table, 'entry')
  return entries
}

function shapeOf(table: TableDeclaration): string {
  const columns = table.columns.map(({ name, type, nullable }) => [name, type, nullable === true])
  return JSON.stringify([columns, table.key, table.ofEntry === true, table.aspect ?? null])
}

function columnOf(table: TableDeclaration, name: string): ColumnDeclaration {
  const column = columnsOf(table).get(name)
  if (column === undefined) throw invalidArgument(`table ${table.name}`, name, 'a declared column')
  return column
}

const columnMaps = new WeakMap<TableDeclaration, ReadonlyMap<string, ColumnDeclaration>>()

function columnsOf(table: TableDeclaration): ReadonlyMap<string, ColumnDeclaration> {
  const known = columnMaps.get(table)
  if (known !== undefined) return known
  const made = new Map(table.columns.map(column => [column.name, column]))
  columnMaps.set(table, made)
  return made
}

function soundCell(table: TableDeclaration, column: ColumnDeclaration, cell: Cell | undefined): Cell {
  const field = () => `${table.name}.${column.name}`
  if (cell === null || cell === undefined) {
    if (!column.nullable) throw invalidArgument(field(), cell, 'a value')
    return null
  }
  switch (column.type) {
    case 'text':
      if (typeof cell !== 'string') throw invalidArgument(field(), cell, 'text')
      checkText(field(), cell)
      return cell
    case 'integer':
      if (!Number.isSafeInteger(cell)) throw invalidArgument(field(), cell, 'a whole number')
      return (cell as number) + 0
    case 'real':
      if (!Number.isFinite(cell)) throw invalidArgument(field(), cell, 'a finite number')
      return (cell as number) + 0
    case 'blob':
      if (!(cell instanceof Uint8Array)) throw invalidArgument(field(), cell, 'bytes')
      return cell
  }
}

/** Which declared tables were written, so that who keeps something made of one table outlives writes to the others. */
export class TableVersions {
  #counter = 0
  /** Of tables that this store has not written since others did. */
  #others = 0
  readonly #own = new Map<string, number>()
  readonly #open = new Set<string>()

  /** A transaction begins. */
  begin(): void {
    this.#open.clear()
  }

  wrote(table: string): void {
    this.#open.add(table)
  }

  /** It was committed. */
  commit(): void {
    for (const table of this.#open) this.#own.set(table, ++this.#counter)
  }

  /** Others wrote: who knows what. */
  moved(): void {
    this.#others = ++this.#counter
    this.#own.clear()
  }

  of(table: string): number {
    return this.#own.get(table) ?? this.#others
  }
}

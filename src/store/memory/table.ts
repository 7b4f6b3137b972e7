/** A declared table of the in-memory store. */
import { invalidArgument } from '../../model/errors.ts'
import type { Cell, Row, TableDeclaration } from '../../model/table.ts'
import type { TablePage, TableWriter } from '../store.ts'
import { compareCells, soundColumns, soundEntries, soundKey, soundPart, soundRow } from '../table-check.ts'
import type { TableVersions } from '../table-versions.ts'
import { type Journal, JournaledMap } from './journal.ts'

/** What tables share with their store. */
interface TableState {
  readonly journal: Journal
  readonly copies: boolean
  readonly entries: { has(key: number): boolean }
  readonly tableVersions: TableVersions
}

export class MemoryTable implements TableWriter {
  /** May be replaced by one with more columns; rows from before have null there. */
  declaration: TableDeclaration
  readonly #rows: JournaledMap<string, Row>
  readonly #state: TableState

  constructor(declaration: TableDeclaration, state: TableState) {
    this.declaration = declaration
    this.#rows = new JournaledMap(state.journal)
    this.#state = state
  }

  get(key: Row): Row | undefined {
    const row = this.#rows.get(this.#keyOf(soundKey(this.declaration, key)))
    return row && this.#copy(soundRow(this.declaration, row))
  }

  scan(where: Row = {}, page: TablePage = {}): readonly Row[] {
    const columns = soundColumns(this.declaration, page.columns)
    const entries = soundEntries(this.declaration, page.entries)
    const wanted = entries && new Set(entries)
    const after = page.after && soundKey(this.declaration, page.after)
    return this.#select(where)
      .filter(row => wanted === undefined || wanted.has(row['entry'] as number))
      .filter(row => after === undefined || this.#compare(row, after) > 0)
      .sort((a, b) => this.#compare(a, b))
      .slice(0, page.limit)
      .map(row => this.#copy(Object.fromEntries(columns.map(name => [name, row[name] ?? null]))))
  }

  count(where: Row = {}): number {
    return this.#select(where).length
  }

  put(row: Row): void {
    const sound = soundRow(this.declaration, row)
    if (this.declaration.ofEntry && !this.#state.entries.has(sound['entry'] as number)) {
      throw invalidArgument(`${this.declaration.name}.entry`, sound['entry'], 'an entry that exists')
    }
    this.#rows.set(this.#keyOf(sound), this.#copy(sound))
    this.#state.tableVersions.wrote(this.declaration.name)
  }

  delete(where: Row): number {
    if (Object.keys(where).length === 0) throw invalidArgument(`table ${this.declaration.name}`, where, 'a condition')
    const rows = this.#select(where)
    for (const row of rows) this.#rows.delete(this.#keyOf(row))
    this.#state.tableVersions.wrote(this.declaration.name)
    return rows.length
  }

  /** Takes over the rows of `other`, which are replaced when they change, never written into. */
  fill(other: MemoryTable): void {
    this.#rows.fill(other.#rows)
  }

  #select(where: Row): Row[] {
    const wanted = Object.entries(soundPart(this.declaration, where))
    return this.#rows
      .values()
      .filter(row => wanted.every(([name, cell]) => compareCells(row[name] ?? null, cell) === 0))
  }

  #compare(a: Row, b: Row): number {
    for (const name of this.declaration.key) {
      const order = compareCells(a[name] as Cell, b[name] as Cell)
      if (order !== 0) return order
    }
    return 0
  }

  #copy(row: Row): Row {
    return this.#state.copies ? copy(row) : row
  }

  #keyOf(row: Row): string {
    return JSON.stringify(this.declaration.key.map(name => keyPart(row[name] as Cell)))
  }
}

function keyPart(cell: Cell): Cell | readonly number[] {
  return cell instanceof Uint8Array ? [...cell] : cell
}

function copy(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, cell]) => [name, cell instanceof Uint8Array ? cell.slice() : cell]),
  )
}

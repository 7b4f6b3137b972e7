/**
 * Counts the bytes that a holder keeps in the store: its entries, and rows of declared tables (`TableDeclaration.countedFor`). The count is
 * kept in a row of its own from the first time it is requested, so that reading it again costs one row, and deleting data reduces it. Not
 * kept for the local owner, who has no quota.
 */
import { canonicalJson } from '../base/canonical.ts'
import { compareText } from '../base/compare.ts'
import type { Steps } from '../base/turns.ts'
import type { EntryDraft, EntryKey } from '../model/entry.ts'
import { QuerentError } from '../model/errors.ts'
import { OWNER } from '../model/partition.ts'
import type { Cell, Row, TableDeclaration } from '../model/table.ts'
import { USAGE } from './core-tables.ts'
import type { StoreReader, StoreWriter, TableReader, TableWriter } from './store.ts'

interface EntryChange {
  readonly key: EntryKey
  readonly holder: string
  /** Returns the entry as it was before the change. Called only where the holder's bytes are counted. */
  readonly before: () => Sized | undefined
  readonly after: Sized | undefined
}

type Sized = Pick<EntryDraft, 'title' | 'content' | 'tags' | 'metadata'>

/** Access to tables without counting their rows: `read` finds rows without creating the table, `write` changes them. */
interface Uncounted {
  read(declaration: TableDeclaration): TableReader
  write(declaration: TableDeclaration): TableWriter
  holderOf(entry: EntryKey): string | undefined
}

/** Prefix of remote keys: all remote keys that are not agents of this node count together as one holder, since anybody can create keys. */
const KEYS = 'did:key:'

/**
 * Value of the column `counted_to` when all entries of the holder are counted; before that, the column holds the key of the last entry
 * counted.
 */
const ALL_COUNTED = Number.MAX_SAFE_INTEGER
/** Value of the column `tables_to` when all rows that name the holder are counted; the empty text means that none is counted yet. */
const ALL_TABLES = 'all'

/** Byte counts kept by one writer: each write updates the counts of the holders concerned, in the same transaction. */
export class Accounts {
  readonly #uncounted: Uncounted
  /** Whether the bytes of any holder are counted, cached for one transaction; null: not known yet. */
  #isUsed: boolean | null = null

  constructor(uncounted: Uncounted) {
    this.#uncounted = uncounted
  }

  /** Must be called when a transaction begins, since other processes may meanwhile have begun to count a holder's bytes. */
  begin(): void {
    this.#isUsed = null
  }

  /** Whether the bytes of any holder are counted at all; costs one read per transaction. */
  get isUsed(): boolean {
    this.#isUsed ??= this.#uncounted.read(USAGE).count() > 0
    return this.#isUsed
  }

  /** Updates the holder's count for a changed entry. Every store calls it within `put` and `delete`, with the entry before and after. */
  entry({ key, holder, before, after }: EntryChange): void {
    this.#guarded(() => {
      this.#add(holder, key, () => {
        const was = before()
        return (after ? bytesOf(after) : 0) - (was ? bytesOf(was) : 0)
      })
    })
  }

  /** The table that a writer gives to its callers: rows that are put or deleted through it are counted for their holder. */
  table(declaration: TableDeclaration): TableWriter {
    const table = this.#uncounted.write(declaration)
    if (declaration.name === USAGE.name) this.#isUsed = null
    if (payerColumn(declaration) === null) return table
    return {
      get: key => table.get(key),
      scan: (where, page) => table.scan(where, page),
      count: where => table.count(where),
      put: row => {
        if (this.isUsed) {
          const key = Object.fromEntries(declaration.key.map(name => [name, row[name] as Cell]))
          this.#guarded(() => {
            const before = table.get(key)
            if (before !== undefined) this.#row(declaration, before, -1)
          })
        }
        table.put(row)
        if (this.isUsed) this.#guarded(() => this.#row(declaration, row, 1))
      },
      delete: where => {
        const rows = (this.isUsed ? this.#guarded(() => table.scan(where)) : undefined) ?? []
        const deleted = table.delete(where)
        if (rows.length > 0)
          this.#guarded(() => {
            for (const row of rows) this.#row(declaration, row, -1)
          })
        return deleted
      },
    }
  }

  #row(declaration: TableDeclaration, row: Row, sign: 1 | -1): void {
    const payer = row[payerColumn(declaration) as string]
    const entry = isOfHolder(declaration) ? (payer as EntryKey) : null
    const holder = entry === null ? payer : this.#uncounted.holderOf(entry)
    if (typeof holder === 'string') this.#add(holder, entry, () => sign * bytesOfRow(row))
  }

  /**
   * Adds bytes to a holder's count, if the holder has one. `entry`: key of the entry to which the counted content or row belongs. Null: the
   * row belongs to no entry, but names its holder in a column.
   */
  #add(holder: string, entry: EntryKey | null, bytes: () => number): void {
    if (holder === OWNER || !this.isUsed) return
    const row = this.#uncounted.read(USAGE).get({ holder: countedAs(holder) })
    if (row === undefined) return
    const [to, tables] = [row['counted_to'] as number, row['tables_to']]
    if (entry !== null && entry > to) return
    if (entry === null && to < ALL_COUNTED) return
    // A count made by an older version, or interrupted before all tables were counted, is deleted, so that counting starts again.
    const isKnown = typeof tables === 'string' && (entry !== null || tables === ALL_TABLES)
    const usage = this.#uncounted.write(USAGE)
    if (isKnown) usage.put({ ...row, bytes: (row['bytes'] as number) + bytes() })
    else usage.delete({ holder: countedAs(holder) })
  }

  /**
   * Damaged data cannot be measured, but can be overwritten or deleted, which would make the counts of bytes wrong. So all counts are then
   * deleted, and counting starts again.
   */
  #guarded<T>(act: () => T): T | undefined {
    try {
      return act()
    } catch (error) {
      if (!(error instanceof QuerentError && error.code === 'store_corrupt')) throw error
      const usage = this.#uncounted.write(USAGE)
      for (const { holder } of usage.scan()) usage.delete({ holder: holder as Cell })
      return undefined
    }
  }
}

/** Number of bytes that a holder keeps in the store; null: counting is not complete, and `countMore` must be called to continue it. */
export function heldBytes(reader: Pick<StoreReader, 'table'>, holder: string): number | null {
  const row = reader.table(USAGE).get({ holder: countedAs(holder) })
  return row?.['tables_to'] === ALL_TABLES ? (row['bytes'] as number) : null
}

/**
 * Continues to count a holder's bytes: up to `most` further entries, or rows of `tables`, with a pause before each that belongs to the
 * holder. After enough calls `heldBytes` returns a number. Rows put or deleted between two calls change the count, or make it start again.
 */
export function* countMore(
  writer: StoreWriter,
  tables: readonly TableDeclaration[],
  holder: string,
  most: number,
): Steps<void> {
  const name = countedAs(holder)
  const found = writer.table(USAGE).get({ holder: name })
  const known = typeof found?.['tables_to'] === 'string' ? found : undefined
  const row: Row = known ?? { holder: name, bytes: 0, counted_to: 0, tables_to: '' }
  if (row['tables_to'] === ALL_TABLES) return
  const more =
    row['counted_to'] === ALL_COUNTED
      ? yield* moreRows(writer, tables.filter(isNamed), row, most)
      : yield* moreEntries(writer, tables.filter(isOfHolder), row, most)
  writer.table(USAGE).put({ ...row, ...more })
}

function* moreEntries(
  writer: StoreWriter,
  tables: readonly TableDeclaration[],
  { holder, bytes, counted_to: from }: Row,
  most: number,
): Steps<Row> {
  const keys = writer.scanEntries(from as number, most)
  const own = writer.identities(keys).filter(identity => countedAs(identity.holder) === holder)
  let sum = bytes as number
  for (const { key } of own) {
    yield
    const entry = writer.entry(key)
    sum += entry === undefined ? 0 : bytesOf(entry)
    for (const table of tables) {
      for (const row of writer.table(table).scan({ entry: key })) sum += bytesOfRow(row)
    }
  }
  return { bytes: sum, counted_to: keys.length < most ? ALL_COUNTED : (keys.at(-1) as number) }
}

/** Continues to count the bytes of rows that name their holder, table by table in the order of names. */
function* moreRows(
  writer: StoreWriter,
  tables: readonly TableDeclaration[],
  { holder, bytes, tables_to: from }: Row,
  most: number,
): Steps<Row> {
  const [at, after] = from === '' ? ['', undefined] : (JSON.parse(from as string) as [string, Row | undefined])
  const [table] = tables.filter(({ name }) => name >= at).sort((a, b) => compareText(a.name, b.name))
  if (table === undefined) return { tables_to: ALL_TABLES }
  const rows = writer.table(table).scan({}, { limit: most, ...(table.name === at && after !== undefined && { after }) })
  let sum = bytes as number
  for (const row of rows) {
    const payer = row[payerColumn(table) as string]
    if (typeof payer !== 'string' || countedAs(payer) !== holder) continue
    yield
    sum += bytesOfRow(row)
  }
  const last = rows.at(-1)
  const next = last && Object.fromEntries(table.key.map(column => [column, last[column] as Cell]))
  // Where a table is finished, its name with a blank is stored: a blank sorts before all characters of names, so that counting continues
  // with the next table by name.
  return { bytes: sum, tables_to: JSON.stringify(rows.length < most ? [`${table.name} `] : [table.name, next]) }
}

/**
 * Name of the column that contains the holder to whose byte quota a row of the table counts. `entry`: a row counts to the holder of the
 * entry to which it belongs. Null: rows of the table count to no quota.
 */
function payerColumn({ countedFor, ofEntry }: TableDeclaration): string | null {
  return countedFor === undefined && ofEntry === true ? 'entry' : (countedFor ?? null)
}

/** Whether rows of the table count for the holder of the entry to which they belong. */
function isOfHolder(table: TableDeclaration): boolean {
  return payerColumn(table) === 'entry'
}

/** Whether rows of the table name the holder for whom they count. */
function isNamed(table: TableDeclaration): boolean {
  return payerColumn(table) !== null && !isOfHolder(table)
}

function countedAs(holder: string): string {
  return holder.startsWith(KEYS) ? KEYS : holder
}

/** Number of UTF-8 bytes of an entry's title, content, tags and metadata, that is, of what its holder wrote. */
function bytesOf({ title, content, tags, metadata }: Sized): number {
  return [title, content, canonicalJson([tags, metadata])].reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}

/** Number of bytes that a row counts: UTF-8 bytes of texts, 8 for a number. */
function bytesOfRow(row: Row): number {
  return Object.values(row).reduce<number>((sum, cell) => sum + bytesOfCell(cell), 0)
}

function bytesOfCell(cell: Cell): number {
  if (cell === null || cell === undefined) return 0
  if (typeof cell === 'number') return 8
  return typeof cell === 'string' ? Buffer.byteLength(cell) : cell.byteLength
}

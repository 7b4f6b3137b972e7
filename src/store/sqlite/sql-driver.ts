/**
 * What the SQLite store needs of a driver, on one page, so that another one can stand in for `node:sqlite`.
 *
 * Everything is synchronous and throws `QuerentError`: the driver turns its own errors into ours. Whole numbers stay
 * below 2^53; big integers never appear. A number is bound as REAL and becomes an integer only by the affinity of a
 * column: SQL must not compute with a bound whole number where its type would show.
 */
import type { Steps } from '../../base/turns.ts'

/** As a file: a database of this connection alone, in memory. */
export const IN_MEMORY = ':memory:'

export type SqlValue = string | number | Uint8Array | null
export type SqlRow = Readonly<Record<string, SqlValue>>

export interface SqlStatement<Row> {
  run(...values: readonly SqlValue[]): SqlResult
  get(...values: readonly SqlValue[]): Row | undefined
  all(...values: readonly SqlValue[]): readonly Row[]
  /** One by one: for many, and for what comes before a damaged page. Must be read to its end or thrown away at once. */
  each(...values: readonly SqlValue[]): IterableIterator<Row>
}

export interface SqlResult {
  /** Rows inserted, updated or deleted, those of cascades left out. */
  readonly changes: number
  /** The row id of the last insert. */
  readonly lastKey: number
}

export interface SqlDatabase {
  readonly file: string
  /** Where its write-ahead log lies: beside the file itself, also where `file` is a link to it. */
  readonly logFile: string
  /** Runs statements whose results do not matter. */
  exec(sql: string): void
  /** The same text gives the same statement again. Its rows are objects by column name. */
  prepare<Row = SqlRow>(sql: string): SqlStatement<Row>
  /** Like `prepare`, with rows as arrays: several times faster where rows are many. */
  prepareArrays<Row extends readonly SqlValue[]>(sql: string): SqlStatement<Row>
  /** Makes a pure function callable from SQL. */
  define(name: string, body: (...values: SqlValue[]) => SqlValue): void
  /**
   * All or nothing. Takes the write lock at once, waiting `waitMs` for it if that is less than `timeoutMs`; inside
   * another `write` it is a savepoint, inside `read` refused.
   */
  write<T>(body: () => T, waitMs?: number): T
  /**
   * As `write`, with a body that pauses: the transaction lasts until the steps end. When they throw, or are ended by `return`, it is
   * rolled back. At its pauses this connection serves nobody else.
   */
  writeInSteps<T>(body: () => Steps<T>, waitMs?: number): Steps<T>
  /** One committed state for all reads inside. Joins a transaction that runs already. */
  read<T>(body: () => T): T
  /** As `read`, with a body that pauses: until the steps end, all reads of this connection see its state, and writes are refused (`store_locked`). */
  readInSteps<T>(body: () => Steps<T>): Steps<T>
  /** All reads see the state that is committed now, until the connection is closed. Nothing may be written any more. */
  freeze(): void
  readonly writing: boolean
  /** Number of the transaction that runs, another for each; 0: none. */
  readonly transaction: number
  /** Calls `listener` after anything was rolled back: what was remembered of it is void. */
  onRollback(listener: () => void): void
  /**
   * Copies the file as one committed state, pages as they are, while anybody writes. `report` hears of pages done and of
   * all; what it throws ends the copy.
   */
  copyTo(file: string, report: (done: number, total: number) => void): Promise<void>
  close(): void
}

export interface SqlOptions {
  readonly file: string
  readonly readOnly: boolean
  /** The file lies where nothing can be written, not even locks: read it as it is. */
  readonly immutable: boolean
  /** How long to wait for another process's lock. Waiting blocks the thread. */
  readonly timeoutMs: number
  /** Allows `sqlite_schema` to be written, for repairs. Default false. */
  readonly schemaWritable?: boolean | undefined
}

export type OpenSql = (options: SqlOptions) => SqlDatabase

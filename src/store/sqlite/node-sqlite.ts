/** The database driver on top of Node's module `node:sqlite`, which is loaded only when a store is opened. */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { assert } from '../../base/assert.ts'
import { atOnce, type Steps } from '../../base/turns.ts'
import { QuerentError } from '../../model/errors.ts'

/**
 * Loads the module while the warning of Node 22 that it is experimental, given once per thread, is suppressed; all other warnings are kept.
 */
function loadSqlite(): typeof import('node:sqlite') {
  const emit = process.emitWarning
  process.emitWarning = () => {}
  try {
    return process.getBuiltinModule('node:sqlite')
  } finally {
    process.emitWarning = emit
  }
}

// Interface of the database driver.
//
// Everything is synchronous and throws `QuerentError`: the driver translates its own errors. Integers stay below 2^53; big integers never
// appear. A number is bound as REAL and becomes an integer only by the affinity of a column, so SQL must not compute with a bound integer
// where its type would matter.

/** File name that means a database in memory, visible only to the connection that opens it. */
export const IN_MEMORY = ':memory:'

export type SqlValue = string | number | Uint8Array | null
export type SqlRow = Readonly<Record<string, SqlValue>>

export interface SqlStatement<Row> {
  run(...values: readonly SqlValue[]): SqlResult
  get(...values: readonly SqlValue[]): Row | undefined
  all(...values: readonly SqlValue[]): readonly Row[]
  /**
   * Rows of the result one by one, for results with many rows, and to get the rows before a damaged page. Must be read to the end or
   * abandoned at once, since the statement stays active meanwhile.
   */
  each(...values: readonly SqlValue[]): IterableIterator<Row>
}

export interface SqlResult {
  /** Number of rows that the statement inserted, updated or deleted, without those deleted by foreign keys. */
  readonly changes: number
  /** Row id of the last inserted row. */
  readonly lastKey: number
}

export interface SqlDatabase {
  readonly file: string
  /** Path of the write-ahead log; it is beside the file itself, even where `file` is a symbolic link to the file. */
  readonly logFile: string
  /** Runs SQL statements whose results are not needed. */
  exec(sql: string): void
  /** A prepared statement, cached by its text. Its result rows are objects by column name. */
  prepare<Row = SqlRow>(sql: string): SqlStatement<Row>
  /** A prepared statement, cached by its text, whose result rows are arrays: several times faster for many rows. */
  prepareArrays<Row extends readonly SqlValue[]>(sql: string): SqlStatement<Row>
  /** Defines a function that SQL statements can call; its result must depend only on its arguments. */
  define(name: string, body: (...values: SqlValue[]) => SqlValue): void
  /**
   * Runs a write transaction: everything or nothing. Takes the write lock at once, waiting up to `waitMs` for it, or `timeoutMs` if that is
   * less. Inside another `write` it becomes a savepoint; inside `read` it is refused.
   */
  write<T>(body: () => T, waitMs?: number): T
  /**
   * Runs a write transaction whose body is a generator that pauses: the transaction lasts until the generator ends. When the generator
   * throws, or is ended by `return`, the transaction is rolled back. During its pauses, nothing else may use this connection.
   */
  writeInSteps<T>(body: () => Steps<T>, waitMs?: number): Steps<T>
  /**
   * Runs a single writing statement. Does not wait for the write lock where another process has it. Must not be called inside a
   * transaction.
   */
  tryToWrite(sql: string): void
  /** Runs reads that all see one committed state. Inside a running transaction, the reads join it. */
  read<T>(body: () => T): T
  /**
   * Runs reads that pause, as a generator, and that all see one committed state: until the generator ends, every read of this connection
   * sees that state, and writes are refused (`store_locked`).
   */
  readInSteps<T>(body: () => Steps<T>): Steps<T>
  /** Makes all further reads of this connection see the state that is committed now, until it is closed. It can no longer write. */
  freeze(): void
  /** Makes all further reads see the state that the first of them sees, until `leaveState` is called or this connection writes. */
  keepState(): void
  /** Ends what `keepState` began, so that later reads see newer commits; without effect where no state is kept. */
  leaveState(): void
  readonly writing: boolean
  /** Number of the running transaction, different for each transaction; 0: none is running. */
  readonly transaction: number
  /** Registers a function that is called after each rollback, since values cached during the transaction are then invalid. */
  onRollback(listener: () => void): void
  /**
   * Copies one committed state of the file, page by page, while other processes may write. `report` gets the number of pages copied and in
   * total; if it throws, the copy ends.
   */
  copyTo(file: string, report: (done: number, total: number) => void): Promise<void>
  close(): void
}

export interface SqlOptions {
  readonly file: string
  readonly readOnly: boolean
  /** Whether the file is in a place where nothing can be written, not even lock files, so that it is read without locks. */
  readonly immutable: boolean
  /** How long a statement waits for a lock of another process, in ms. Waiting blocks the thread. */
  readonly timeoutMs: number
  /** Whether SQL statements may write `sqlite_schema`, the list of tables, for repairs. Default false. */
  readonly schemaWritable?: boolean | undefined
}

export type OpenSql = (options: SqlOptions) => SqlDatabase

/**
 * Largest number of cached prepared statements for each form of rows. Filters make ever different texts; everything else needs about a
 * hundred.
 */
const STATEMENTS = 300
/** Pages copied between two progress reports of a copy: 8 MiB with pages of 4 KiB. */
const PAGES_AT_ONCE = 2_048

export const openNodeSqlite: OpenSql = options => new NodeSqlite(options)

class NodeSqlite implements SqlDatabase {
  readonly file: string
  readonly logFile: string
  readonly #db: DatabaseSync
  readonly #timeoutMs: number
  /** Cached prepared statements by text, least recently used first: one map for rows as objects, one for rows as arrays. */
  readonly #objectStatements = new Map<string, Statement>()
  readonly #arrayStatements = new Map<string, Statement>()
  readonly #rollbackListeners: (() => void)[] = []
  #inside: 'nothing' | 'read' | 'write' = 'nothing'
  #transactions = 0
  /** True while a generator of `readInSteps` has not ended, so that its read transaction is held open. */
  #isHeld = false
  /** True between `keepState` and `leaveState`: then a read transaction is open even while no read runs. */
  #keepsState = false

  constructor({ file, readOnly, immutable, timeoutMs, schemaWritable }: SqlOptions) {
    this.file = file
    this.#timeoutMs = timeoutMs
    const address = immutable ? new URL(`${pathToFileURL(file)}?immutable=1`) : file
    const { DatabaseSync } = loadSqlite()
    this.#db = this.#guard(() => new DatabaseSync(address, { readOnly, timeout: timeoutMs }))
    this.logFile = `${this.#db.location() ?? file}-wal`
    // The method is optional, since SQLite in Node 22 has no defensive mode to switch off.
    if (schemaWritable === true) this.#db.enableDefensive?.(false)
  }

  get writing(): boolean {
    return this.#inside === 'write'
  }

  get transaction(): number {
    return this.#inside === 'nothing' && !this.#keepsState ? 0 : this.#transactions
  }

  exec(sql: string): void {
    this.#guard(() => this.#db.exec(sql))
  }

  prepare<Row = SqlRow>(sql: string): SqlStatement<Row> {
    return this.#statement(sql, false) as unknown as SqlStatement<Row>
  }

  prepareArrays<Row extends readonly SqlValue[]>(sql: string): SqlStatement<Row> {
    return this.#statement(sql, true) as unknown as SqlStatement<Row>
  }

  define(name: string, body: (...values: SqlValue[]) => SqlValue): void {
    this.#db.function(name, { deterministic: true, directOnly: true, varargs: false }, body as never)
  }

  write<T>(body: () => T, waitMs?: number): T {
    return atOnce(this.writeInSteps(() => inOneStep(body), waitMs))
  }

  *writeInSteps<T>(body: () => Steps<T>, waitMs?: number): Steps<T> {
    if (this.#isHeld)
      throw new QuerentError('store_locked', `${this.file}: a long read of this process runs`, { file: this.file })
    assert(this.#inside !== 'read', 'a read transaction does not write')
    const nested = this.#inside === 'write'
    this.leaveState()
    if (nested) this.#run('savepoint nested')
    else if (waitMs === undefined || waitMs >= this.#timeoutMs) this.#run('begin immediate')
    else this.#beginSoon(waitMs)
    this.#inside = 'write'
    if (!nested) this.#transactions++
    let isDone = false
    try {
      const result = yield* body()
      assert(this.#db.isTransaction, 'a failure inside a transaction is not passed over')
      this.#run(nested ? 'release nested' : 'commit')
      isDone = true
      return result
    } finally {
      if (!isDone) this.#rollBack(nested)
      if (!nested) this.#inside = 'nothing'
    }
  }

  tryToWrite(sql: string): void {
    assert(this.#inside === 'nothing', 'it is tried outside of transactions')
    const timeout = `pragma busy_timeout = ${this.#timeoutMs}`
    try {
      this.exec(`pragma busy_timeout = 0; begin immediate; ${sql}; commit; ${timeout}`)
    } catch (error) {
      this.exec(this.#db.isTransaction ? `rollback; ${timeout}` : timeout)
      throw error
    }
  }

  read<T>(body: () => T): T {
    if (this.#inside !== 'nothing') return assertSync(body())
    if (!this.#keepsState) this.#begin()
    this.#inside = 'read'
    try {
      return assertSync(body())
    } finally {
      this.#inside = 'nothing'
      if (!this.#keepsState) this.#commit()
    }
  }

  *readInSteps<T>(body: () => Steps<T>): Steps<T> {
    this.freeze()
    this.#isHeld = true
    try {
      return yield* body()
    } finally {
      this.#isHeld = false
      this.#inside = 'nothing'
      if (this.#db.isOpen) this.#commit()
    }
  }

  freeze(): void {
    assert(this.#inside === 'nothing', 'a state is frozen outside of transactions')
    this.leaveState()
    // SQLite fixes the state that a transaction sees at its first read, so a read is made immediately after `begin`.
    this.exec('begin; select count(*) from sqlite_schema')
    this.#inside = 'read'
    this.#transactions++
  }

  keepState(): void {
    assert(this.#inside === 'nothing', 'a state is kept from outside of transactions')
    this.#begin()
    this.#keepsState = true
  }

  leaveState(): void {
    if (!this.#keepsState) return
    this.#keepsState = false
    this.#commit()
  }

  onRollback(listener: () => void): void {
    this.#rollbackListeners.push(listener)
  }

  async copyTo(file: string, report: (done: number, total: number) => void): Promise<void> {
    assert(this.#inside === 'nothing', 'a copy is made outside of transactions')
    this.leaveState()
    const { backup } = loadSqlite()
    // The read transaction stays open during the copy, so that commits of other processes do not make SQLite start the copy again.
    this.exec('begin; select count(*) from sqlite_schema')
    try {
      await backup(this.#db, file, {
        rate: PAGES_AT_ONCE,
        progress: ({ totalPages, remainingPages }) => report(totalPages - remainingPages, totalPages),
      })
    } catch (error) {
      throw ofSqlite(error, file)
    } finally {
      if (this.#db.isTransaction) this.exec('commit')
    }
  }

  close(): void {
    this.#objectStatements.clear()
    this.#arrayStatements.clear()
    if (this.#db.isOpen) this.#guard(() => this.#db.close())
  }

  #rollBack(nested: boolean): void {
    // The rollback is skipped where SQLite has already rolled back by itself, as on errors such as a full disk.
    if (this.#db.isTransaction) this.exec(nested ? 'rollback to nested; release nested' : 'rollback')
    for (const listener of this.#rollbackListeners) listener()
  }

  #begin(): void {
    this.#run('begin')
    this.#transactions++
  }

  /** Commits the transaction, unless an error has ended it already. */
  #commit(): void {
    if (this.#db.isTransaction) this.#run('commit')
  }

  #beginSoon(waitMs: number): void {
    // `exec` is used because SQLite applies this pragma when it is prepared, so a cached prepared statement would do nothing.
    this.exec(`pragma busy_timeout = ${waitMs}`)
    try {
      this.#run('begin immediate')
    } finally {
      this.exec(`pragma busy_timeout = ${this.#timeoutMs}`)
    }
  }

  #run(sql: string): void {
    this.#statement(sql, false).run()
  }

  #statement(sql: string, arrays: boolean): Statement {
    const statements = arrays ? this.#arrayStatements : this.#objectStatements
    const known = statements.get(sql)
    if (known !== undefined && statements.size < STATEMENTS) return known
    // In a full map the statement is removed and added again, so that those not used for the longest time are dropped first.
    statements.delete(sql)
    const statement = known ?? this.#make(sql, arrays)
    statements.set(sql, statement)
    if (statements.size > STATEMENTS) statements.delete(statements.keys().next().value as string)
    return statement
  }

  #make(sql: string, arrays: boolean): Statement {
    const prepared = this.#guard(() => this.#db.prepare(sql))
    if (arrays) prepared.setReturnArrays(true)
    return new Statement(prepared, this.file)
  }

  #guard<T>(act: () => T): T {
    try {
      return act()
    } catch (error) {
      throw ofSqlite(error, this.file)
    }
  }
}

/**
 * A shared empty buffer for empty values: Node 22 binds an empty array without memory of its own, such as `new Uint8Array(new
 * ArrayBuffer(0))`, as null.
 */
const EMPTY_BLOB = Buffer.alloc(0)

function isEmptyBlob(value: SqlValue | undefined): boolean {
  return typeof value === 'object' && value !== null && value.byteLength === 0
}

class Statement implements SqlStatement<unknown> {
  readonly #prepared: StatementSync
  readonly #file: string

  constructor(prepared: StatementSync, file: string) {
    this.#prepared = prepared
    this.#file = file
  }

  run(...values: SqlValue[]): SqlResult {
    try {
      for (let at = 0; at < values.length; at++) if (isEmptyBlob(values[at])) values[at] = EMPTY_BLOB
      const { changes, lastInsertRowid } = this.#prepared.run(...values)
      return { changes: Number(changes), lastKey: Number(lastInsertRowid) }
    } catch (error) {
      throw ofSqlite(error, this.#file)
    }
  }

  get(...values: SqlValue[]): unknown {
    try {
      return this.#prepared.get(...values)
    } catch (error) {
      throw ofSqlite(error, this.#file)
    }
  }

  *each(...values: SqlValue[]): IterableIterator<unknown> {
    try {
      yield* this.#prepared.iterate(...values)
    } catch (error) {
      throw ofSqlite(error, this.#file)
    }
  }

  all(...values: SqlValue[]): readonly unknown[] {
    try {
      return this.#prepared.all(...values)
    } catch (error) {
      throw ofSqlite(error, this.#file)
    }
  }
}

/** Primary result codes of SQLite (https://sqlite.org/rescode.html); an extended code contains its primary code in the low byte. */
const ERROR = 1
const BUSY = 5
const LOCKED = 6
const READONLY = 8
const IOERR = 10
const CORRUPT = 11
const FULL = 13
const CANTOPEN = 14
const TOOBIG = 18
const NOTADB = 26

/** Translates an error of SQLite to the store's own error class; other errors are returned unchanged. */
function ofSqlite(error: unknown, file: string): unknown {
  const { code, errcode, message } = (error ?? {}) as { code?: unknown; errcode?: unknown; message?: unknown }
  // The store only writes numbers that JavaScript can represent exactly, so any other number is damage.
  if (code === 'ERR_OUT_OF_RANGE') {
    return new QuerentError('store_corrupt', `${file}: damaged (a number is out of range)`, { file }, error)
  }
  if (typeof errcode !== 'number') return error
  const cause = String(message)
  // The program's SQL statements fit the tables of this version, so these errors mean that the list of tables or the header is damaged.
  if (
    (errcode & 255) === ERROR &&
    /^(no such (table|column|index)|malformed database schema|unsupported file format)/.test(cause)
  ) {
    return new QuerentError(
      'store_corrupt',
      `${file}: its header or its list of tables is damaged (${cause})`,
      { file },
      error,
    )
  }
  switch (errcode & 255) {
    case BUSY:
    case LOCKED:
      return new QuerentError(
        'store_locked',
        `${file}: another process is still writing; the wait ended`,
        { file },
        error,
      )
    case READONLY:
      return new QuerentError('store_readonly', `${file}: cannot be written (${cause})`, { file }, error)
    case CORRUPT:
    case NOTADB:
      return new QuerentError('store_corrupt', `${file}: damaged, or not a store (${cause})`, { file }, error)
    case IOERR:
    case FULL:
    case CANTOPEN:
      return new QuerentError('io_failed', `${file}: ${cause}`, { path: file, cause }, error)
    case TOOBIG:
      return new QuerentError('too_large', `a value is larger than the store can hold (${cause})`, { file }, error)
    default:
      return new QuerentError('internal', `${file}: SQLite refused (${cause})`, { errcode }, error)
  }
}

// How the bodies of transactions run: synchronous bodies, and generators that pause within their transaction.

type End<T> = { readonly value: T } | { readonly error: unknown }

export class PausedTransaction<T> {
  readonly #steps: Steps<T>
  #end: End<T> | null = null

  /** `steps`: the generator that runs the whole transaction, which has begun already. */
  constructor(steps: Steps<T>) {
    this.#steps = steps
  }

  /**
   * The generator that runs the transaction with pauses, for the scheduler `Turns`. Throws the transaction's error, even if the error
   * occurred in `complete` or `cancel`.
   */
  *run(): Steps<T> {
    for (;;) {
      const end = this.#end ?? this.#step()
      if (end !== null && 'error' in end) throw end.error
      if (end !== null) return end.value
      yield
    }
  }

  /** Runs the transaction's generator to its end without yielding to other work. */
  complete(): void {
    while (this.#end === null) this.#step()
  }

  /** Ends the transaction's generator, which rolls the transaction back, unless it has ended already. */
  cancel(error: unknown): void {
    if (this.#end !== null) return
    this.#end = { error }
    this.#steps.return(undefined as never)
  }

  #step(): End<T> | null {
    try {
      const step = this.#steps.next(true)
      if (step.done === true) this.#end = { value: step.value }
    } catch (error) {
      this.#end = { error }
    }
    return this.#end
  }
}

/**
 * Throws if the result of a transaction's body is a promise: a transaction ends when its body returns, so an asynchronous body would
 * continue outside of it.
 */
export function assertSync<T>(result: T): T {
  if (result instanceof Promise) throw new TypeError('invariant broken: the body of a transaction must be synchronous')
  return result
}

/** A body that does not pause, as one that may. */
// biome-ignore lint/correctness/useYield: it is the one step
export function* inOneStep<T>(body: () => T): Steps<T> {
  return assertSync(body())
}

/**
 * The store in one SQLite file, which any number of processes may have open: readers never wait, and writers take turns. A crash of a
 * process loses nothing that was committed; with `durability: 'full'`, neither does a loss of power. A store can also be in memory: then it
 * ends with the process, has no write-ahead log, and therefore runs without pauses the work for which a store in a file pauses.
 */

import { execFile } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { assert, must } from '../base/assert.ts'
import type { Instant } from '../base/clock.ts'
import { siblingModule } from '../base/module-url.ts'
import type { Thread } from '../base/thread.ts'
import { atOnce, type Steps, type Turns } from '../base/turns.ts'
import { QuerentError } from '../model/errors.ts'
import type { TableDeclaration } from '../model/table.ts'
import type { StoreFinding } from './care/problem.ts'
import { checkInstant } from './check.ts'
import { Revision, type SqliteForgotten } from './sqlite/changes.ts'
import { IN_MEMORY, inOneStep, openNodeSqlite, PausedTransaction, type SqlDatabase } from './sqlite/node-sqlite.ts'
import { makeParts, type SqliteParts, SqliteReader, SqliteWriter } from './sqlite/reader.ts'
import { isLockless, orReadOnly, prepareSchema } from './sqlite/schema.ts'
import { defineFilterFunctions } from './sqlite/search.ts'
import type { Fold, Forgotten, LogState, Snapshot, Store, StoreReader, StoreWriter, Upkeep } from './store.ts'
import type { StoreOrder } from './store-worker.ts'

export interface SqliteStoreOptions {
  /**
   * Path of the store file; it is created when it does not exist, in a folder that must exist. `:memory:`: the store is in memory, without
   * a file.
   */
  readonly file: string
  /**
   * Whether the store is only read; default false. If true, no file is created, and every write fails with `store_readonly`. If the folder
   * is not writable either, the file is read without locks, so no other process may change it meanwhile.
   */
  readonly readOnly?: boolean | undefined
  /**
   * Whether a commit waits for the disk. `normal` (default): a commit survives a crash of the process; after a loss of power the last
   * commits may be missing, but the file is undamaged. `full`: every commit waits for the disk and survives a loss of power too.
   */
  readonly durability?: 'normal' | 'full' | undefined
  /**
   * Time limit in ms for waiting: for a write, until other processes have finished writing; for a single statement, until any other lock is
   * free. Writes that must not wait ignore it. Default 5,000.
   */
  readonly timeoutMs?: number | undefined
  /** Memory for cached pages of the file, in MiB. Default 16. */
  readonly cacheSizeMb?: number | undefined
  /** Whether a write-ahead log is kept beside the file, so that readers do not wait for writers. Default true. */
  readonly walMode?: boolean | undefined
  /**
   * Whether all reads see the same committed state, that of the first read, until this store writes. Meant for a process that answers one
   * request and ends: however often it pauses, it looks only once for writes of other processes. Requires a write-ahead log, so that
   * writers need not wait for the reader.
   */
  readonly keepsState?: boolean | undefined
  /** Identity given to the store if opening creates it. Default: random. */
  readonly storeId?: string | undefined
}

/** Opens an empty store in memory. `storeId`: its identity; default: random. */
export function openMemoryStore(storeId?: string): Store {
  return openSqliteStore({ file: IN_MEMORY, storeId })
}

/**
 * Opens a store in a file or in memory. Throws `store_missing`, `store_locked`, `store_readonly`, `store_corrupt`, `store_newer` or
 * `io_failed`.
 */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  checkFile(options.file, options.readOnly === true)
  try {
    return open(options, false)
  } catch (error) {
    if (options.readOnly !== true || !isLockless(error, options.file))
      throw options.readOnly === true ? error : orReadOnly(error, options.file)
    return open(options, true)
  }
}

function open(options: SqliteStoreOptions, immutable: boolean): Store {
  const { file, readOnly = false, timeoutMs = 5_000 } = options
  const db = openNodeSqlite({ file, readOnly, immutable, timeoutMs })
  try {
    prepareSchema(db, readOnly, options.storeId)
    const found = db.prepareArrays<[string, number]>('select id, page_size from identity, pragma_page_size').get()
    const [id, pageBytes] = must(found, 'the identity of the store')
    configure(db, options, pageBytes)
    defineFilterFunctions(db)
    const parts = makeParts(db)
    if (options.keepsState === true && !readOnly && options.walMode !== false) db.keepState()
    const upkeep = readOnly || file === IN_MEMORY ? undefined : new SqliteUpkeep(db, parts.forgotten)
    const openAgain = (use: 'read' | 'write') => {
      const again = openNodeSqlite({ file, readOnly: readOnly || use === 'read', immutable, timeoutMs })
      if (use === 'write') {
        configure(again, { ...options, cacheSizeMb: LONG_WRITE_CACHE_MB }, pageBytes)
        // Where upkeep folds the write-ahead log into the file in a thread of its own, the commit of a long write must not fold it too.
        if (foldsInCommits(db) > FOLD_IN_COMMITS) foldInCommits(again, 0)
      }
      return again
    }
    return new SqliteStore(id, parts, upkeep, timeoutMs, openAgain)
  } catch (error) {
    db.close()
    throw error
  }
}

function checkFile(file: string, readOnly: boolean): void {
  if (readOnly && !existsSync(file)) {
    throw new QuerentError('store_missing', `${file}: there is no store`, { file })
  }
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
    throw new QuerentError('io_failed', `${file}: is a folder`, { path: file, cause: 'is a folder' })
  }
}

function configure(db: SqlDatabase, options: SqliteStoreOptions, pageBytes: number): void {
  const { durability = 'normal', cacheSizeMb = 16, walMode = true, readOnly = false } = options
  // The journal mode (with or without a write-ahead log) is recorded in the file; a store that only reads leaves it unchanged.
  const journal = readOnly ? '' : `pragma journal_mode = ${walMode ? 'wal' : 'delete'};`
  db.exec(`
    ${journal}
    pragma synchronous = ${durability};
    pragma foreign_keys = on;
    pragma secure_delete = on;
    pragma trusted_schema = off;
    pragma temp_store = memory;
    pragma cache_size = ${-1024 * cacheSizeMb};
    pragma journal_size_limit = 67108864;
    pragma wal_autocheckpoint = ${Math.ceil(FOLD_IN_COMMITS / pageBytes)};
  `)
}

/**
 * Page cache of a long write, in MiB. It is small because the commit must write everything that is still in the cache without a pause;
 * everything else was written to the log during the steps before (QE-019).
 */
const LONG_WRITE_CACHE_MB = 4

/**
 * How long a synchronous write waits for the write lock, in ms: long enough for an ordinary commit of another process, not for its import
 * of many entries.
 */
const SHORT_WAIT_MS = 20
/** Pauses in ms between attempts to get the write lock; the last one repeats. The first ones are those of SQLite's own busy handler. */
const PAUSES_MS: readonly number[] = [1, 2, 5, 10, 15, 20, 25]

class SqliteStore extends SqliteReader implements Store {
  readonly upkeep: Upkeep | undefined
  readonly #timeoutMs: number
  /** Promise that settles with the last of the writes that wait for the write lock; null: none is waiting. */
  #lastWaiting: Promise<void> | null = null
  readonly #writer: SqliteWriter
  #version = 1
  #othersVersion: number | undefined
  /**
   * Number of the transaction in which commits of other connections were last looked for; within one transaction they are not visible, so
   * one look is enough.
   */
  #askedIn = 0
  readonly #revision: Revision
  readonly #openAgain: (use: 'read' | 'write') => SqlDatabase
  /** The running transaction that pauses (of `writeInSteps` or `readInSteps`); null: none is running. */
  protected paused: PausedTransaction<unknown> | null = null
  /** Connections of open snapshots. Declared `protected`, not private with `#`, since `close` may be called through a proxy object. */
  protected readonly snapshots: Set<SqlDatabase> = new Set()

  constructor(
    storeId: string,
    parts: SqliteParts,
    upkeep: Upkeep | undefined,
    timeoutMs: number,
    openAgain: (use: 'read' | 'write') => SqlDatabase,
  ) {
    super(storeId, parts)
    this.#openAgain = openAgain
    this.upkeep = upkeep
    this.#timeoutMs = timeoutMs
    this.#revision = new Revision(parts.db)
    this.#writer = new SqliteWriter(storeId, parts)
  }

  write<T>(now: Instant, body: (writer: StoreWriter) => T, waitMs = SHORT_WAIT_MS): T {
    // The paused transaction is run to its end here: waiting for it would block the thread that it needs.
    const completes = waitMs >= SHORT_WAIT_MS
    if (completes) this.paused?.complete()
    return atOnce(this.#writing(now, writer => inOneStep(() => body(writer)), this.paused && !completes ? 0 : waitMs))
  }

  *#writing<T>(now: Instant, body: (writer: StoreWriter) => Steps<T>, waitMs: number): Steps<T> {
    checkInstant('now', now)
    const outer = this.#writer.now
    if (outer === null) {
      this.#writer.begin()
      this.parts.tables.versions.begin()
      this.parts.forgotten.begin()
      this.parts.changes.begin()
    }
    const { parts } = this
    const writer = this.#writer
    const revision = this.#revision
    const steps = function* (): Steps<T> {
      writer.now = now
      try {
        const value = yield* body(writer)
        if (outer === null) parts.forgotten.save(parts.changes.newest)
        if (outer === null && writer.wrote) revision.advance()
        return value
      } finally {
        writer.now = outer
      }
    }
    const result = yield* parts.db.writeInSteps(steps, waitMs)
    if (outer === null && this.#writer.wrote) {
      this.#revision.committed()
      this.#version++
      this.parts.tables.versions.commit()
    }
    return result
  }

  async writeWhenFree<T>(now: Instant, body: (writer: StoreWriter) => T, waitMs = this.#timeoutMs): Promise<T> {
    assert(this.#writer.now === null, 'inside a transaction, write joins it')
    let hasBegun = false
    const attempt = () =>
      this.write(
        now,
        writer => {
          hasBegun = true
          return body(writer)
        },
        0,
      )
    const isLocked = (error: unknown) => !hasBegun && isLock(error)
    if (this.#lastWaiting === null) {
      try {
        return attempt()
      } catch (error) {
        if (!isLocked(error)) throw error
      }
    }
    return this.#waiting(attempt, isLocked, waitMs)
  }

  async writeInSteps<T>(
    now: Instant,
    body: (writer: StoreWriter) => Steps<T>,
    turns: Turns,
    waitMs = this.#timeoutMs,
  ): Promise<T> {
    if (this.#journal !== 'wal') return this.writeWhenFree(now, writer => atOnce(body(writer)), waitMs)
    let hasBegun = false
    // A write that pauses has a connection of its own, so that reads on this store's connection do not see its changes before the commit.
    const attempt = async () => {
      this.parts.db.leaveState()
      const db = this.#openAgain('write')
      const aside = new SqliteStore(this.storeId, makeParts(db), undefined, this.#timeoutMs, this.#openAgain)
      const begun = (writer: StoreWriter) => {
        hasBegun = true
        return body(writer)
      }
      try {
        return await this.#pausing(aside.#writing(now, begun, 0), turns)
      } finally {
        aside.close()
      }
    }
    return this.#waiting(attempt, error => !hasBegun && isLock(error), waitMs)
  }

  /**
   * Runs an attempt to write after the writes that are already waiting for the lock, and repeats it until the lock is free or `waitMs` has
   * passed.
   */
  #waiting<T>(attempt: () => T | Promise<T>, isLocked: (error: unknown) => boolean, waitMs: number): Promise<T> {
    const written = retrying(attempt, isLocked, { until: performance.now() + waitMs, after: this.#lastWaiting })
    const settled = written.then(ignore, ignore).then(() => {
      if (this.#lastWaiting === settled) this.#lastWaiting = null
    })
    this.#lastWaiting = settled
    return written
  }

  whenFree(): Promise<void> | null {
    return this.#lastWaiting
  }

  /**
   * Journal mode of the database: `wal` (with a write-ahead log), `memory` for a store in memory, or the mode of a file without a
   * write-ahead log.
   */
  get #journal(): string | undefined {
    return this.parts.db.prepareArrays<[string]>('pragma journal_mode').get()?.[0]
  }

  read<T>(body: (reader: StoreReader) => T): T {
    return this.parts.db.read(() => body(this))
  }

  async readInSteps<T>(body: () => Steps<T>, turns: Turns): Promise<T> {
    if (this.#journal === 'delete') return this.read(() => atOnce(body()))
    const attempt = () => this.#pausing(this.parts.db.readInSteps(body), turns)
    return this.#waiting(attempt, () => false, 0)
  }

  /** Runs a transaction that pauses between its steps; it is rolled back where `turns`, which schedules the steps, ends the work. */
  async #pausing<T>(transaction: Steps<T>, turns: Turns): Promise<T> {
    const paused = new PausedTransaction(transaction)
    this.paused = paused
    try {
      return await turns.run(paused.run())
    } finally {
      paused.cancel(null)
      this.paused = null
    }
  }

  snapshot(): Snapshot | null {
    if (this.#journal !== 'wal') return null
    const db = this.#openAgain('read')
    try {
      db.exec('pragma trusted_schema = off; pragma temp_store = memory')
      defineFilterFunctions(db)
      db.freeze()
    } catch (error) {
      db.close()
      throw error
    }
    this.snapshots.add(db)
    const close = () => {
      this.snapshots.delete(db)
      db.close()
    }
    return { reader: new SqliteReader(this.storeId, makeParts(db)), close }
  }

  /** SQLite's `data_version` changes exactly when another connection commits; whether that commit changed anything is tested separately. */
  version(of?: TableDeclaration): number {
    const { transaction } = this.parts.db
    if (transaction === 0 || transaction !== this.#askedIn) this.#askOthers()
    this.#askedIn = transaction
    return of === undefined || of.ofEntry === true ? this.#version : this.parts.tables.versions.of(of.name)
  }

  #askOthers(): void {
    const others = this.parts.db.prepareArrays<[number]>('pragma data_version').get()?.[0]
    if (others === this.#othersVersion) return
    this.#othersVersion = others
    if (!this.#revision.hasMoved()) return
    this.#version++
    this.parts.tables.versions.moved()
  }

  async check(): Promise<readonly StoreFinding[]> {
    const { examine, unreadable } = await import('./care/store-care.ts')
    try {
      return this.read(() => examine(this.parts.db))
    } catch (error) {
      return unreadable(error)
    }
  }

  close(): void {
    this.paused?.cancel(new QuerentError('cancelled', 'the store was closed before this was done'))
    for (const db of this.snapshots) db.close()
    this.snapshots.clear()
    this.parts.db.close()
  }
}

/** Repeats an attempt, with pauses, until it meets no lock or the time `until` (on the clock of `performance.now()`) has passed. */
async function retrying<T>(
  attempt: () => T | Promise<T>,
  isLocked: (error: unknown) => boolean,
  { until, after }: { readonly until: number; readonly after: Promise<void> | null },
): Promise<T> {
  await after
  for (let attempts = 0; ; attempts++) {
    const left = until - performance.now()
    await sleep(Math.max(0, Math.min(left, PAUSES_MS[attempts] ?? (PAUSES_MS.at(-1) as number))))
    try {
      return await attempt()
    } catch (error) {
      if (!isLocked(error) || performance.now() >= until) throw error
    }
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}

function isLock(error: unknown): boolean {
  return error instanceof QuerentError && error.code === 'store_locked'
}

function ignore(): void {}

// Upkeep of a SQLite store file: folding its write-ahead log into the file, and erasing the bytes of deleted data.

/** Size of the write-ahead log in bytes (16 MiB) from which a commit folds it into the file, unless upkeep in another thread does so. */
export const FOLD_IN_COMMITS: number = 16 * 1024 * 1024

export class SqliteUpkeep implements Upkeep {
  readonly #db: SqlDatabase
  readonly #forgotten: SqliteForgotten
  /** The thread that folds the write-ahead log; started by the first fold, since most processes need none. */
  #thread: Promise<Thread<StoreOrder, boolean>> | null = null

  constructor(db: SqlDatabase, forgotten: SqliteForgotten) {
    this.#db = db
    this.#forgotten = forgotten
  }

  log(): LogState | null {
    const path = this.#db.logFile
    try {
      const found = statSync(path, { throwIfNoEntry: false })
      return found === undefined ? null : { bytes: found.size, writtenAt: found.mtimeMs }
    } catch (error) {
      const cause = String(error)
      throw new QuerentError('io_failed', `cannot look at ${path}: ${cause}`, { path, cause }, error)
    }
  }

  /**
   * Folds the write-ahead log into the file. Rejects with `io_failed` when folding fails or its thread ends; the next call then starts
   * another thread.
   */
  async fold(how: Fold, waitMs: number): Promise<boolean> {
    const path = this.#db.file
    this.#db.leaveState()
    this.#thread ??= import('./store-thread.ts').then(({ foldThread }) => foldThread(path))
    try {
      return await (await this.#thread).ask({ how, waitMs })
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error)
      throw new QuerentError('io_failed', `${path}: folding its log back failed (${cause})`, { path, cause }, error)
    }
  }

  async endThread(): Promise<void> {
    const thread = this.#thread
    this.#thread = null
    await (await thread)?.end()
  }

  foldInCommits(from: number): void {
    foldInCommits(this.#db, from)
  }

  forgotten(): Forgotten | null {
    return this.#forgotten.get()
  }

  erase(mark: string, waitMs: number): Promise<boolean> {
    this.#db.leaveState()
    return eraseAside(this.#db.file, mark, waitMs)
  }
}

/** Sets from which size of the write-ahead log, in bytes, commits of this connection fold it into the file; 0: never. */
export function foldInCommits(db: SqlDatabase, from: number): void {
  db.exec(`pragma wal_autocheckpoint = ${Math.ceil(from / pageBytes(db))}`)
}

/** Size of the write-ahead log, in bytes, from which commits of this connection fold it into the file; 0: never. */
export function foldsInCommits(db: SqlDatabase): number {
  const [pages] = db.prepareArrays<[number]>('pragma wal_autocheckpoint').get() ?? [0]
  return pages * pageBytes(db)
}

function pageBytes(db: SqlDatabase): number {
  return db.prepareArrays<[number]>('pragma page_size').get()?.[0] ?? 4096
}

const run = promisify(execFile)
/** Time limit of the process that erases deleted data, in ms: long enough to read a file of a hundred gigabytes. */
const LONGEST_MS = 600_000

/** Runs `eraseInFile` in a separate process, so that its file locks are its own; failures become errors with code `io_failed`. */
async function eraseAside(file: string, mark: string, waitMs: number): Promise<boolean> {
  const script = fileURLToPath(siblingModule(import.meta.url, 'erase-worker'))
  // With this environment variable, a program built with Electron runs the script as Node would.
  const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1' }
  try {
    const { stdout } = await run(process.execPath, [script, file, mark, String(waitMs)], { env, timeout: LONGEST_MS })
    return JSON.parse(stdout) === true
  } catch (error) {
    const cause = String(error)
    throw new QuerentError(
      'io_failed',
      `${file}: erasing what was deleted failed (${cause})`,
      { path: file, cause },
      error,
    )
  }
}

/** The upkeep of a SQLite file: its write-ahead log, and what was forgotten. */

import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { siblingModule } from '../../base/module-url.ts'
import type { Thread } from '../../base/thread.ts'
import { QuerentError } from '../../model/errors.ts'
import type { Fold, Forgotten, LogState, Upkeep } from '../store.ts'
import type { StoreOrder } from '../store-worker.ts'
import type { SqliteForgotten } from './meta.ts'
import type { SqlDatabase } from './node-sqlite.ts'

/** The log is folded back at 16 MiB by the commit that makes it so large, unless somebody else takes care of it. */
export const FOLD_IN_COMMITS: number = 16 * 1024 * 1024

export class SqliteUpkeep implements Upkeep {
  readonly #db: SqlDatabase
  readonly #forgotten: SqliteForgotten
  /** Loaded by the first fold: most commands do without. */
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

  /** Rejects with `io_failed` when the fold fails or the thread ends; the next one starts another thread. */
  async fold(how: Fold, waitMs: number): Promise<boolean> {
    const path = this.#db.file
    this.#db.leaveState()
    this.#thread ??= import('../store-thread.ts').then(({ foldThread }) => foldThread(path))
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

/** `from`: bytes; 0: never. */
export function foldInCommits(db: SqlDatabase, from: number): void {
  db.exec(`pragma wal_autocheckpoint = ${Math.ceil(from / pageBytes(db))}`)
}

/** From how many bytes on a commit folds the log back; 0: never. */
export function foldsInCommits(db: SqlDatabase): number {
  const [pages] = db.prepareArrays<[number]>('pragma wal_autocheckpoint').get() ?? [0]
  return pages * pageBytes(db)
}

function pageBytes(db: SqlDatabase): number {
  return db.prepareArrays<[number]>('pragma page_size').get()?.[0] ?? 4096
}

const run = promisify(execFile)
/** To read a file of a hundred gigabytes. */
const LONGEST_MS = 600_000

/** As `eraseInFile`, whose failures become `io_failed`. */
async function eraseAside(file: string, mark: string, waitMs: number): Promise<boolean> {
  const script = fileURLToPath(siblingModule(import.meta.url, 'erase-worker'))
  // For programs that are built around Node.
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

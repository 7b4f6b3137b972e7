/** The upkeep of a SQLite file: its write-ahead log, and what was forgotten. */
import { statSync } from 'node:fs'
import { QuerentError } from '../../model/errors.ts'
import type { Fold, Forgotten, LogState, Upkeep } from '../upkeep.ts'
import { eraseAside } from './erase-aside.ts'
import { FoldThread } from './fold-thread.ts'
import type { SqliteForgotten } from './forgotten.ts'
import type { SqlDatabase } from './sql-driver.ts'

/** The log is folded back at 16 MiB by the commit that makes it so large, unless somebody else takes care of it. */
export const FOLD_IN_COMMITS: number = 16 * 1024 * 1024

export class SqliteUpkeep implements Upkeep {
  readonly #db: SqlDatabase
  readonly #forgotten: SqliteForgotten
  #thread: FoldThread | null = null

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

  fold(how: Fold, waitMs: number): Promise<boolean> {
    this.#thread ??= new FoldThread(this.#db.file)
    return this.#thread.fold({ how, waitMs })
  }

  async endThread(): Promise<void> {
    await this.#thread?.end()
    this.#thread = null
  }

  foldInCommits(from: number): void {
    foldInCommits(this.#db, from)
  }

  forgotten(): Forgotten | null {
    return this.#forgotten.get()
  }

  erase(mark: string, waitMs: number): Promise<boolean> {
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

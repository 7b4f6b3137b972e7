/** The upkeep of a SQLite file: its write-ahead log, and what was forgotten. */

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { siblingModule } from '../../base/module-url.ts'
import { QuerentError } from '../../model/errors.ts'
import type { Fold, Forgotten, LogState, Upkeep } from '../store.ts'
import type { FoldOrder, FoldReply } from './fold-log.ts'
import type { SqliteForgotten } from './meta.ts'
import type { SqlDatabase } from './node-sqlite.ts'

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

class FoldThread {
  readonly #file: string
  #worker: Worker | null = null
  #last: Promise<unknown> = Promise.resolve()

  constructor(file: string) {
    this.#file = file
  }

  /** Rejects with `io_failed` when the fold fails or the thread ends; the next order starts another one. */
  fold(order: FoldOrder): Promise<boolean> {
    const done = this.#last.then(() => this.#fold(order))
    this.#last = done.catch(() => undefined)
    return done
  }

  async end(): Promise<void> {
    await this.#last
    const worker = this.#worker
    this.#worker = null
    await worker?.terminate()
  }

  async #fold(order: FoldOrder): Promise<boolean> {
    const worker = this.#worker ?? this.#start()
    const gone = new AbortController()
    const leave = () => gone.abort()
    worker.once('exit', leave)
    try {
      worker.postMessage(order)
      const [reply] = (await once(worker, 'message', { signal: gone.signal })) as [FoldReply]
      if ('done' in reply) return reply.done
      throw this.#failed(reply.failure)
    } catch (error) {
      if (error instanceof QuerentError) throw error
      throw this.#failed(gone.signal.aborted ? 'the thread ended' : String(error))
    } finally {
      worker.off('exit', leave)
    }
  }

  #start(): Worker {
    const worker = new Worker(siblingModule(import.meta.url, 'fold-worker'), { workerData: this.#file })
    // Nobody waits for a fold to end a process: the log is folded back at closing.
    worker.unref()
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = null
    })
    this.#worker = worker
    return worker
  }

  #failed(cause: string): QuerentError {
    return new QuerentError('io_failed', `${this.#file}: folding its log back failed (${cause})`, {
      path: this.#file,
      cause,
    })
  }
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

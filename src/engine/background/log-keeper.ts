/**
 * Checkpoints the store's write-ahead log (copies committed pages into the main file): one engine at a time, every few seconds while there
 * are writes, in a thread of its own, so that commits need not. After deletions it also erases the deleted bytes from the store's files.
 */
import { Turns } from '../../base/turns.ts'
import { QuerentError } from '../../model/errors.ts'
import type { Forgotten, Store, Upkeep } from '../../store/store.ts'
import type { IndexSet } from '../index-set.ts'
import type { Lease } from './lease.ts'

const TICK_MS = 1_000
/** Size of the write-ahead log in bytes from which it is checkpointed; for less, starting a thread is not worthwhile. */
const FOLD_FROM = 1024 * 1024
/**
 * Size of the write-ahead log in bytes from which writers are made to wait some milliseconds, so that the log can be restarted from its
 * beginning and stops growing.
 */
const LARGE = 32 * 1024 * 1024
/**
 * Size of the write-ahead log in bytes from which a commit checkpoints it, because apparently no engine does so in the background. The
 * limit is high, since one long write may add hundreds of megabytes between two background checks.
 */
const BACKSTOP = 1024 * 1024 * 1024
/**
 * Limits on how often deleted bytes are erased from the store's files, during which writers wait: at most once every `ERASE_EVERY_MS`
 * milliseconds, and for at most the share `ERASE_SHARE` of the time.
 */
const ERASE_EVERY_MS = 5_000
const ERASE_SHARE = 1 / 10
/**
 * Milliseconds without a write after which the write-ahead log is checkpointed and emptied completely, because it may hold earlier contents
 * of rows.
 */
const IDLE_MS = 10_000
/** Longest time in milliseconds for which writers are blocked while a checkpoint waits for readers to stop using the write-ahead log. */
const PATIENCE_MS = 20
/**
 * Longest time in milliseconds that the last checkpoint waits for readers when the store is closed; after that, no process of this engine
 * maintains the write-ahead log.
 */
const PATIENCE_AT_END_MS = 1_000
/**
 * Limits on how often deleted data is purged from the indexes in memory: at most once every `LET_GO_EVERY_MS` milliseconds, and for at most
 * the share `LET_GO_SHARE` of the time.
 */
const LET_GO_EVERY_MS = 30_000
const LET_GO_SHARE = 1 / 50

export interface LogKeeperInput {
  readonly store: Store
  readonly upkeep: Upkeep
  readonly indexes: IndexSet
  /**
   * Lease of the process that maintains the write-ahead log. The lease is left to expire rather than given back, because giving it back
   * would write to the log again.
   */
  readonly lease: Lease
  /** Lease of the process that writes the snapshot files of the indexes. */
  readonly snapshots: Lease
}

export class LogKeeper {
  readonly #input: LogKeeperInput
  readonly #timer: NodeJS.Timeout
  #working: Promise<void> | null = null
  /** Modification times of the write-ahead log: at the last check (`#lookedAt`) and at the last checkpoint (`#foldedAt`). */
  #lookedAt = 0
  #foldedAt = 0
  #changedAt = Number.NEGATIVE_INFINITY
  #version = -1
  #forgotten: Forgotten | null = null
  #eraseAt = Number.NEGATIVE_INFINITY
  /**
   * `#letGo`: mark of the last deletion whose data has been purged from the indexes in memory; null: none yet. `#letGoAt`: earliest time of
   * the next purge.
   */
  #letGo: string | null = null
  #letGoAt = Number.NEGATIVE_INFINITY

  constructor(input: LogKeeperInput) {
    this.#input = input
    input.upkeep.foldInCommits(BACKSTOP)
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
    this.#timer.unref()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#working
    await this.#input.upkeep.endThread()
  }

  #tick(): void {
    this.#working ??= this.#work()
      .catch(error => {
        // Errors of log maintenance are ignored, because the next timer tick tries again when the disk is no longer busy or failing.
        if (!(error instanceof QuerentError)) throw error
      })
      .finally(() => {
        this.#working = null
      })
  }

  async #work(): Promise<void> {
    const { store, upkeep } = this.#input
    const version = store.version()
    if (version !== this.#version) this.#forgotten = upkeep.forgotten()
    this.#version = version
    if (this.#forgotten !== null) await this.#erase(this.#forgotten)
    const log = upkeep.log()
    if (log === null || log.bytes === 0) return
    if (log.writtenAt !== this.#lookedAt) this.#changedAt = performance.now()
    this.#lookedAt = log.writtenAt
    if (performance.now() - this.#changedAt >= IDLE_MS) await this.#rest()
    else if (log.bytes >= FOLD_FROM && log.writtenAt !== this.#foldedAt) await this.#fold(log.bytes)
  }

  async #fold(bytes: number): Promise<void> {
    const { upkeep, lease } = this.#input
    if (await lease.take()) await upkeep.fold(bytes < LARGE ? 'some' : 'all', PATIENCE_MS)
    this.#foldedAt = upkeep.log()?.writtenAt ?? 0
  }

  /**
   * Empties the write-ahead log and ends the thread. Does this without the lease, because taking the lease would write to the log again.
   */
  async #rest(): Promise<void> {
    await this.#input.upkeep.fold('empty', PATIENCE_MS)
    await this.#input.upkeep.endThread()
  }

  async #erase({ mark, seq, isErased }: Forgotten): Promise<void> {
    const { upkeep, indexes, lease, snapshots } = this.#input
    await this.#forgetInMemory(mark)
    if (isErased || performance.now() < this.#eraseAt || !(await lease.take())) return
    const started = performance.now()
    this.#eraseAt = started + ERASE_EVERY_MS
    if (!(await forgetInFiles(indexes, snapshots, seq, false))) return
    await upkeep.erase(mark, PATIENCE_MS)
    const ended = performance.now()
    this.#eraseAt = Math.max(this.#eraseAt, ended + (ended - started) / ERASE_SHARE)
    this.#forgotten = upkeep.forgotten()
  }

  async #forgetInMemory(mark: string): Promise<void> {
    const { indexes } = this.#input
    const started = performance.now()
    if (this.#letGo === mark || started < this.#letGoAt) return
    await new Turns().run(indexes.letGo())
    this.#letGo = mark
    const ended = performance.now()
    this.#letGoAt = ended + Math.max(LET_GO_EVERY_MS, (ended - started) / LET_GO_SHARE)
  }
}

/**
 * Last step before a store is closed after deletions: erases the deleted bytes from its files. If other processes prevent that, or no
 * thread can be started, the store keeps a mark that bytes are still to be erased; the status shows the mark, and the next process to open
 * the store erases the bytes.
 */
export async function eraseAtEnd(upkeep: Upkeep, indexes: IndexSet, snapshots: Lease): Promise<void> {
  const forgotten = upkeep.forgotten()
  if (forgotten === null || forgotten.isErased) return
  if (!(await forgetInFiles(indexes, snapshots, forgotten.seq, true))) return
  try {
    await upkeep.erase(forgotten.mark, PATIENCE_AT_END_MS)
  } catch (error) {
    if (!(error instanceof QuerentError)) throw error
  }
}

/**
 * Removes deleted data from the snapshot files of the indexes. Returns false if another process is writing snapshots, so that this must be
 * tried again.
 */
async function forgetInFiles(indexes: IndexSet, snapshots: Lease, seq: number, rewrite: boolean): Promise<boolean> {
  if (!indexes.mayHold(seq)) return true
  if (!(await snapshots.take())) return false
  try {
    await new Turns().run(indexes.forget(seq, rewrite))
    return true
  } finally {
    await snapshots.release()
  }
}

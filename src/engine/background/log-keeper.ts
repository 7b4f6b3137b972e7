/**
 * Who folds the store's log back, and when: one engine at a time, every few seconds while there are writes, in a thread
 * of its own. No commit pays for it, unless nobody keeps the log. After deletions it sees to it that their bytes are gone.
 */
import { Turns } from '../../base/turns.ts'
import { QuerentError } from '../../model/errors.ts'
import type { Forgotten, Store, Upkeep } from '../../store/store.ts'
import type { IndexSet } from '../index-set.ts'
import type { Lease } from './lease.ts'

const TICK_MS = 1_000
/** Less than this is not worth a thread. */
const FOLD_FROM = 1024 * 1024
/** From here on writers are kept waiting for the few milliseconds that the log needs to begin again. */
const LARGE = 32 * 1024 * 1024
/** A commit folds it back itself only from here on: nobody has kept it. One long write may leave hundreds of megabytes, until the next tick. */
const BACKSTOP = 1024 * 1024 * 1024
/** Under deletions without end the file is erased only so often, for writers wait meanwhile, ms; and in this share of the time. */
const ERASE_EVERY_MS = 5_000
const ERASE_SHARE = 1 / 10
/** When nothing was written for so long, what is left of the log goes, ms: also words that a row of a table had before. */
const IDLE_MS = 10_000
/** How long writers may be kept waiting for readers who must leave the log first, ms. */
const PATIENCE_MS = 20
/** The same at closing, where nobody looks after it later. */
const PATIENCE_AT_END_MS = 1_000
/** Memory lets go of what was forgotten at most so often, and takes at most this share of the time for it. */
const LET_GO_EVERY_MS = 30_000
const LET_GO_SHARE = 1 / 50

export interface LogKeeperInput {
  readonly store: Store
  readonly upkeep: Upkeep
  readonly indexes: IndexSet
  /** For the log. Never given back, but left to end: giving it back would be one more thing to fold. */
  readonly lease: Lease
  /** For the files of the indexes. */
  readonly snapshots: Lease
}

export class LogKeeper {
  readonly #input: LogKeeperInput
  readonly #timer: NodeJS.Timeout
  #working: Promise<void> | null = null
  /** When the log had been written last, as its file says, when it was looked at and when it was folded back. */
  #lookedAt = 0
  #foldedAt = 0
  #changedAt = Number.NEGATIVE_INFINITY
  #version = -1
  #forgotten: Forgotten | null = null
  #eraseAt = Number.NEGATIVE_INFINITY
  /** What memory let go of last, and when it may again. */
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
        // A busy or failing disk is met again at the next tick.
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

  /** Without the lease, which would have to be written down. */
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
 * The last thing before a store is closed, where something was forgotten. Where it cannot be erased, for others keep it from
 * that or no process can be had, the mark stays: the status tells of it, and whoever opens the store next erases it.
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

/** False when another process is writing snapshots. */
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

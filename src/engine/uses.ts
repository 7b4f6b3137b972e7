/**
 * Records which entries each query has shown, because use affects later ranks; one small transaction for each query. No query waits long
 * for writers of other processes: if the store is locked, the uses are kept in memory and recorded with the next query, after a short
 * delay, or when the engine closes.
 */
import type { Instant } from '../base/clock.ts'
import type { EntryKey } from '../model/entry.ts'
import { QuerentError } from '../model/errors.ts'
import type { Viewer } from '../model/viewer.ts'
import { ACCESS_GAIN } from '../pipeline/formula.ts'
import type { Store } from '../store/store.ts'

/**
 * Milliseconds that recording a use waits for a locked store: none, because waiting would block the thread and with it every other query in
 * this process.
 */
const WAIT_MS = 0
const WAIT_AT_END_MS = 1_000
const AGAIN_AFTER_MS = 200
/**
 * Maximum number of queries whose uses wait in memory to be recorded; if the store stays locked for long, the uses of older queries are
 * dropped.
 */
const MAX_OWED = 1_000

interface Use {
  readonly viewer: Viewer
  readonly entries: readonly EntryKey[]
  readonly now: Instant
}

export class Uses {
  readonly #store: Store
  #owed: Use[] = []
  #timer: NodeJS.Timeout | null = null

  constructor(store: Store) {
    this.#store = store
  }

  /**
   * Records that these entries were shown to the viewer. If the store is locked, the use is recorded later; any other error of writing is
   * thrown, and all uses still waiting are dropped.
   */
  count(viewer: Viewer, entries: readonly EntryKey[], now: Instant): void {
    this.#owed.push({ viewer, entries, now })
    this.#write(WAIT_MS)
  }

  /** Records the uses that are waiting, now. Throws errors of writing, except `store_locked`. */
  flush(): void {
    if (this.#owed.length > 0) this.#write(WAIT_AT_END_MS)
  }

  /** Records the uses that are waiting, before the store is closed. Never fails: uses that cannot be recorded now are dropped. */
  end(): void {
    try {
      if (this.#owed.length > 0) this.#write(WAIT_AT_END_MS)
    } catch (error) {
      if (!(error instanceof QuerentError)) throw error
    }
    this.#owed = []
    if (this.#timer !== null) clearTimeout(this.#timer)
  }

  #write(waitMs: number): void {
    const owed = this.#owed
    this.#owed = []
    const now = owed.at(-1)?.now ?? 0
    try {
      this.#store.write(
        now,
        writer => {
          for (const use of owed) writer.touch(use.viewer, use.entries, use.now, ACCESS_GAIN)
        },
        waitMs,
      )
    } catch (error) {
      if (!(error instanceof QuerentError && error.code === 'store_locked')) throw error
      this.#owed = owed.slice(-MAX_OWED)
      this.#timer ??= setTimeout(() => this.#again(), AGAIN_AFTER_MS).unref()
    }
  }

  #again(): void {
    this.#timer = null
    try {
      if (this.#owed.length > 0) this.#write(WAIT_MS)
    } catch (error) {
      // If a delayed write fails for another reason than a locked store, the waiting uses are dropped, as they are when an immediate write
      // fails.
      if (!(error instanceof QuerentError)) throw error
    }
  }
}

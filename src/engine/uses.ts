/**
 * Counts what questions have shown, each in one small transaction. No question waits long for the writers of other
 * processes: a use that meets them is kept and counted with the next one, soon after, or when the engine closes.
 */
import type { Instant } from '../base/clock.ts'
import type { EntryKey } from '../model/entry.ts'
import { QuerentError } from '../model/errors.ts'
import type { Viewer } from '../model/viewer.ts'
import { ACCESS_GAIN } from '../pipeline/formula.ts'
import type { Store } from '../store/store.ts'

/** A wait blocks the thread: every other query in this process would wait too. */
const WAIT_MS = 0
const WAIT_AT_END_MS = 1_000
const AGAIN_AFTER_MS = 200
/** Of so many questions; older ones are forgotten while a store stays locked. */
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

  /** Throws what writing throws, but for `store_locked`; then nothing is owed any more. */
  count(viewer: Viewer, entries: readonly EntryKey[], now: Instant): void {
    this.#owed.push({ viewer, entries, now })
    this.#write(WAIT_MS)
  }

  /** Counts at once what is still owed. Throws what writing throws, but for `store_locked`. */
  flush(): void {
    if (this.#owed.length > 0) this.#write(WAIT_AT_END_MS)
  }

  /** Before the store is closed. Never fails: what cannot be counted now is forgotten. */
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
      // A disk that fails now loses these uses, as it would have when they came.
      if (!(error instanceof QuerentError)) throw error
    }
  }
}

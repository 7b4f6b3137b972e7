/**
 * Short names of cursors (QE-015). A cursor holds all that its next page needs, up to `MAX_CURSOR_LENGTH` characters: too
 * much for an agent to repeat, and for an address. Over HTTP and MCP a handle takes its place; the cursor itself is kept in
 * the store, for other processes on it.
 */
import { hash } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { CURSOR_LIFETIME_MS } from '../model/limits.ts'
import { CURSORS } from '../store/core-tables.ts'
import type { Store, StoreWriter } from '../store/store.ts'

/** A cursor that is no longer than this is its own handle. */
const MAX_LENGTH = 64
/** 96 bits of a hash of what only this store can have sealed: equal cursors have equal handles, and none can be guessed. */
const HANDLE = /^c_[\w-]{16}$/
/** Rows are removed an hour at a time. */
const HOUR_MS = 3_600_000
/** Rows kept, before the oldest hour is removed early. */
const MAX_ROWS = 200_000
/** Cursors kept in memory alone, of a store that cannot be written now; the oldest are forgotten. */
const MAX_UNWRITTEN = 1_000

export class CursorHandles {
  readonly #store: Store
  readonly #clock: Clock
  readonly #unwritten = new Map<string, string>()
  #hour = 0

  constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** Never fails, and waits for no writer: until the store can be written, this process alone keeps the cursor. */
  shorten(cursor: string): string {
    if (cursor.length <= MAX_LENGTH) return cursor
    const handle = `c_${hash('sha256', cursor, 'base64url').slice(0, 16)}`
    const [oldest] = this.#unwritten.keys()
    if (oldest !== undefined && this.#unwritten.size >= MAX_UNWRITTEN) this.#unwritten.delete(oldest)
    this.#unwritten.set(handle, cursor)
    this.#store
      .writeWhenFree(this.#clock.now(), writer => this.#write(writer, handle, cursor))
      .then(
        () => this.#unwritten.delete(handle),
        () => {},
      )
    return handle
  }

  /** What is no handle is returned as it is. Null: the cursor of this handle is not kept any more. */
  expand(given: string): string | null {
    if (!HANDLE.test(given)) return given
    const row = this.#store.table(CURSORS).get({ handle: given })
    return (row?.['cursor'] as string | undefined) ?? this.#unwritten.get(given) ?? null
  }

  #write(writer: StoreWriter, handle: string, cursor: string): void {
    const table = writer.table(CURSORS)
    const hour = Math.floor(this.#clock.now() / HOUR_MS)
    table.put({ handle, cursor, hour })
    if (hour === this.#hour) return
    this.#hour = hour
    const hours = new Set(table.scan({}, { columns: ['hour'] }).map(row => row['hour'] as number))
    const first = hour - CURSOR_LIFETIME_MS / HOUR_MS
    for (const old of [...hours].sort((a, b) => a - b)) {
      if (old < first || (old < hour && table.count() > MAX_ROWS)) table.delete({ hour: old })
    }
  }
}

/**
 * Ensures that one process at a time does a background job. A lease is a row in the store with an expiry in machine time. The holder renews
 * it; another process takes it over when it has expired, or when the holder's process no longer runs on this machine. So a dead holder
 * blocks a job for one lease term at most. A holder whose clock is ahead blocks it no longer either, because a lease that was not renewed
 * for one term of the observer's own time also counts as expired.
 *
 * A holder that was suspended, or whose clock is wrong, may believe for one renewal interval that it still has a lease that another process
 * took. It cannot write in that belief: each write checks in its own transaction that the turn (the period from taking the lease to giving
 * it back or losing it) is still its own (`requireHeld`). Every acquisition is a new turn with its own name, even by the same process.
 */
import { hostname } from 'node:os'
import { pause } from '../../base/turns.ts'
import { QuerentError } from '../../model/errors.ts'
import type { Row } from '../../model/table.ts'
import { LEASES } from '../../store/core-tables.ts'
import type { Store, StoreReader } from '../../store/store.ts'

const TERM_MS = 15_000
const RENEW_MS = 5_000
/** Interval in milliseconds at which a process that waits for the lease checks whether it is free. */
const POLL_MS = 40

/** Number of times that this process has taken a lease; makes the name of each turn (period of holding the lease) unique. */
let turns = 0

export class Lease {
  readonly #store: Store
  readonly #name: string
  readonly #holder: string
  readonly #machineNow: () => number
  readonly #elapsed: () => number
  /** Name of the lease's last turn (period of holding it) that this process took; null: none yet. */
  #turn: string | null = null
  /** The lease row of another process as last seen, and the monotonic time since which it has been unchanged; null: none was seen. */
  #seen: { readonly holder: unknown; readonly expiresAt: unknown; readonly since: number } | null = null

  /** `machineNow`: date and time of the machine in milliseconds, for expiries. `elapsed`: monotonic time in milliseconds. */
  constructor(
    store: Store,
    name: string,
    holder: string,
    machineNow: () => number,
    elapsed: () => number = () => performance.now(),
  ) {
    this.#store = store
    this.#name = name
    this.#holder = holder
    this.#machineNow = machineNow
    this.#elapsed = elapsed
  }

  /** Takes the lease, or renews it if this process has it; returns false if another process has it. */
  async take(): Promise<boolean> {
    const now = this.#machineNow()
    // Reads the lease without a write transaction first: mostly another process has the lease, and then there is no need to wait for other
    // writers.
    if (this.#isOthersIn(this.#store, now)) return false
    return this.#store.writeWhenFree(now, writer => {
      if (this.#isOthersIn(writer, now)) return false
      if (!this.isHeldIn(writer)) this.#turn = `${this.#holder}.${++turns}`
      writer.table(LEASES).put({ name: this.#name, holder: this.#turn, expires_at: now + TERM_MS })
      return true
    })
  }

  /**
   * Whether this process still holds the lease that it took last: no other process has taken it since. Inside a write transaction the
   * answer stays true until the transaction ends, because no other process can write.
   */
  isHeldIn(reader: StoreReader): boolean {
    return this.#turn !== null && reader.table(LEASES).get({ name: this.#name })?.['holder'] === this.#turn
  }

  /** Throws `cancelled` if this process no longer holds the lease. Called inside write transactions that only the holder may make. */
  readonly requireHeld = (reader: StoreReader): void => {
    if (!this.isHeldIn(reader)) throw leaseLost(this.#name)
  }

  /**
   * Waits until no other process has the lease, and takes it. `onWait` is called once if there is a wait. Rejects with `cancelled` if the
   * signal is aborted first, and with the error of the store if it cannot be written.
   */
  async waitFor(signal: AbortSignal, onWait: () => void = () => undefined): Promise<void> {
    for (let waits = false; ; waits = true) {
      if (signal.aborted)
        throw new QuerentError('cancelled', `stopped while it waited for another run of ${this.#name}`, {})
      if (await this.take()) return
      if (!waits) onWait()
      await pause(POLL_MS, signal)
    }
  }

  /**
   * Runs `body` while the lease is held: renews the lease meanwhile, and gives it back at the end. The signal passed to `body` is aborted
   * when another process has taken the lease, when it could not be renewed for a whole lease term, and when `signal` is aborted.
   */
  async during<T>(signal: AbortSignal, body: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const lost = new AbortController()
    let renewedAt = this.#elapsed()
    const renewing = setInterval(async () => {
      const outcome = await this.#renew()
      if (outcome === 'renewed') renewedAt = this.#elapsed()
      else if (outcome === 'lost' || this.#elapsed() - renewedAt >= TERM_MS) lost.abort(leaseLost(this.#name))
    }, RENEW_MS)
    renewing.unref()
    try {
      return await body(AbortSignal.any([signal, lost.signal]))
    } finally {
      clearInterval(renewing)
      await this.release()
    }
  }

  /** Gives the lease back. Never fails: a lease that cannot be given back expires after its term. */
  async release(): Promise<void> {
    const turn = this.#turn
    if (turn === null) return
    try {
      await this.#store.writeWhenFree(this.#machineNow(), writer => {
        writer.table(LEASES).delete({ name: this.#name, holder: turn })
      })
    } catch (error) {
      if (!(error instanceof QuerentError)) throw error
    }
  }

  /**
   * Renews the lease that this process holds. If the lease was lost, it is not taken again here, because another process may meanwhile have
   * changed the data that the running job (`body`) started from.
   */
  async #renew(): Promise<'renewed' | 'lost' | 'unknown'> {
    const now = this.#machineNow()
    try {
      return await this.#store.writeWhenFree(now, writer => {
        if (!this.isHeldIn(writer)) return 'lost'
        writer.table(LEASES).put({ name: this.#name, holder: this.#turn, expires_at: now + TERM_MS })
        return 'renewed'
      })
    } catch (error) {
      // The lease could not be renewed because the store is busy, so it is unknown whether it is still held.
      if (!(error instanceof QuerentError)) throw error
      return 'unknown'
    }
  }

  #isOthersIn(reader: StoreReader, now: number): boolean {
    const held = reader.table(LEASES).get({ name: this.#name })
    return held !== undefined && held['holder'] !== this.#turn && !this.#isOver(held, now)
  }

  #isOver({ holder, expires_at: expiresAt }: Row, now: number): boolean {
    if (Number(expiresAt) <= now || isGone(String(holder))) return true
    const seen = this.#seen
    const isAsSeen = seen !== null && seen.holder === holder && seen.expiresAt === expiresAt
    if (isAsSeen) return this.#elapsed() - seen.since >= TERM_MS
    this.#seen = { holder, expiresAt, since: this.#elapsed() }
    return false
  }
}

function leaseLost(name: string): QuerentError {
  return new QuerentError('cancelled', `another process took over ${name}`, {})
}

/** Pattern of a lease holder's name (host/process id/engine id), from which other processes can tell whether the holder still runs. */
const PARTS = /^(?<host>.+)\/(?<pid>\d+)\/[^/]+$/

/** Name under which an engine holds leases; unique, also among several engines in one process. */
export function nameHolder(id: string): string {
  return `${hostname()}/${process.pid}/${id}`
}

/**
 * Whether the holder of a lease ran on this machine and its process no longer exists. Returns false for a holder on another machine, whose
 * state is unknown.
 */
export function isGone(holder: string): boolean {
  const { host, pid } = PARTS.exec(holder)?.groups ?? {}
  return host === hostname() && !isRunning(Number(pid))
}

function isRunning(pid: number): boolean {
  try {
    // The signal 0 is not sent to the process; the call only checks that the process exists.
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Other errors than ESRCH, such as EPERM, mean that the process exists but belongs to another user.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

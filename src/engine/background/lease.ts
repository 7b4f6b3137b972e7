/**
 * One process at a time does a background job. A lease is a row in the store with an end in machine time; the holder
 * renews it, and whoever finds it over, or its holder gone from this machine, takes it. So a dead holder blocks a job
 * for one term at most, and so does one whose clock is ahead: what is unrenewed for a term of one's own is over too.
 *
 * A holder that was stopped, or whose clock others do not share, may believe for one renewal that it still has what
 * another one took. It cannot write so: what a holder writes looks in the same transaction whether the turn is still its
 * own (`requireHeld`), and each taking is a turn of its own, also where it was given back meanwhile.
 */
import { hostname } from 'node:os'
import { pause } from '../../base/turns.ts'
import { QuerentError } from '../../model/errors.ts'
import type { Row } from '../../model/table.ts'
import { LEASES } from '../../store/core-tables.ts'
import type { Store, StoreReader } from '../../store/store.ts'

const TERM_MS = 15_000
const RENEW_MS = 5_000
/** How often a waiting process looks whether the lease is free. */
const POLL_MS = 40

/** Turns of this process, so that each has a name of its own. */
let turns = 0

export class Lease {
  readonly #store: Store
  readonly #name: string
  readonly #holder: string
  readonly #machineNow: () => number
  readonly #elapsed: () => number
  /** The name under which it was taken last; null: never. */
  #turn: string | null = null
  /** Another's turn, and since when it was not renewed. */
  #seen: { readonly holder: unknown; readonly expiresAt: unknown; readonly since: number } | null = null

  /** `elapsed`: ms from any start, on a clock that nobody can set. */
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

  /** Takes or renews it; false when another one has it. */
  async take(): Promise<boolean> {
    const now = this.#machineNow()
    // Most of those who ask in vain need not wait for writers.
    if (this.#isOthersIn(this.#store, now)) return false
    return this.#store.writeWhenFree(now, writer => {
      if (this.#isOthersIn(writer, now)) return false
      if (!this.isHeldIn(writer)) this.#turn = `${this.#holder}.${++turns}`
      writer.table(LEASES).put({ name: this.#name, holder: this.#turn, expires_at: now + TERM_MS })
      return true
    })
  }

  /** Whether it is still the turn that was taken last. Within a transaction that writes, nobody can take it before the end. */
  isHeldIn(reader: StoreReader): boolean {
    return this.#turn !== null && reader.table(LEASES).get({ name: this.#name })?.['holder'] === this.#turn
  }

  /** The same for those who write only as its holder; throws `cancelled`. */
  readonly requireHeld = (reader: StoreReader): void => {
    if (!this.isHeldIn(reader)) throw leaseLost(this.#name)
  }

  /**
   * Takes it as soon as nobody else has it. `onWait` is called once, when somebody has. Rejects with `cancelled` when the
   * signal is aborted first, and with what a store that cannot be written says.
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
   * Runs the body of the one who has taken it, renewing it meanwhile, and gives it back. The body's signal is aborted
   * when the lease is lost to another process, or could not be renewed for a whole term, and when `signal` is.
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

  /** Never fails: a lease that cannot be given back ends with its term. */
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

  /** Never takes it again: whoever had it meanwhile may have changed what the body began with. */
  async #renew(): Promise<'renewed' | 'lost' | 'unknown'> {
    const now = this.#machineNow()
    try {
      return await this.#store.writeWhenFree(now, writer => {
        if (!this.isHeldIn(writer)) return 'lost'
        writer.table(LEASES).put({ name: this.#name, holder: this.#turn, expires_at: now + TERM_MS })
        return 'renewed'
      })
    } catch (error) {
      // The store is too busy to say.
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

/** The name of an engine among the processes on one store, by which others can tell whether it still lives. */
const PARTS = /^(?<host>.+)\/(?<pid>\d+)\/[^/]+$/

/** Unique, also among engines of one process. */
export function nameHolder(id: string): string {
  return `${hostname()}/${process.pid}/${id}`
}

/** True only if it ran on this machine and does so no more. Nothing is known of one that ran elsewhere. */
export function isGone(holder: string): boolean {
  const { host, pid } = PARTS.exec(holder)?.groups ?? {}
  return host === hostname() && !isRunning(Number(pid))
}

function isRunning(pid: number): boolean {
  try {
    // Sends nothing.
    process.kill(pid, 0)
    return true
  } catch (error) {
    // It may be another user's.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/**
 * One process at a time does a background job. A lease is a row in the store with an end in machine time; the holder
 * renews it, and whoever finds it over, or its holder gone from this machine, takes it. So a dead holder blocks a job
 * for one term at most.
 */
import { QuerentError } from '../model/errors.ts'
import type { Row } from '../model/table.ts'
import { LEASES } from '../store/core-tables.ts'
import type { Store } from '../store/store.ts'
import { isGone } from './holder.ts'

const TERM_MS = 15_000
const RENEW_MS = 5_000

export class Lease {
  readonly #store: Store
  readonly #name: string
  readonly #holder: string
  readonly #machineNow: () => number

  constructor(store: Store, name: string, holder: string, machineNow: () => number) {
    this.#store = store
    this.#name = name
    this.#holder = holder
    this.#machineNow = machineNow
  }

  /** Takes or renews it; false when another process has it. */
  take(): boolean {
    const now = this.#machineNow()
    return this.#store.write(now, writer => {
      const table = writer.table(LEASES)
      const held = table.get({ name: this.#name })
      if (held !== undefined && this.#isHeldByOther(held, now)) return false
      table.put({ name: this.#name, holder: this.#holder, expires_at: now + TERM_MS })
      return true
    })
  }

  /**
   * Runs the body of the one who has taken it, renewing it meanwhile, and gives it back. The body's signal is aborted
   * when the lease is lost to another process, or could not be renewed for a whole term, and when `signal` is.
   */
  async during<T>(signal: AbortSignal, body: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const lost = new AbortController()
    let renewedAt = this.#machineNow()
    const renewing = setInterval(() => {
      if (this.#renewed()) renewedAt = this.#machineNow()
      else if (this.#machineNow() - renewedAt >= TERM_MS || this.#isOthers()) lost.abort(leaseLost(this.#name))
    }, RENEW_MS)
    renewing.unref()
    try {
      return await body(AbortSignal.any([signal, lost.signal]))
    } finally {
      clearInterval(renewing)
      this.release()
    }
  }

  #isHeldByOther({ holder, expires_at }: Row, now: number): boolean {
    return holder !== this.#holder && Number(expires_at) > now && !isGone(String(holder))
  }

  /** False also where the store was too busy to say. */
  #renewed(): boolean {
    try {
      return this.take()
    } catch (error) {
      if (!(error instanceof QuerentError)) throw error
      return false
    }
  }

  #isOthers(): boolean {
    try {
      const held = this.#store.table(LEASES).get({ name: this.#name })
      return held !== undefined && held['holder'] !== this.#holder
    } catch (error) {
      if (!(error instanceof QuerentError)) throw error
      return false
    }
  }

  /** Never fails: a lease that cannot be given back ends with its term. */
  release(): void {
    try {
      this.#store.write(this.#machineNow(), writer => {
        writer.table(LEASES).delete({ name: this.#name, holder: this.#holder })
      })
    } catch (error) {
      if (!(error instanceof QuerentError)) throw error
    }
  }
}

function leaseLost(name: string): QuerentError {
  return new QuerentError('cancelled', `another process took over ${name}`, {})
}

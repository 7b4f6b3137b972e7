/**
 * One process at a time does a background job. A lease is a row in the store with an end in machine time; the holder
 * renews it, and whoever finds it over takes it, so a dead holder blocks a job for at most one term.
 */
import { QuerentError } from '../model/errors.ts'
import { LEASES } from '../store/core-tables.ts'
import type { Store } from '../store/store.ts'

const TERM_MS = 15_000

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
      if (held !== undefined && held['holder'] !== this.#holder && Number(held['expires_at']) > now) return false
      table.put({ name: this.#name, holder: this.#holder, expires_at: now + TERM_MS })
      return true
    })
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

/** Work between questions: vectors for new chunks, the jobs of lenses, cutting the feed. One process at a time each. */
import type { Clock } from '../base/clock.ts'
import type { Job, LensHost } from '../lenses/lens.ts'
import type { Store } from '../store/store.ts'
import type { Embedding } from './embedding.ts'
import type { IndexSet } from './index-set.ts'
import { Lease } from './lease.ts'

const TICK_MS = 2_000

export interface BackgroundInput {
  readonly store: Store
  readonly clock: Clock
  readonly indexes: IndexSet
  readonly embedding: Embedding | null
  readonly jobs: readonly { readonly job: Job; readonly host: LensHost }[]
  readonly holder: string
  readonly machineNow: () => number
}

export class Background {
  readonly #input: BackgroundInput
  readonly #stop = new AbortController()
  readonly #ranAt = new Map<string, number>()
  readonly #timer: NodeJS.Timeout
  #tick: Promise<void> = Promise.resolve()

  constructor(input: BackgroundInput) {
    this.#input = input
    this.#timer = setInterval(() => {
      this.#tick = this.#tick.then(() => this.#work())
    }, TICK_MS)
    this.#timer.unref()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#stop.abort()
    await this.#tick
  }

  async #work(): Promise<void> {
    if (this.#stop.signal.aborted) return
    const { store, indexes, embedding } = this.#input
    try {
      embedding?.start()
      for (const { job, host } of this.#input.jobs) await this.#runJob(job, host)
      const prunable = indexes.prunable()
      if (prunable >= store.firstSeq() && store.firstSeq() > 0) {
        store.write(this.#input.machineNow(), writer => writer.pruneChanges(prunable))
      }
    } catch {
      // A busy or failing store is met again at the next tick; a job reports its own errors.
    }
  }

  async #runJob(job: Job, host: LensHost): Promise<void> {
    const now = this.#input.machineNow()
    if (now - (this.#ranAt.get(job.name) ?? 0) < job.everyMs) return
    const lease = new Lease(this.#input.store, `job:${job.name}`, this.#input.holder, this.#input.machineNow)
    if (!lease.take()) return
    this.#ranAt.set(job.name, now)
    try {
      await job.run(host, this.#input.clock.now(), this.#stop.signal, () => lease.take())
    } finally {
      lease.release()
    }
  }
}

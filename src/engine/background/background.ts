/** Work between questions: vectors for new chunks, snapshots, cutting the feed, the jobs of lenses. One process at a time each. */
import type { Clock, Instant } from '../../base/clock.ts'
import { Turns } from '../../base/turns.ts'
import type { MustHold } from '../../lenses/lens.ts'
import { QuerentError } from '../../model/errors.ts'
import type { Progress } from '../../model/operation.ts'
import type { Store } from '../../store/store.ts'
import type { IndexSet } from '../index-set.ts'
import type { Embedding } from './embedding.ts'
import { Lease } from './lease.ts'

const TICK_MS = 2_000
/** Snapshots are written at most so often, and take at most this share of the time: nothing is answered meanwhile. */
const SAVE_EVERY_MS = 30_000
const SAVE_SHARE = 1 / 50

/** How a job of this process is doing, for the doctor. */
export interface JobState {
  /** What its last run reported last. */
  readonly progress: Progress | null
  /** Why its last run failed; null when it did not. */
  readonly failure: string | null
}

/** A job of a lens with its host, or one of the engine's own. */
export interface BackgroundJob {
  readonly name: string
  readonly everyMs: number
  run(now: Instant, signal: AbortSignal, report: (progress: Progress) => void, mustHold: MustHold): Promise<void>
}

export interface BackgroundInput {
  readonly store: Store
  readonly clock: Clock
  readonly indexes: IndexSet
  readonly embedding: Embedding | null
  readonly jobs: readonly BackgroundJob[]
  /** Kept up to date here, by the jobs' names. */
  readonly states: Map<string, JobState>
  readonly holder: string
  readonly machineNow: () => number
  /** Milliseconds from any start, on a clock that nobody can set: what is due in a while is due whatever the date becomes. */
  readonly elapsed?: (() => number) | undefined
}

export class Background {
  readonly #input: BackgroundInput
  readonly #stop = new AbortController()
  readonly #ranAt = new Map<string, number>()
  readonly #running = new Map<string, Promise<void>>()
  /** By name: whoever waits for another's must have seen how long it stood still. */
  readonly #leases = new Map<string, Lease>()
  readonly #timer: NodeJS.Timeout
  readonly #elapsed: () => number
  #saveAt: number
  /** Saving and pruning, while they run. */
  #upkeep: Promise<void> | null = null

  constructor(input: BackgroundInput) {
    this.#input = input
    this.#elapsed = input.elapsed ?? (() => performance.now())
    this.#saveAt = this.#elapsed() + SAVE_EVERY_MS
    this.#timer = setInterval(() => this.#work(), TICK_MS)
    this.#timer.unref()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#stop.abort()
    await Promise.all([...this.#running.values(), this.#upkeep])
  }

  #work(): void {
    this.#input.embedding?.start()
    for (const job of this.#input.jobs) this.#startJob(job)
    this.#upkeep ??= this.#keepUp().finally(() => {
      this.#upkeep = null
    })
  }

  async #keepUp(): Promise<void> {
    try {
      await this.#save()
      await this.#prune()
    } catch {
      // A busy or failing store is met again at the next tick.
    }
  }

  async #save(): Promise<void> {
    const { indexes } = this.#input
    const started = this.#elapsed()
    if (started < this.#saveAt || !indexes.isWorthSaving) return
    await saveSnapshots(indexes, this.#lease('snapshots'))
    const ended = this.#elapsed()
    this.#saveAt = ended + Math.max(SAVE_EVERY_MS, (ended - started) / SAVE_SHARE)
  }

  async #prune(): Promise<void> {
    const { store, indexes, machineNow } = this.#input
    const prunable = indexes.prunable()
    if (prunable < store.firstSeq() || store.firstSeq() === 0) return
    await store.writeWhenFree(machineNow(), writer => writer.pruneChanges(prunable))
  }

  #lease(name: string): Lease {
    const { store, holder, machineNow } = this.#input
    const lease = this.#leases.get(name) ?? new Lease(store, name, holder, machineNow)
    this.#leases.set(name, lease)
    return lease
  }

  #startJob(job: BackgroundJob): void {
    const { name, everyMs } = job
    const now = this.#elapsed()
    if (this.#running.has(name) || now - (this.#ranAt.get(name) ?? Number.NEGATIVE_INFINITY) < everyMs) return
    const running = this.#runJob(job).finally(() => this.#running.delete(name))
    this.#running.set(name, running)
  }

  /** Never rejects: a failure is kept, and the job is due again after its time. */
  async #runJob(job: BackgroundJob): Promise<void> {
    const { clock, states } = this.#input
    const state = (change: Partial<JobState>) => {
      states.set(job.name, { progress: null, failure: null, ...states.get(job.name), ...change })
    }
    const lease = this.#lease(`job:${job.name}`)
    try {
      if (!(await lease.take())) return
      this.#ranAt.set(job.name, this.#elapsed())
      state({ progress: null })
      await lease.during(this.#stop.signal, signal =>
        job.run(clock.now(), signal, progress => state({ progress }), lease.mustHold),
      )
      state({ failure: null })
    } catch (error) {
      // A store that is busy is met again at the next tick; being ended is no failure.
      const isBusy = error instanceof QuerentError && error.kind === 'busy'
      if (!isBusy && !this.#stop.signal.aborted)
        state({ failure: error instanceof Error ? error.message : String(error) })
    }
  }
}

/** When another process holds the lease, it is the one to save. Losing a snapshot loses time, no knowledge. */
export async function saveSnapshots(indexes: IndexSet, lease: Lease): Promise<void> {
  if (!indexes.isWorthSaving) return
  try {
    if (!(await lease.take())) return
    await new Turns().run(indexes.save())
    await lease.release()
  } catch (error) {
    if (!(error instanceof QuerentError)) throw error
  }
}

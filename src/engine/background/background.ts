/**
 * Work in the background, between queries: computes vectors for new chunks, saves index snapshots, prunes the change feed, runs the
 * periodic jobs of lenses. Each kind of work is done by one process at a time, of all that have the store open.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock, Instant } from '../../base/clock.ts'
import { Turns } from '../../base/turns.ts'
import { type Embedder, isRefusal, modelKey } from '../../embed/embedder.ts'
import type { Condition } from '../../lenses/lens.ts'
import { type Chunk, type ChunkKey, embeddedText } from '../../model/entry.ts'
import { QuerentError } from '../../model/errors.ts'
import type { Progress } from '../../model/operation.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import { orStopped } from '../ending.ts'
import type { IndexSet } from '../index-set.ts'
import { Lease } from './lease.ts'

const TICK_MS = 2_000
/**
 * Limits on how often index snapshots are saved, during which no query is answered: at most once every `SAVE_EVERY_MS` milliseconds, and
 * for at most the share `SAVE_SHARE` of the time.
 */
const SAVE_EVERY_MS = 30_000
const SAVE_SHARE = 1 / 50

/** State of a background job in this process, which the engine's health check (the doctor) reports. */
export interface JobState {
  /** Last progress that the job reported during its latest run. */
  readonly progress: Progress | null
  /** Error message of the job's latest run; null if that run did not fail. */
  readonly failure: string | null
}

/** A periodic background job, either defined by a lens or part of the engine. */
export interface BackgroundJob {
  readonly name: string
  readonly everyMs: number
  run(now: Instant, signal: AbortSignal, report: (progress: Progress) => void, requireHeld: Condition): Promise<void>
}

interface BackgroundInput {
  readonly store: Store
  readonly clock: Clock
  readonly indexes: IndexSet
  readonly embedding: Embedding | null
  readonly jobs: readonly BackgroundJob[]
  /** State of each background job by job name, updated after each run and read by the health check. */
  readonly states: Map<string, JobState>
  readonly holder: string
  readonly machineNow: () => number
}

export class Background {
  readonly #input: BackgroundInput
  readonly #stop = new AbortController()
  readonly #ranAt = new Map<string, number>()
  readonly #running = new Map<string, Promise<void>>()
  /**
   * Leases by job name; a lease lets one process at a time run the job. The lease objects are kept as long as this object, because each
   * must observe for a while that another process does not renew its lease before it may take the lease over.
   */
  readonly #leases = new Map<string, Lease>()
  readonly #timer: NodeJS.Timeout
  // Monotonic time from which index snapshots may next be saved; the monotonic clock is used because setting the system clock must neither
  // delay nor hasten the saving.
  #saveAt = performance.now() + SAVE_EVERY_MS
  /** Promise of the maintenance in progress, which saves snapshots and prunes the change feed; null while there is none. */
  #upkeep: Promise<void> | null = null

  constructor(input: BackgroundInput) {
    this.#input = input
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
      // Errors of maintenance are ignored, because the next timer tick tries again when the store is no longer busy or failing.
    }
  }

  async #save(): Promise<void> {
    const { indexes } = this.#input
    const started = performance.now()
    if (started < this.#saveAt || !indexes.isWorthSaving) return
    await saveSnapshots(indexes, this.#lease('snapshots'))
    const ended = performance.now()
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
    const now = performance.now()
    if (this.#running.has(name) || now - (this.#ranAt.get(name) ?? Number.NEGATIVE_INFINITY) < everyMs) return
    const running = this.#runJob(job).finally(() => this.#running.delete(name))
    this.#running.set(name, running)
  }

  /** Runs a background job. Never rejects: a failure is recorded in the job's state, and the job is due again after its interval. */
  async #runJob(job: BackgroundJob): Promise<void> {
    const { clock, states } = this.#input
    const state = (change: Partial<JobState>) => {
      states.set(job.name, { progress: null, failure: null, ...states.get(job.name), ...change })
    }
    const lease = this.#lease(`job:${job.name}`)
    try {
      if (!(await lease.take())) return
      this.#ranAt.set(job.name, performance.now())
      state({ progress: null })
      await lease.during(this.#stop.signal, signal =>
        job.run(clock.now(), signal, progress => state({ progress }), lease.requireHeld),
      )
      state({ failure: null })
    } catch (error) {
      // A job that found the store busy is tried again at the next timer tick; an abort because the engine is closing is not recorded as a
      // failure.
      const isBusy = error instanceof QuerentError && error.kind === 'busy'
      if (!isBusy && !this.#stop.signal.aborted)
        state({ failure: error instanceof Error ? error.message : String(error) })
    }
  }
}

/**
 * Saves the snapshots of the indexes, unless another process holds the lease for that and so saves them. A missing snapshot makes the next
 * start slower but loses no data.
 */
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

// Makes vectors in the background: chunks without a vector are embedded one by one and stored in small batches, by one process at a time.
// Stored vectors stay, so an interrupted run continues where it stopped. A text that the embedder refuses is skipped until the engine is
// closed, so that it does not keep other chunks from getting vectors.

const BATCH = 16
/** Interval in milliseconds at which a process that waits for vectors checks whether another process has finished making them. */
const WATCH_MS = 200
/**
 * Pause in milliseconds before the next attempt to embed after a failure: `FIRST_PAUSE_MS`, doubled with each further failure, at most
 * `MAX_PAUSE_MS`.
 */
const FIRST_PAUSE_MS = 2_000
const MAX_PAUSE_MS = 300_000
/** Number of chunks without a vector that are read from the store at once, to find one whose text the embedder has not refused. */
const PAGE = 256
/**
 * A harmless text that is embedded as a test after refusals: if the embedder refuses this text too, the embedder is at fault and not the
 * refused texts.
 */
export const HARMLESS = 'a short test'

/** The chunks that have no vector because the embedder refused their texts. */
export interface Refused {
  readonly count: number
  /** Error message of the embedder for one of the refused texts; null if there is no refused text. */
  readonly message: string | null
}

export class Embedding {
  readonly #store: Store
  readonly #models: EmbeddedModels
  readonly #lease: Lease
  readonly #now: () => number
  readonly #stop = new AbortController()
  readonly #watchers = new Set<(progress: Progress) => void>()
  #running: Promise<void> | null = null
  readonly #elapsed: () => number
  /**
   * Error message of the embedder for each chunk whose text it refused, by model key and chunk key. A changed text becomes a new chunk,
   * which is tried again.
   */
  readonly #refused = new Map<string, Map<ChunkKey, string>>()
  /** Average time in milliseconds to embed one chunk in the last run; null: there was no run yet. */
  #msEach: number | null = null
  #error: unknown = null
  #failures = 0
  #notBefore = Number.NEGATIVE_INFINITY

  /**
   * `elapsed`: returns monotonic time in milliseconds. With several embedding models, the chunks get all vectors of the first model before
   * any of the next.
   */
  constructor(
    store: Store,
    models: EmbeddedModels,
    lease: Lease,
    now: () => number,
    elapsed: () => number = () => performance.now(),
  ) {
    this.#store = store
    this.#models = models
    this.#lease = lease
    this.#now = now
    this.#elapsed = elapsed
  }

  /** The error that ended the last embedding run early; null if it completed. */
  get error(): unknown {
    return this.#error
  }

  /**
   * Number of chunks in these partitions whose texts the embedder refused, with one of its messages. Only the viewer's partitions may be
   * passed, so that errors about hidden texts stay hidden.
   */
  refused(partitions: readonly PartitionId[]): Refused {
    const messages = new Map([...this.#refused.values()].flatMap(byChunk => [...byChunk]))
    if (messages.size === 0) return { count: 0, message: null }
    const chunks = this.#store.chunks([...messages.keys()])
    const entries = this.#store.entries([...new Set(chunks.map(chunk => chunk.entry))])
    const seen = new Set(entries.filter(entry => partitions.includes(entry.partition)).map(entry => entry.key))
    const seenChunks = chunks.filter(chunk => seen.has(chunk.entry))
    return { count: seenChunks.length, message: messages.get(seenChunks[0]?.key ?? -1) ?? null }
  }

  /**
   * Starts to embed chunks without a vector, unless that is in progress or failed a short while ago. Never rejects: `error` then holds the
   * failure.
   */
  start(): void {
    if (this.#elapsed() >= this.#notBefore) this.#start()
  }

  #start(): void {
    if (this.#running !== null || this.#stop.signal.aborted) return
    this.#error = null
    this.#running = this.#run()
      .catch(error => {
        if (this.#stop.signal.aborted) return
        this.#error = error
        const pause = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures++)
        this.#notBefore = this.#elapsed() + pause
      })
      .finally(() => {
        this.#running = null
      })
  }

  /**
   * Resolves when every chunk has a vector, except chunks whose texts the embedder refuses; does not wait for the pause after an earlier
   * failure. Rejects with the failure that ended embedding, or with `cancelled`.
   */
  async settled(signal: AbortSignal, report?: (progress: Progress) => void): Promise<void> {
    if (report) this.#watchers.add(report)
    try {
      while (this.#next() !== null) {
        this.#start()
        await orStopped(this.#running ?? Promise.resolve(), signal)
        if (this.#error !== null) throw this.#error
        if (this.#stop.signal.aborted) return
      }
      await this.#models.finish?.()
    } finally {
      if (report) this.#watchers.delete(report)
    }
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  /** The next chunks to embed and the model to embed them with; null: every chunk has its vectors or was refused. */
  #next(limit = 1): Waiting | null {
    if (this.#models.isOverruled === true) return null
    for (const embedder of this.#models.targets) {
      const chunks = this.#pending(embedder, limit)
      if (chunks.length > 0) return { embedder, chunks }
    }
    return null
  }

  #pending({ model }: Embedder, limit: number): readonly Chunk[] {
    const key = modelKey(model)
    const refused = this.#refused.get(key)
    if (refused === undefined) return this.#store.chunksWithoutVector(key, limit)
    const pending: Chunk[] = []
    for (let after: ChunkKey | undefined = 0; after !== undefined && pending.length < limit; ) {
      const page: readonly Chunk[] = this.#store.chunksWithoutVector(key, PAGE, after)
      pending.push(...page.filter(chunk => !refused.has(chunk.key)))
      after = page.at(-1)?.key
    }
    return pending.slice(0, limit)
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted && this.#next() !== null) {
      if (!(await this.#lease.take())) {
        await sleep(WATCH_MS, undefined, { signal })
        continue
      }
      try {
        await this.#embedPending(signal)
      } finally {
        await this.#lease.release()
      }
    }
    if (!signal.aborted && this.#models.isOverruled !== true) await this.#models.finish?.()
  }

  /** Embeds one batch of chunks after another for as long as this process can renew its lease on the job. */
  async #embedPending(signal: AbortSignal): Promise<void> {
    let done = 0
    const begun = this.#elapsed()
    do {
      const next = this.#next(BATCH)
      if (next === null) return
      await this.#embedBatch(next, signal)
      done += next.chunks.length
      this.#msEach = (this.#elapsed() - begun) / done
      this.#tell(done)
    } while (!signal.aborted && (await this.#lease.take()))
  }

  async #embedBatch(waiting: Waiting, signal: AbortSignal): Promise<void> {
    const { embedder, chunks } = waiting
    try {
      const texts = this.#texts(chunks)
      await this.#save(waiting, texts, await this.#embed(embedder, texts, signal))
    } catch (error) {
      if (!isRefusal(error)) throw error
      await this.#embedOneByOne(waiting, signal)
    }
    this.#failures = 0
    this.#notBefore = Number.NEGATIVE_INFINITY
  }

  /**
   * Embeds the texts of a batch one by one after the embedder refused the batch, and records which texts are refused again. Rejects if the
   * embedder refuses even a harmless test text, because then no text is at fault.
   */
  async #embedOneByOne({ embedder, chunks }: Waiting, signal: AbortSignal): Promise<void> {
    const refused = new Map<ChunkKey, string>()
    const texts = this.#texts(chunks)
    for (const [at, chunk] of chunks.entries()) {
      try {
        const text = [texts[at] as string]
        await this.#save({ embedder, chunks: [chunk] }, text, await this.#embed(embedder, text, signal))
      } catch (error) {
        if (!isRefusal(error)) throw error
        refused.set(chunk.key, error.message)
      }
      if (!(await this.#lease.take())) return
    }
    if (refused.size === chunks.length) await this.#embed(embedder, [HARMLESS], signal)
    if (refused.size === 0) return
    const key = modelKey(embedder.model)
    this.#refused.set(key, new Map([...(this.#refused.get(key) ?? []), ...refused]))
  }

  #embed(embedder: Embedder, texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    return orStopped(embedder.embed(texts, 'passage', signal), signal)
  }

  /**
   * Stores the vectors of a batch. Does nothing if another process has taken over the lease, because that process embeds the same chunks.
   */
  #save(
    { embedder, chunks: batch }: Waiting,
    texts: readonly string[],
    vectors: readonly Float32Array[],
  ): Promise<void> {
    return this.#store.writeWhenFree(this.#now(), writer => {
      if (!this.#lease.isHeldIn(writer)) return
      this.#models.embedding?.(writer, embedder, texts)
      // Chunks that were deleted while their texts were being embedded get no vector.
      const alive = new Set(writer.chunks(batch.map(chunk => chunk.key)).map(chunk => chunk.key))
      writer.putVectors(
        modelKey(embedder.model),
        batch.flatMap((chunk, i) =>
          alive.has(chunk.key) ? [{ chunk: chunk.key, vector: vectors[i] as Float32Array }] : [],
        ),
      )
    })
  }

  #texts(batch: readonly Chunk[]): readonly string[] {
    const entries = new Map(this.#store.entries([...new Set(batch.map(chunk => chunk.entry))]).map(e => [e.key, e]))
    return batch.map(chunk => {
      const entry = entries.get(chunk.entry)
      return entry ? embeddedText(entry, chunk) : HARMLESS
    })
  }

  #tell(done: number): void {
    if (this.#watchers.size === 0) return
    const { vectors: left } = this.left()
    for (const watcher of this.#watchers) watcher({ phase: 'embed', done, total: done + left })
  }

  /**
   * Number of vectors still to be made, and an estimate in seconds of the time this will take, from the speed of the last run; null:
   * unknown.
   */
  left(): { readonly vectors: number; readonly seconds: number | null } {
    const ids = this.#store.partitions().map(partition => partition.id)
    const chunks = this.#store.countChunks(ids)
    const vectors = this.#models.targets.reduce((left, { model }) => {
      const key = modelKey(model)
      return left + chunks - this.#store.countVectors(key, ids) - (this.#refused.get(key)?.size ?? 0)
    }, 0)
    return { vectors, seconds: this.#msEach === null ? null : Math.ceil((vectors * this.#msEach) / 1_000) }
  }
}

/** The models for which every chunk in the store should have a vector. */
export interface EmbeddedModels {
  readonly targets: readonly Embedder[]
  /** Whether another process on the store has switched to other embedding models; if so, this process embeds nothing. */
  readonly isOverruled?: boolean
  /** Called with the texts of a batch, in the transaction that writes their vectors. */
  embedding?(writer: StoreWriter, embedder: Embedder, texts: readonly string[]): void
  /** Called when every chunk has a vector from each of the embedding models; may be called repeatedly. */
  finish?(): Promise<void>
}

interface Waiting {
  readonly embedder: Embedder
  readonly chunks: readonly Chunk[]
}
